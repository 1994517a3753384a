"""``draw``: random numbers that the audit answers. Every one is a decision, with exact mass."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from specdist.audit.case import uses_torch
from specdist.audit.context import Context, active
from specdist.audit.grid import Atom, Grid
from specdist.audit.named_grids import grid_of
from specdist.audit.refusals import AdapterError
from specdist.audit.uniform import Uniform
from specdist.audit.whereabouts import whereabouts


class Draw:
    """Controlled randomness, for what the audited code does not draw by itself."""

    def categorical(self, weights: Any) -> int:
        """An index, with probability proportional to its weight; floats are the binary rationals
        that they are. Of a row of `case.draft` it is a draft token of the step."""
        run = active()
        shares = exact_shares(weights)
        token = choose_index(run, shares, "a categorical draw")
        _, side = run.served.get(id(weights), (None, ""))
        if side == "draft":
            run.proposal.tokens.append(token)
        return token

    def bernoulli(self, probability: Any) -> bool:
        """True with this probability."""
        share = _rational(probability)
        if not 0 <= share <= 1:
            raise AdapterError(
                f"a probability of {float(share):g}", place=whereabouts(), expected="0 to 1"
            )
        return choose_index(active(), (1 - share, share), "a Bernoulli draw") == 1

    def uniform(self, grid: int | str = "float64") -> Any:
        """A number of [0, 1) on a grid: k / 2^bits, or that of a generator by its name (see
        `specdist.audit.named_grids`). Traced: a `Uniform`, to be compared; probe: a float."""
        return new_uniform(active(), grid_of(grid))

    def uniforms(self, count: int, grid: int | str = "float64") -> Supply:
        """``count`` of them, for code that takes its numbers as an argument. Where it may take
        more than there are, say how many it took: ``uniforms.used(n)``."""
        return Supply([self.uniform(grid) for _ in range(count)])

    def exponentials(self, count: int) -> Any:
        """A row of ``count`` standard exponentials, to be raced: argmin of E / w. Traced: noise of
        torch or numpy, whichever serves the rows; probe: a list of floats."""
        run = active()
        if run.probing:
            return list(run.noise(count, "draw.exponentials"))
        if uses_torch(run):
            import torch

            return torch.empty(count, dtype=getattr(torch, run.setup.dtype)).exponential_()
        import numpy

        return numpy.random.standard_exponential(count)


class Supply(list[Any]):
    """Uniforms that were handed out together. A list, except that asking for more than there are
    is an error of the adapter, not of the audited code."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int) and not -len(self) <= index < len(self):
            raise _under_fed(index + 1 if index >= 0 else -index, len(self))
        return super().__getitem__(index)

    def used(self, count: int) -> None:
        """How many the audited code took. Raises AdapterError for more than were supplied: it read
        numbers that no generator made."""
        if count > len(self):
            raise _under_fed(count, len(self))


def _under_fed(wanted: int, supplied: int) -> AdapterError:
    return AdapterError(
        f"{wanted} uniforms are used, and {supplied} were supplied",
        place=whereabouts(),
        expected="as many as the code may consume in its longest branch",
        advice=f"draw.uniforms({wanted}) or more",
    )


def new_uniform(run: Context, grid: Grid) -> Any:
    """A fresh uniform of the run: traced, a `Uniform`, which costs no decision before it is
    compared; in probe mode the float of a grid point."""
    run.grids.add(str(grid))
    if run.probing:
        return float(grid.value(run.point(grid)))
    return Uniform(new_atom(run, grid))


def new_atom(run: Context, grid: Grid) -> Atom:
    """A fresh grid point of the run, named by its number."""
    run.draws += 1
    run.grids.add(str(grid))
    return Atom(run.session, grid, f"uniform {run.draws} ({grid})")


def choose_index(run: Context, shares: Sequence[Fraction], what: str) -> int:
    """One index, decided; weights of 0 are branches that are never taken."""
    masses, said = _law_of(tuple(shares))
    if masses is None:
        raise AdapterError(
            f"{what} from weights that are no law: {said}",
            place=whereabouts(),
            expected="weights of at least 0, with a positive sum",
        )
    return run.choose(f"{what} of {said}", masses)


@lru_cache(maxsize=4096)
def _law_of(shares: tuple[Fraction, ...]) -> tuple[tuple[Fraction, ...] | None, str]:
    """Weights over their sum, None for no law; and the weights in words."""
    total = sum(shares)
    said = _short(shares)
    if total <= 0 or min(shares) < 0:
        return None, said
    return tuple(share / total for share in shares), said


def exact_shares(weights: Any) -> tuple[Fraction, ...]:
    """Weights as exact numbers. Raises AdapterError for what is no row of finite numbers."""
    listed = weights.tolist() if hasattr(weights, "tolist") else list(weights)
    if not isinstance(listed, list) or not listed or isinstance(listed[0], list):
        raise AdapterError("weights that are no row", place=whereabouts(), expected="a row [V]")
    if all(type(weight) is float for weight in listed):
        return _rationals(tuple(listed))
    return tuple(_rational(weight) for weight in listed)


@lru_cache(maxsize=4096)
def _rationals(weights: tuple[float, ...]) -> tuple[Fraction, ...]:
    return tuple(_rational(weight) for weight in weights)


def _rational(value: Any) -> Fraction:
    try:
        return Fraction(value.item() if hasattr(value, "item") else value)
    except (ValueError, OverflowError, TypeError):
        raise AdapterError(
            f"{value!r} is no finite number", place=whereabouts(), expected="finite weights"
        ) from None


def _short(shares: Sequence[Fraction]) -> str:
    shown = ", ".join(f"{float(share):.6g}" for share in shares[:8])
    return f"[{shown}{', ...' if len(shares) > 8 else ''}]"


draw = Draw()
