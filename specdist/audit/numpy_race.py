"""Noise of numpy, element by element, and the winner of a row of it.

An element is an exponential E, or a uniform U = exp(-E), and the steps of arithmetic made of it; a
row whose elements went through the same steps is a race (see `specdist.audit.noise_algebra`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from specdist.audit import noise_algebra
from specdist.audit.context import Context, drawing
from specdist.audit.race import GUARDED, IDEAL, Row, refuse_rounding
from specdist.audit.traced import NOTHING, Step, Traced, is_many, refuse
from specdist.audit.tree import Session
from specdist.audit.uniform import Uniform

Signature = tuple[tuple[str, bool, tuple[Any, ...]], ...]
"""Steps: name, whether the noise is the first operand, and the other operand of every element."""
Noisy = noise_algebra.Noise


@dataclass(eq=False, slots=True)
class Exponential:
    """One standard exponential that is never drawn. ``raced`` is the race that it is in."""

    session: Session
    name: str
    raced: object = None
    untouched: bool = True


class Noise(Traced):
    """A function of one exponential, to be raced."""

    __slots__ = ("atom", "steps")

    def __init__(self, atom: Exponential, steps: tuple[Step, ...] = ()) -> None:
        self.atom, self.steps = atom, steps

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Code that asks with isinstance sees the float that it would have."""
        return float

    def then(self, step: Step) -> Noise:
        """The noise after one more step."""
        return Noise(self.atom, (*self.steps, step))

    def _refused(self, other: Any) -> Any:
        if is_many(other):
            return NotImplemented
        raise refuse("the value of exponential noise", "race it: argmax of w / E")

    __lt__ = __le__ = __gt__ = __ge__ = _refused
    __eq__ = __ne__ = _refused
    __hash__ = Traced.__hash__

    def __float__(self) -> NoReturn:
        raise self._refused(None)

    __int__ = __float__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """numpy's functions of this number and of arrays or numpy scalars."""
        from specdist.audit.numpy_uniforms import applied

        return applied(ufunc, method, inputs, options)

    def __repr__(self) -> str:
        return f"<{self.atom.name}>"


Noise.__name__ = "TracedNoise"  # errors of other libraries name it


def new_noise(run: Context, gumbel: bool = False) -> Noise:
    """A fresh exponential, or Gumbel noise -log E."""
    run.draws += 1
    steps = (Step("log", np.log), Step("negative", np.negative)) if gumbel else ()
    return Noise(Exponential(run.session, f"noise {run.draws}"), steps)


def winner(row: Sequence[Any], largest: bool) -> int:
    """The index of the largest (smallest) element of a row; plain numbers may stand in it where
    they cannot win. Raises RefusalError for a row that is no race."""
    traced = [i for i, item in enumerate(row) if isinstance(item, Traced)]
    if not traced:
        numbers = np.array([float(item) for item in row])
        return int(numbers.argmax() if largest else numbers.argmin())
    items = [row[i] for i in traced]
    noise, weights = _race_of(items, largest)
    run = drawing("numpy")
    if weights is None:
        raise refuse("the last of a race", "ask for the largest w / E, or the smallest E / w")
    if noise.ordered and noise.kind is noise_algebra.Kind.LINEAR:
        refuse_rounding(weights)
    _refuse_rivals(noise, row, weights, largest)
    run.notes.update([IDEAL, GUARDED] if noise.guarded else [IDEAL])
    racing = [i for i, weight in enumerate(weights) if weight]
    if len(racing) == 1:
        return traced[racing[0]]
    return traced[_row_of(items, noise.mirrored).decide(run, weights)]


def _refuse_rivals(
    noise: Noisy, row: Sequence[Any], weights: Sequence[Fraction], largest: bool
) -> None:
    """Plain numbers in a race: only those that the noise beats whatever it is."""
    beaten = -np.inf if largest else np.inf
    if noise.kind is noise_algebra.Kind.OVER and largest and not noise.ordered:
        beaten = 0.0
    for item in row:
        if isinstance(item, Traced):
            continue
        loses = float(item) <= beaten if largest else float(item) >= beaten
        if not loses or not all(weights) or not np.isfinite(noise.numbers).all():
            raise refuse("a race of noise with numbers", "race one whole row of noise")


def _race_of(items: Sequence[Any], largest: bool) -> tuple[Noisy, list[Fraction] | None]:
    """What the elements are as noise, and their weights: all went through the same steps."""
    first = items[0]
    uniform = isinstance(first, Uniform)
    names = [(step.name, step.first) for step in first.steps]
    alike = len({id(item.atom) for item in items}) == len(items) and all(
        isinstance(item, Uniform) == uniform
        and [(step.name, step.first) for step in item.steps] == names
        for item in items
    )
    found = None
    if alike:
        others = zip(*([_key(step.other) for step in item.steps] for item in items), strict=True)
        signature = tuple((*name, other) for name, other in zip(names, others, strict=False))
        found = _followed(uniform, len(items), signature, largest)
    if found is None:
        raise refuse("the largest of several uniforms", "race w / E or log w + Gumbel noise")
    return found


def _key(other: Any) -> Any:
    """An operand to be looked up by: zeros as text, for -0.0 equals 0.0 and divides otherwise."""
    return other if other is NOTHING or isinstance(other, tuple) or other else str(float(other))


@lru_cache(maxsize=4096)
def _followed(
    uniform: bool, count: int, signature: Signature, largest: bool
) -> tuple[Noisy, list[Fraction] | None] | None:
    shape = (count,)
    noise: Noisy | None = (
        noise_algebra.uniform(shape) if uniform else noise_algebra.exponential(shape)
    )
    for name, first, others in signature:
        noise = None if noise is None else _after(noise, name, first, others)
    if noise is None:
        return None
    numbers: list[float] = np.broadcast_to(noise.numbers, shape).tolist()
    return noise, noise_algebra.winners_weights(noise, numbers, largest)


def _after(noise: Noisy, name: str, first: bool, others: Sequence[Any]) -> Noisy | None:
    if name in ("positive", "conjugate", "astype"):
        return noise
    if NOTHING in others:
        unary = all(other is NOTHING for other in others)
        return noise_algebra.changed(noise, name) if unary else None
    if name == "clip":
        lows, highs = zip(*others, strict=True)
        return noise_algebra.bounded(noise, _one(max, lows), _one(min, highs))
    numbers = [float(other) for other in others]
    if name in ("maximum", "fmax"):
        return noise_algebra.bounded(noise, max(numbers), None)
    if name in ("minimum", "fmin"):
        return noise_algebra.bounded(noise, None, min(numbers))
    return noise_algebra.changed(noise, name, np.array(numbers), first)


def _one(choose: Any, bounds: Sequence[Any]) -> float | None:
    return None if bounds[0] is None else float(choose(bounds))


def _row_of(items: Sequence[Any], mirrored: bool) -> Row:
    """The race of these elements, in this order. Raises RefusalError for elements of another."""
    atoms = [item.atom for item in items]
    made = (Row(f"noise [{atoms[0].name} .. {atoms[-1].name}]"), tuple(map(id, atoms)), mirrored)
    known: Any = atoms[0].raced
    if known is None:
        if any(atom.raced is not None or not atom.untouched for atom in atoms):
            raise refuse("a race of noise that was used before", "draw new noise for the race")
        for atom in atoms:
            atom.raced = made
        known = made
    row: Row = known[0]
    if known[1:] != made[1:]:
        raise refuse("noise that decides two different races", "draw new noise for each")
    return row
