"""The draws of Python's ``random``: answered while a run goes on.

``random.random()`` is a uniform on k/2^53 (CPython 3.11 Modules/_randommodule.c,
_random_Random_random_impl); ``choice`` and ``randrange`` are taken as uniform over what they choose
from, ``choices`` as categorical.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

from specdist.audit.context import drawing
from specdist.audit.draw import choose_index, exact_shares, new_uniform
from specdist.audit.grid import FLOAT64
from specdist.audit.uniform import refuse

_REFUSED = (
    "gauss", "normalvariate", "lognormvariate", "expovariate", "betavariate", "gammavariate",
    "triangular", "vonmisesvariate", "paretovariate", "weibullvariate", "getrandbits",
    "randbytes", "shuffle", "sample",
)  # fmt: skip


@contextmanager
def intercepted() -> Iterator[None]:
    """Answers the functions of the module, and those of every `random.Random`."""
    answers: dict[str, Callable[..., Any]] = {
        "random": lambda: new_uniform(drawing("random"), FLOAT64),
        "uniform": lambda a, b: a + (b - a) * new_uniform(drawing("random"), FLOAT64),
        "choice": lambda items: items[_any_of(len(items), "random.choice")],
        "randrange": lambda *bounds: range(*bounds)[
            _any_of(len(range(*bounds)), "random.randrange")
        ],
        "randint": lambda a, b: a + _any_of(b - a + 1, "random.randint"),
        "choices": lambda items, weights=None, *, cum_weights=None, k=1: [
            items[_weighted(len(items), weights, cum_weights)] for _ in range(k)
        ],
        "seed": lambda *_: None,
        **{name: _refused(name) for name in _REFUSED},
    }
    with ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(patch.object(random, name, answer))
            if hasattr(random.Random, name):
                method = _method(answer)
                stack.enter_context(patch.object(random.Random, name, method, create=True))
        yield


def _method(answer: Callable[..., Any]) -> Callable[..., Any]:
    def method(_: random.Random, *arguments: Any, **options: Any) -> Any:
        return answer(*arguments, **options)

    return method


def _any_of(count: int, what: str) -> int:
    if count < 1:
        raise IndexError(f"{what} from an empty sequence")
    return choose_index(drawing("random"), (Fraction(1),) * count, what)


def _weighted(count: int, weights: Any, cumulative: Sequence[Any] | None) -> int:
    if cumulative is not None:
        ends = exact_shares(cumulative)
        shares = tuple(
            end - before for end, before in zip(ends, (Fraction(0), *ends), strict=False)
        )
        return choose_index(drawing("random"), shares, "random.choices")
    if weights is None:
        return _any_of(count, "random.choices")
    return choose_index(drawing("random"), exact_shares(weights), "random.choices")


def _refused(name: str) -> Callable[..., Any]:
    def answer(*_: Any, **__: Any) -> Any:
        raise refuse(f"random.{name}", "draw with random.random, random.choices or draw")

    return answer
