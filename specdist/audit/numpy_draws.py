"""The draws of numpy: answered while a run goes on, those of generators made by ``default_rng`` and
of ``np.random`` itself.

``random`` is a uniform on k/2^53 in float64 and k/2^24 in float32 (numpy 2, next_double and
next_float of random/src/distributions); ``choice`` with ``p`` and ``multinomial`` are categorical;
exponential and Gumbel noise are races, of which the winner is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

from specdist.audit.context import Context, drawing
from specdist.audit.draw import choose_index, exact_shares, new_uniform
from specdist.audit.grid import FLOAT32, FLOAT64
from specdist.audit.numpy_race import Race
from specdist.audit.uniform import refuse

_REFUSED = (
    "normal", "standard_normal", "randn", "shuffle", "permutation", "permuted", "bytes", "beta",
    "gamma", "standard_gamma", "poisson", "binomial", "geometric", "dirichlet", "laplace",
    "logistic", "random_raw", "get_state", "set_state", "spawn",
)  # fmt: skip


class Generator:
    """Stands for ``np.random.Generator`` and ``np.random.RandomState``."""

    @property
    def _run(self) -> Context:
        return drawing("numpy")

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Uniforms in [0, 1)."""
        if out is not None:
            raise refuse("random into an array", "let it make a new one")
        grid = FLOAT32 if np.dtype(dtype) == np.float32 else FLOAT64
        return _filled(size, lambda: new_uniform(self._run, grid))

    def rand(self, *shape: int) -> Any:
        """The same, by shape."""
        return self.random(shape or None)

    random_sample = sample = ranf = random

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
        """Uniforms in [low, high)."""
        return _filled(size, lambda: low + (high - low) * new_uniform(self._run, FLOAT64))

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, **_: Any
    ) -> Any:
        """Elements of ``a`` or of range(a), each with its probability."""
        items = np.arange(a) if isinstance(a, int | np.integer) else np.asarray(a)
        shares = [Fraction(1)] * len(items) if p is None else list(exact_shares(np.asarray(p)))

        def one() -> Any:
            index = choose_index(self._run, shares, "numpy choice")
            if not replace:
                shares[index] = Fraction(0)
            return items[index]

        return one() if size is None else _plain(size, one, items.dtype)

    def multinomial(self, n: int, pvals: Any, size: Any = None) -> Any:
        """Counts of ``n`` categorical draws."""

        def one() -> Any:
            shares = exact_shares(np.asarray(pvals))
            counts = np.zeros(len(shares), dtype=np.int64)
            for _ in range(n):
                counts[choose_index(self._run, shares, "numpy multinomial")] += 1
            return counts

        if size is None:
            return one()
        raise refuse("multinomial with a size", "draw one at a time")

    def integers(self, low: int, high: int | None = None, size: Any = None, **_: Any) -> Any:
        """Whole numbers of [low, high)."""
        first, last = (0, low) if high is None else (low, high)
        shares = [Fraction(1)] * (int(last) - int(first))

        def one() -> int:
            return int(first) + choose_index(self._run, shares, "numpy integers")

        return one() if size is None else _plain(size, one, np.int64)

    randint = integers

    def exponential(self, scale: float = 1.0, size: Any = None) -> Any:
        """Exponential noise, to be raced."""
        if size is None:
            raise refuse("a single exponential", "race it against others, or draw categorical")
        noise: Any = Race.exponential(self._run, np.empty(size).shape)
        return noise * scale

    def standard_exponential(self, size: Any = None, **_: Any) -> Any:
        """The same at scale 1."""
        return self.exponential(1.0, size)

    def gumbel(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        """Gumbel noise, to be raced."""
        if size is None or scale != 1:
            raise refuse("this Gumbel noise", "use scale 1 and the shape of the logits")
        noise: Any = Race.gumbel(self._run, np.empty(size).shape)
        return noise + loc

    def seed(self, *_: Any) -> None:
        """The audit answers whatever the seed is."""

    def __getattr__(self, name: str) -> Any:
        raise refuse(f"numpy's {name}", "draw uniforms, categorical tokens or exponential noise")


def _filled(size: Any, one: Callable[[], Any]) -> Any:
    return one() if size is None or size == () else _plain(size, one, object)


def _plain(size: Any, one: Callable[[], Any], dtype: Any) -> Any:
    made = np.empty(size, dtype=dtype)
    for place in np.ndindex(made.shape):
        made[place] = one()
    return made


@contextmanager
def intercepted() -> Iterator[None]:
    """Answers ``np.random`` and ``default_rng`` until the block ends."""
    stand_in = Generator()
    names = [
        name
        for name in dir(np.random)
        if not name.startswith("_") and name.islower() and callable(getattr(np.random, name))
    ]
    with ExitStack() as stack:
        for name in names:
            if name == "default_rng":
                answer: Any = lambda *_, **__: stand_in  # noqa: E731
            elif name in ("test", "get_bit_generator", "set_bit_generator"):
                continue
            else:
                answer = _looked_up(stand_in, name)
            stack.enter_context(patch.object(np.random, name, answer))
        for name in ("Generator", "RandomState"):
            stack.enter_context(patch.object(np.random, name, lambda *_, **__: stand_in))
        yield


def _looked_up(stand_in: Generator, name: str) -> Callable[..., Any]:
    """The method of that name, refused only when it is called."""

    def answer(*arguments: Any, **options: Any) -> Any:
        return getattr(stand_in, name)(*arguments, **options)

    return answer
