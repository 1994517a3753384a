"""One recorded step under one way of working: which recorded facts follow, which are impossible."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.model.role import Role
from specdist.model.trace import Conventions, FinalKind, TraceStep
from specdist.model.trace_evidence import TraceFact
from specdist.verify.replay.decisions import Decisions
from specdist.verify.replay.draws import inverse_cdf_holds, race_holds
from specdist.verify.replay.engine_model import EngineModel, Test
from specdist.verify.replay.pruned import is_kept
from specdist.verify.replay.recorded_rows import RecordedRows, RowLaw, proposed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RESIDUAL = (Role.RESIDUAL_TARGET, Role.RESIDUAL_DRAFT)


def decisions_of(step: TraceStep) -> tuple[bool, ...]:
    """The decisions up to and including the first rejection."""
    if step.accepted is not None:
        return step.accepted
    refused = (False,) if step.n_accepted < len(step.drafted) else ()
    return (True,) * step.n_accepted + refused


def unit_of(conventions: Conventions) -> float:
    """The rounding unit of the recording engine's arithmetic."""
    narrow = "float32" in (conventions.uniforms, conventions.quotient)
    return 2.0**-24 if narrow else 2.0**-53


class StepFacts:
    """The facts of a step, under several models; what they share is worked out once."""

    def __init__(self, rows: RecordedRows, conventions: Conventions) -> None:
        self.rows, self.step = rows, rows.step
        self._conventions = conventions
        self._unit = unit_of(conventions)
        self._decisions = Decisions(rows, conventions, self._unit)
        self._known: dict[object, bool | None] = {}

    def facts(self, model: EngineModel) -> Iterator[TraceFact]:
        """Every recorded fact of the step under ``model``."""
        for index, token in enumerate(proposed(self.step)):
            if index < len(self.rows.rows("draft")):
                held = self._draft(model, index, token)
                yield self._fact("draft", index, held, f"proposed token {token}")
        yield from self._kept(model)
        for index, accepted in enumerate(decisions_of(self.step)):
            word = "accepted" if accepted else "rejected"
            held = self._decisions.holds(model, index, accepted)
            yield self._fact("decision", index, held, f"token {self.step.drafted[index]} {word}")
        yield from self._final(model)
        yield from self._uniforms(model)

    def _fact(self, kind: str, index: int, holds: bool | None, text: str) -> TraceFact:
        return TraceFact(self.step.id, self.step.source, kind, index, holds, text)

    def _law(self, model: EngineModel, role: Role, index: int) -> RowLaw:
        source = model.sources[role]
        return self.rows.law(source.side, index + source.shift, source.recipe)

    def _draft(self, model: EngineModel, index: int, token: int) -> bool | None:
        key = ("draft", index, model.law_key((Role.DRAFTED_FROM,)))
        if key not in self._known:
            law = self._law(model, Role.DRAFTED_FROM, index)
            uniforms = self.step.u_draft
            uniform = None
            if self._conventions.inverse_cdf and uniforms and index < len(uniforms):
                uniform = uniforms[index]
            self._known[key] = self._drawn(_dense(law), token, uniform, law.blurred)
        return self._known[key]

    def _kept(self, model: EngineModel) -> Iterator[TraceFact]:
        if self.step.proposed is None:
            return
        submitted = len(self.step.drafted)
        for index, token in enumerate(self.step.proposed[: submitted + 1]):
            if model.pruning is None:
                kept: bool | None = True
            else:
                law = self._law(model, Role.ACCEPT_DRAFT, index)
                kept = is_kept(model.pruning, law, token)
            held = None if kept is None else kept is (index < submitted)
            word = "submitted" if index < submitted else "dropped"
            yield self._fact("kept", index, held, f"proposed token {token} {word}")

    def _final(self, model: EngineModel) -> Iterator[TraceFact]:
        step, decisions = self.step, decisions_of(self.step)
        token = step.final_token
        if token is None:
            return
        rejected = bool(decisions) and not decisions[-1]
        index = len(decisions) - 1 if rejected else len(decisions)
        if index >= len(step.target_rows) or (not rejected and index < len(step.drafted)):
            return
        pruned = not rejected and index < len(proposed(step))
        by_residual = rejected or bool(
            pruned and model.pruning is not None and model.pruning.dropped == "residual"
        )
        kind = FinalKind.RECOVERED if by_residual else FinalKind.BONUS
        held = self._final_holds(model, index, token, by_residual)
        yield self._fact("final", index, held, f"{kind.value} token {token}")

    def _final_holds(
        self, model: EngineModel, index: int, token: int, by_residual: bool
    ) -> bool | None:
        roles = _RESIDUAL if by_residual else (Role.BONUS_FROM,)
        recovery = model.recovery if by_residual else ""
        key = ("final", index, recovery, model.law_key(roles))
        if key not in self._known:
            if by_residual:
                values, scale, blurred = self._recovered(model, index)
            else:
                law = self._law(model, Role.BONUS_FROM, index)
                values, scale, blurred = _dense(law), 1.0, law.blurred
            uniform = self.step.u_final if self._conventions.inverse_cdf else None
            self._known[key] = self._drawn(values, token, uniform, blurred, scale)
        return self._known[key]

    def _recovered(self, model: EngineModel, index: int) -> tuple[NDArray[np.float64], float, bool]:
        """Weights of the recovered token, the scale of their rounding, and whether a cut blurs."""
        import numpy as np

        target = self._law(model, Role.RESIDUAL_TARGET, index)
        values = _dense(target)
        if model.recovery == "target":
            return values, 1.0, target.blurred
        if model.recovery == "argmax":
            point = np.zeros_like(values)
            point[int(values.argmax())] = 1.0
            tied = float(np.partition(values, -2)[-2]) >= float(values.max()) * (1 - 2**-20)
            return point, 1.0, target.blurred or tied
        if Role.RESIDUAL_DRAFT in model.one_hot:
            values[self.step.drafted[index]] = 0.0
            return values, 1.0, target.blurred
        draft = self._law(model, Role.RESIDUAL_DRAFT, index)
        subtracted = _dense(draft)
        left = np.maximum(values - subtracted, 0.0)
        close = np.abs(values - subtracted) <= 256 * self._unit * np.maximum(values, subtracted)
        token = self.step.final_token
        unsure = token is not None and bool(close[token]) and bool(values[token] > 0.0)
        blurred = target.blurred or draft.blurred or unsure
        return (np.exp(left) if model.recovery == "softmax" else left), 1.0, blurred

    def _drawn(
        self,
        values: NDArray[np.float64],
        token: int,
        uniform: Fraction | None,
        blurred: bool,
        scale: float = 1.0,
    ) -> bool | None:
        noise = self.step.final_noise
        if uniform is not None:
            held = inverse_cdf_holds(values, token, uniform, self._unit, scale)
        elif noise is not None and scale and self._is_final(token):
            held = race_holds(values, token, noise, self._unit)
        else:
            held = None if 0 <= token < len(values) and values[token] > 0.0 else False
        return None if held is False and blurred else held

    def _is_final(self, token: int) -> bool:
        return token == self.step.final_token

    def _uniforms(self, model: EngineModel) -> Iterator[TraceFact]:
        uniforms = self.step.u_accept or ()
        if len(uniforms) > 1:
            held = len(set(uniforms)) == 1 if model.test is Test.ONE_UNIFORM else None
            yield self._fact("uniforms", 0, held, "uniforms of one step")
        for index, uniform in enumerate(uniforms):
            grid, on_grid = model.numerics.grid, None
            if grid is not None:
                on_grid = (uniform * grid.points).denominator == 1
            yield self._fact("grid", index, on_grid, f"uniform {float(uniform)!r}")


def _dense(law: RowLaw) -> NDArray[np.float64]:
    """Probabilities of all tokens in float64."""
    import numpy as np

    values = np.zeros(law.law.size)
    ids, shares = law.floats()
    values[ids] = shares
    return values
