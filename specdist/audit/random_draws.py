"""The draws of Python's ``random``: answered while an audit goes on.

``random()`` is a uniform on k/2^53 (CPython 3.11 Modules/_randommodule.c,
_random_Random_random_impl). Everything else there is made of it, of ``_randbelow`` and of
``getrandbits``, which are whole numbers with equal probabilities; ``choices`` is categorical.
``random.seed(s)`` makes the draws of the module the constants that they then are; a
``random.Random(s)`` is an ideal stream that its seed names.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

from specdist.audit.captured import swapped
from specdist.audit.context import drawing
from specdist.audit.draw import choose_index, exact_shares, new_uniform
from specdist.audit.grid import FLOAT64
from specdist.audit.streams import Place, begun, marked, place_of, put, returned
from specdist.audit.uniform import refuse
from specdist.audit.whereabouts import at_import

MOST_CHOICES = 1024
"""The most numbers that a whole number is drawn from."""
_CONTINUOUS = (
    "gauss", "normalvariate", "lognormvariate", "expovariate", "betavariate", "gammavariate",
    "triangular", "vonmisesvariate", "paretovariate", "weibullvariate", "randbytes",
)  # fmt: skip
_MODULE = random._inst
_STATE, _CHOICES = random.Random.getstate, random.Random.choices


_PRIMITIVES = (
    "random", "getrandbits", "_randbelow", "seed", "choices", "getstate", "setstate",
    *_CONTINUOUS,
)  # fmt: skip


class Real(random.Random):
    """The generator itself, with the methods that it had before any audit."""


for _name in _PRIMITIVES:
    setattr(Real, _name, getattr(random.Random, _name))
_CHECKED = Real(0)
_AT_IMPORT = Real(0)


def _place(generator: Any) -> Place | Real:
    """Where a generator stands; the real one where the audited code seeded the module's, and one
    of its own where a module draws while it is imported."""
    if at_import():
        return _AT_IMPORT
    run = drawing("random")
    if generator is _MODULE:
        real: Real | None = run.streams.get("random")
        if real is not None:
            run.draws += 1
            return real
        return place_of(run, generator, None)
    if isinstance(generator, random.SystemRandom):
        return place_of(run, generator, None)
    if ("place", id(generator)) not in run.streams:  # it was made before the run
        return place_of(run, generator, ("random", _STATE(generator)))
    return place_of(run, generator, None)


def _random(self: random.Random) -> Any:
    place, run = _place(self), drawing("random")
    if isinstance(place, Real):
        return place.random()
    return place.next(run, "random", lambda: new_uniform(run, FLOAT64))


def _randbelow(self: random.Random, n: int) -> int:
    place, run = _place(self), drawing("random")
    if isinstance(place, Real):
        return int(place._randbelow(n))  # type: ignore[attr-defined]
    _few(n)
    drawn = place.next(
        run, ("below", n), lambda: choose_index(run, (Fraction(1),) * n, f"below {n}")
    )
    return int(drawn)


def _getrandbits(self: random.Random, k: int) -> int:
    place, run = _place(self), drawing("random")
    if isinstance(place, Real):
        return int(place.getrandbits(k))
    _few(1 << min(k, 64))
    shares = (Fraction(1),) * (1 << k)
    return int(place.next(run, ("bits", k), lambda: choose_index(run, shares, f"{k} bits")))


def _few(count: int) -> None:
    if count > MOST_CHOICES:
        raise refuse(
            f"a whole number out of {count:.3g}", f"draw one of at most {MOST_CHOICES} numbers"
        )


def _choices(
    self: random.Random,
    population: Sequence[Any],
    weights: Any = None,
    *,
    cum_weights: Any = None,
    k: int = 1,
) -> list[Any]:
    """Categorical; as CPython computes it from a uniform where the stream has a seed."""
    place, run = _place(self), drawing("random")
    weighted = weights is not None or cum_weights is not None
    _CHECKED.choices(population, weights, cum_weights=cum_weights, k=1)  # its own errors
    if isinstance(place, Real) or place.named or not weighted:
        return _CHOICES(self, population, weights, cum_weights=cum_weights, k=k)
    shares = _shares(weights, cum_weights)
    asked = ("choices", shares)
    one = lambda: choose_index(run, shares, "random.choices")  # noqa: E731
    return [population[place.next(run, asked, one)] for _ in range(k)]


def _shares(weights: Any, cumulative: Any) -> tuple[Fraction, ...]:
    if cumulative is None:
        return exact_shares(weights)
    ends = exact_shares(cumulative)
    return tuple(end - before for end, before in zip(ends, (Fraction(0), *ends), strict=False))


def _seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    if isinstance(self, Real):
        random.Random.seed(self, a, version)
        return
    if isinstance(self, random.SystemRandom):
        return
    run = drawing("random")
    if self is not _MODULE:
        key: Hashable = None if a is None else ("random", Real(a).getstate())
        put(run, self, begun(run, key))
    elif a is None:
        run.streams.pop("random", None)
    else:
        run.streams["random"] = Real(a)
        run.notes.add(f"random.seed({a!r:.40}) inside the audited code: later draws are constants")


def _getstate(self: random.Random) -> Any:
    place = _place(self)
    return place.getstate() if isinstance(place, Real) else marked(place)


def _setstate(self: random.Random, state: Any) -> None:
    run = drawing("random")
    if isinstance(state, tuple) and self is _MODULE:
        run.streams["random"] = Real(0)
        run.streams["random"].setstate(state)
        return
    if self is _MODULE:
        run.streams.pop("random", None)
    returned(run, self, state)


def _refused(name: str) -> Callable[..., Any]:
    def answer(self: random.Random, *given: Any, **options: Any) -> Any:
        place = _place(self)
        if isinstance(place, Real):
            return getattr(place, name)(*given, **options)
        raise refuse(f"random.{name}", "draw with random.random, random.choices or draw")

    return answer


_METHODS: dict[str, Callable[..., Any]] = {
    "random": _random, "getrandbits": _getrandbits, "_randbelow": _randbelow, "seed": _seed,
    "choices": _choices, "getstate": _getstate, "setstate": _setstate,
    **{name: _refused(name) for name in _CONTINUOUS},
}  # fmt: skip


def state() -> object:
    """That of the module's real generator, which nothing draws from during an audit."""
    return _STATE(_MODULE)


@contextmanager
def intercepted() -> Iterator[None]:
    """Answers every `random.Random`, the module's own and those made before. What the audited code
    put in the place of a function is left there: it is part of that code."""
    names = [name for name in random.__all__ if hasattr(_MODULE, name) and name[0].islower()]
    names = [name for name in names if getattr(random, name) == getattr(_MODULE, name)]
    with ExitStack() as stack:
        for owner in (random.Random, random.SystemRandom):
            for name, answer in _METHODS.items():
                if owner is random.Random or name in vars(owner):
                    stack.enter_context(patch.object(owner, name, answer))
        pairs = [(getattr(random, name), getattr(_MODULE, name)) for name in names]
        stack.enter_context(swapped(pairs, ("random",)))
        for name, (_, answer) in zip(names, pairs, strict=True):
            stack.enter_context(patch.object(random, name, answer))
        # names of files are no draws of the audited code
        stack.enter_context(patch.object(tempfile, "_Random", Real))
        stack.enter_context(patch.object(tempfile, "_name_sequence", None))
        yield
