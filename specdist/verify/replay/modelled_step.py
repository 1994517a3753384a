"""One recorded step under one way of working: which recorded facts follow, which are impossible."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from specdist.model.role import Role
from specdist.model.trace import Conventions, FinalKind, TraceStep
from specdist.model.trace_evidence import TraceFact
from specdist.verify.replay.decisions import Decisions
from specdist.verify.replay.engine_model import EngineModel, Pruning, Reuse
from specdist.verify.replay.pruning import measured
from specdist.verify.replay.recorded_rows import RecordedRows, RowLaw, proposed
from specdist.verify.replay.recovered_bounds import (
    argmax_of,
    engine_slack,
    law_bounds,
    softmax_of,
    without,
)
from specdist.verify.replay.shared_uniforms import shared_in
from specdist.verify.replay.survey import used_uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from specdist.exact.law_bounds import LawBounds

_RESIDUAL = (Role.RESIDUAL_TARGET, Role.RESIDUAL_DRAFT)


def decisions_of(step: TraceStep) -> tuple[bool, ...]:
    """The decisions up to and including the first rejection."""
    if step.accepted is not None:
        return step.accepted
    refused = (False,) if step.n_accepted < len(step.drafted) else ()
    return (True,) * step.n_accepted + refused


def final_place(step: TraceStep) -> tuple[int, bool] | None:
    """Position of the final token, and whether it follows a rejection; None where its row is not
    at hand, or the step ended before it."""
    decisions = decisions_of(step)
    rejected = bool(decisions) and not decisions[-1]
    index = len(decisions) - 1 if rejected else len(decisions)
    beyond = index >= len(step.target_rows) or (not rejected and index < len(step.drafted))
    return None if beyond else (index, rejected)


class StepFacts:
    """The facts of a step, under several models; what they share is worked out once."""

    def __init__(self, rows: RecordedRows, conventions: Conventions) -> None:
        self.rows, self.step = rows, rows.step
        self._conventions = conventions
        size = rows.step.target_rows[0].size
        self._slack = engine_slack(conventions, size)
        self._decisions = Decisions(rows, conventions, self._slack)
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

    def chances(self, model: EngineModel) -> Iterator[Fraction | None]:
        """Probabilities of the recorded facts that no random number replays, in the order of
        `facts`; None where a cut or a rounding leaves them open."""
        step, replayed = self.step, self._conventions.inverse_cdf
        uniforms = step.u_draft or () if replayed else ()
        for index, token in enumerate(proposed(step)):
            if len(uniforms) <= index < len(self.rows.rows("draft")):
                law = self._law(model, Role.DRAFTED_FROM, index)
                yield None if law.blurred else law.probability(token)
        for index, accepted in enumerate(decisions_of(step)):
            if index >= len(step.u_accept or ()):
                yield self._decisions.chance(model, index, accepted)
        place, final = final_place(step), step.final_token
        at_hand = (replayed and step.u_final is not None) or step.final_noise is not None
        if place is not None and final is not None and not at_hand:
            bounds, blurred = self.final_bounds(model, *place)
            yield None if bounds is None or blurred else _middle(bounds, final)

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
            bounds = law_bounds(law, self._slack)
            self._known[key] = _drawn(bounds, token, law.blurred, uniform)
        return self._known[key]

    def _kept(self, model: EngineModel) -> Iterator[TraceFact]:
        if self.step.proposed is None:
            return
        submitted = len(self.step.drafted)
        for index, token in enumerate(self.step.proposed[: submitted + 1]):
            submitted_here = index < submitted
            held = True if submitted_here else None
            if model.pruning is not None and index < len(self.rows.rows("draft")):
                held = self._is_kept(model, model.pruning, index, token, submitted_here)
            word = "submitted" if submitted_here else "dropped"
            yield self._fact("kept", index, held, f"proposed token {token} {word}")

    def _is_kept(
        self, model: EngineModel, pruning: Pruning, index: int, token: int, kept: bool
    ) -> bool | None:
        """Whether the pruning rule does with a proposed token what was recorded."""
        source = model.confidence
        law = self.rows.law(source.side, index, source.recipe)
        value = measured(pruning.measure, law, token, index)
        near = pruning.measure != "position" and (
            abs(value - pruning.threshold) <= self._slack * abs(pruning.threshold)
        )
        if law.blurred or near:
            return None
        return (value >= pruning.threshold) is kept

    def _final(self, model: EngineModel) -> Iterator[TraceFact]:
        place, token = final_place(self.step), self.step.final_token
        if place is None or token is None:
            return
        index, rejected = place
        dropped = not rejected and index < len(proposed(self.step))
        pruning = model.pruning
        as_rejected = dropped and pruning is not None and pruning.dropped == "residual"
        recovered = rejected or (as_rejected and index < len(self.rows.rows("draft")))
        word = FinalKind.RECOVERED.value if recovered else FinalKind.BONUS.value
        held = self._final_holds(model, index, token, recovered)
        yield self._fact("final", index, held, f"{word} token {token}")

    def _final_holds(
        self, model: EngineModel, index: int, token: int, recovered: bool
    ) -> bool | None:
        roles = _RESIDUAL if recovered else (Role.BONUS_FROM,)
        recovery = model.recovery if recovered else ""
        key = ("final", index, recovery, model.law_key(roles))
        if key not in self._known:
            bounds, blurred = self.final_bounds(model, index, recovered)
            uniform = self.step.u_final if self._conventions.inverse_cdf else None
            noise = None if self.step.final_noise is None else self.step.final_noise.array
            self._known[key] = _drawn(bounds, token, blurred, uniform, noise)
        return self._known[key]

    def final_bounds(
        self, model: EngineModel, index: int, recovered: bool
    ) -> tuple[LawBounds | None, bool]:
        """The law of the final token (None: nothing is left, or it is open which token), and
        whether a cut blurs it."""
        if recovered:
            return self._recovered(model, index)
        law = self._law(model, Role.BONUS_FROM, index)
        return law_bounds(law, self._slack), law.blurred

    def _recovered(self, model: EngineModel, index: int) -> tuple[LawBounds | None, bool]:
        """The law of the recovered token (None: nothing is left, or it is open which token), and
        whether a cut blurs it."""
        target = self._law(model, Role.RESIDUAL_TARGET, index)
        bounds = law_bounds(target, self._slack)
        if model.recovery == "target":
            return bounds, target.blurred
        if model.recovery == "argmax":
            return argmax_of(bounds), target.blurred
        if Role.RESIDUAL_DRAFT in model.one_hot:
            return without(bounds, self.step.drafted[index]), target.blurred
        draft = self._law(model, Role.RESIDUAL_DRAFT, index)
        blurred = target.blurred or draft.blurred
        left = bounds.minus(law_bounds(draft, self._slack))
        if model.recovery == "softmax":
            return softmax_of(left, target.law.size), blurred
        return left, blurred

    def _uniforms(self, model: EngineModel) -> Iterator[TraceFact]:
        if model.reuse is not Reuse.NONE:
            held = shared_in(self.step, model.reuse)
            if model.reuse is Reuse.DRAFT_FINAL and held is None:
                held = self.drafted_by_final_noise(model)
            if held is not None:
                yield self._fact("uniforms", 0, held, f"uniforms of one step ({model.reuse.value})")
        grid = model.numerics.grid
        for index, uniform in enumerate(used_uniforms(self.step)):
            on_grid = None if grid is None else (uniform * grid.points).denominator == 1
            yield self._fact("grid", index, on_grid, f"uniform {float(uniform)!r}")

    def drafted_by_final_noise(self, model: EngineModel) -> bool | None:
        """Whether the rejected draft token wins the race with the noise of the final token; None
        where there is no such noise, no rejection, or rounding leaves it open."""
        step, noise = self.step, self.step.final_noise
        index = step.n_accepted
        if noise is None or not step.rejected or index >= len(self.rows.rows("draft")):
            return None
        law = self._law(model, Role.DRAFTED_FROM, index)
        bounds = law_bounds(law, self._slack)
        return _drawn(bounds, step.drafted[index], law.blurred, None, noise.array)


def _middle(bounds: LawBounds, token: int) -> Fraction:
    chance = bounds.as_probabilities().probability(token)
    return (chance.least + chance.most) / 2


def _drawn(
    bounds: LawBounds | None,
    token: int,
    blurred: bool,
    uniform: Fraction | None,
    noise: NDArray[Any] | None = None,
) -> bool | None:
    """Whether the token is what its uniform or its race draws; without them, whether it may be."""
    if bounds is None:
        return None
    if uniform is not None:
        held = bounds.draws(token, uniform)
    elif noise is not None:
        held = bounds.wins(token, noise.astype("float64"))
    else:
        held = False if bounds.entry(token) is None else None
    return None if held is False and blurred else held
