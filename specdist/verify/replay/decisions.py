"""Recorded accept decisions held against their uniform, or against what is possible without it."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.role import Role
from specdist.model.row import NumberFormat
from specdist.model.trace import Conventions
from specdist.processing.number_rounding import rounded_to
from specdist.verify.replay.engine_model import EngineModel, Test
from specdist.verify.replay.recorded_rows import RecordedRows

_TESTED = (Role.ACCEPT_TARGET, Role.ACCEPT_DRAFT)


class Decisions:
    """The decisions of one step under several models. ``slack`` bounds the relative rounding of a
    probability that the engine computed; a quotient of two is off by three times that."""

    def __init__(self, rows: RecordedRows, conventions: Conventions, slack: Fraction) -> None:
        self._rows, self._step = rows, rows.step
        self._strict = conventions.strict
        self._slack = 3 * slack
        self._known: dict[object, bool | None] = {}

    def holds(self, model: EngineModel, index: int, accepted: bool) -> bool | None:
        """Whether ``model`` decides as recorded; None where it may, or within rounding."""
        if model.test is Test.ALWAYS or (model.test is Test.FIRST_UNCHECKED and not index):
            return accepted
        key = (index, model.law_key(_TESTED), model.arithmetic)
        if key not in self._known:
            self._known[key] = self._accepts(model, index)
        accepts = self._known[key]
        uniforms = self._step.u_accept
        if uniforms is not None and index < len(uniforms):
            return None if accepts is None else accepts is accepted
        return self._possible(model, index, accepted)

    def chance(self, model: EngineModel, index: int, accepted: bool) -> Fraction | None:
        """Probability of the recorded decision; None where a cut blurs it, or target/0 is met."""
        if model.test is Test.ALWAYS or (model.test is Test.FIRST_UNCHECKED and not index):
            return Fraction(int(accepted))
        target, tested, _, blurred = self.pair(model, index)
        if blurred or not tested:
            return None
        chance = min(target / tested, Fraction(1))
        return chance if accepted else 1 - chance

    def pair(self, model: EngineModel, index: int) -> tuple[Fraction, Fraction, Fraction, bool]:
        """Target and tested probability of the drafted token, the relative error of their
        quotient, and whether a cut blurs them."""
        token = self._step.drafted[index]
        source = model.sources[Role.ACCEPT_TARGET]
        target = self._rows.law(source.side, index + source.shift, source.recipe)
        if Role.ACCEPT_DRAFT in model.one_hot:
            return target.probability(token), Fraction(1), target.relative_error, target.blurred
        source = model.sources[Role.ACCEPT_DRAFT]
        tested = self._rows.law(source.side, index + source.shift, source.recipe)
        error = target.relative_error + 2 * tested.relative_error
        blurred = target.blurred or tested.blurred
        return target.probability(token), tested.probability(token), error, blurred

    def _accepts(self, model: EngineModel, index: int) -> bool | None:
        """Whether the recorded uniform accepts; None within rounding, or without a uniform."""
        uniforms = self._step.u_accept
        if uniforms is None or index >= len(uniforms):
            return None
        uniform = uniforms[index]
        target, tested, error, blurred = self.pair(model, index)
        if blurred:
            return None
        if not tested:
            return None if target else False
        if model.arithmetic is not None:
            return self._in_format(uniform, target, tested, model.arithmetic)
        edge = target / tested
        if abs(uniform - edge) <= (error + self._slack) * edge and edge:
            return None
        return uniform < edge or (not self._strict and uniform == edge)

    def _in_format(
        self, uniform: Fraction, target: Fraction, tested: Fraction, numbers: NumberFormat
    ) -> bool | None:
        above, below = rounded_to(target, numbers), rounded_to(tested, numbers)
        if above is None or not below:
            return None
        edge = rounded_to(above / below, numbers)
        if edge is None:
            return True
        return uniform < edge if self._strict else uniform <= edge

    def _possible(self, model: EngineModel, index: int, accepted: bool) -> bool | None:
        """Without a uniform: False where the decision has probability 0, True where it has 1."""
        target, tested, error, blurred = self.pair(model, index)
        if blurred or not tested:
            return None
        if accepted:
            if not target:
                return False
            return True if target >= tested * (1 + error + self._slack) else None
        if target >= tested * (1 + error + self._slack):
            return False
        return True if not target else None
