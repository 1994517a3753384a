"""Bets on the random numbers themselves: that one comes again, that they lie on a coarse grid.

Under the declared engine every uniform is drawn afresh. A new one repeats one of k earlier numbers
with probability at most ``k 2^(1 - b)``, where b is the most significant bits that were seen in
numbers of that kind: their format has at least so many, and no two of its values near v are closer
than ``v 2^(1 - b)`` unless it has more. A uniform of a generator with N points is a multiple of
``2^-k`` with probability ``2^k / N``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from specdist.model.row import NumberFormat
from specdist.model.trace import Conventions, TraceStep
from specdist.verify.replay.bets.statement import Statement
from specdist.verify.replay.engine_model import EngineModel
from specdist.verify.replay.survey import Survey, recorded_uniforms, used_uniforms

_ONE = Fraction(1)
_RATES = {f"one in {every} repeats": Fraction(1, every) for every in (2, 16, 256, 4096)}
_BITS: Mapping[NumberFormat | None, int] = {NumberFormat.FLOAT32: 24, NumberFormat.FLOAT64: 53}
_USUAL = 24
"""Bits of the coarsest usual generator."""


class FreshUniforms(Statement):
    """Every recorded uniform of a sequence is a fresh number."""

    def __init__(self, survey: Survey) -> None:
        text = "every uniform is drawn afresh"
        super().__init__("uniforms", "reused-randomness", text, _RATES)
        self._bits = survey.bits
        self._seen: dict[int, set[Fraction]] = {}

    def add(self, step: TraceStep) -> None:
        """The uniforms of one step, in the order in which they decide. 0 stands for numbers that
        were not drawn as well, and counts as fresh; sequences may have been run with one seed."""
        seen = self._seen.setdefault(step.sequence, set())
        for kind, uniform in recorded_uniforms(step):
            if not uniform:
                continue
            bits = self._bits[kind]
            most = len(seen) * Fraction(2, 1 << bits)
            again = uniform in seen
            if 0 < most < 1:
                rates = _RATES.items()
                chances = {name: rate if again else 1 - rate for name, rate in rates}
                self.bet(most if again else _ONE, Fraction(0), chances)
            seen.add(uniform)


class GridOfUniforms(Statement):
    """The accept uniforms take every point of their generator's grid, of N points at least.

    N is that of the declared grid, or of the generator that the trace states; where nothing says
    it, 2^24, for generators are seldom coarser. The bettors are the coarser grids of 2^k points,
    k from 1, with equal weights: each multiplies its capital by ``N / 2^k`` for a multiple of
    ``2^-k``, which a grid of N points or more has with probability ``2^k / N`` at most, and loses
    it for any other number.
    """

    def __init__(self, declared: EngineModel, conventions: Conventions) -> None:
        self._bits = _generator_bits(declared, conventions)
        text = f"accept uniforms are drawn from a grid of 2^{self._bits} points, or a finer one"
        super().__init__("grid", "off-grid-uniform", text, ())
        self._count = 0
        self._finest = 0

    @property
    def draws(self) -> int:
        return self._count

    @property
    def value(self) -> Fraction:
        if not self._count:
            return _ONE
        coarser = range(max(self._finest, 1), self._bits)
        grown = sum(1 << (self._bits - bits) * self._count for bits in coarser)
        return Fraction(grown, self._bits - 1)

    @property
    def favourite(self) -> str:
        return f"multiples of 2^-{self._finest}"

    def add(self, step: TraceStep) -> None:
        """The accept uniforms of one step. One that is no binary fraction is on no coarse grid."""
        for uniform in used_uniforms(step) if self._bits > 1 else ():
            points = uniform.denominator
            power = points & (points - 1) == 0
            self._finest = max(self._finest, points.bit_length() - 1 if power else self._bits)
            self._count += 1


def _generator_bits(declared: EngineModel, conventions: Conventions) -> int:
    """Bits that the generator of uniforms has at least; 0 where its grid is no power of two."""
    grid = declared.numerics.grid
    if grid is not None:
        power = grid.points & (grid.points - 1) == 0
        return grid.points.bit_length() - 1 if power else 0
    if conventions.generator_stated and conventions.uniforms in _BITS:
        return _BITS[conventions.uniforms]
    return _USUAL
