"""The exact law of the token emitted at each reached position, under one way of working.

Given the recorded path up to position i (every earlier draft token accepted), the law is that of
one position of the check, ``accepted + recovered``, with the laws that the model's roles read.
Two kinds of model need more than that: shared uniforms, and narrow arithmetic.

    one uniform   reached means ``u < m`` with m the smallest earlier ``min(1, ratio)``; given that,
                  u is uniform below m, and x is accepted with probability min(1, P(x) / (m Q(x)))
    others        see `shared_uniforms`; of races, rule reused-noise
    arithmetic    x is accepted with probability ``Pr(u < fl(fl(P(x)) / fl(Q(x))))``, u on its grid

A draft token of tested probability 0 has an infinite ratio. Rejected mass that meets an empty
residual has no token, unless the settings say what comes out; it is in no difference of a token.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from specdist.exact.law import Law
from specdist.exact.vector import ExactVector
from specdist.exact.vectors import same_law, vectors_of_laws
from specdist.model.figure import Figure
from specdist.model.proposal import Proposal
from specdist.model.role import DRAFT_ROLES, TARGET_ROLES, Role
from specdist.model.trace import Conventions
from specdist.model.trace_evidence import EmittedLaw, TokenShift
from specdist.rules.keep_rules import read_keep
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recover
from specdist.rules.registry import read_rule
from specdist.rules.token_rule import accepted_by_ratio
from specdist.verify.comparison import Comparison, compare, compare_laws, probability
from specdist.verify.replay.decisions import Decisions
from specdist.verify.replay.engine_model import EngineModel, Reuse, Test
from specdist.verify.replay.modelled_step import decisions_of
from specdist.verify.replay.narrow_test import accepted_in_format
from specdist.verify.replay.pruning import keep_text
from specdist.verify.replay.recorded_rows import RecordedRows
from specdist.verify.replay.shared_uniforms import shared_outcomes
from specdist.verify.setup import Setup

SHIFTS = 12
"""Largest differences that are listed with a position."""

_ONE = Fraction(1)


class EmittedLaws:
    """The laws of the reached positions of one step."""

    def __init__(self, rows: RecordedRows, conventions: Conventions) -> None:
        self._rows, self._step = rows, rows.step
        self._inverse_cdf = conventions.inverse_cdf
        self._decisions = Decisions(rows, conventions, Fraction(0))

    def laws(self, model: EngineModel) -> Iterator[EmittedLaw]:
        """One for each reached position, in order. Raises SpecdistError for rows that do not fit
        the model."""
        for index in range(self._reached()):
            drafted = self._is_drafted(model, index)
            compared = self.compared(model, index) if drafted else self._bonus(model, index)
            yield self._emitted(compared, index, "drafted" if drafted else "bonus")

    def _reached(self) -> int:
        """How many positions the step reached, as far as there are target rows."""
        decisions = decisions_of(self._step)
        rejected = bool(decisions) and not decisions[-1]
        return min(len(decisions) + (not rejected), len(self._step.target_rows))

    def _is_drafted(self, model: EngineModel, index: int) -> bool:
        if index < len(self._step.drafted):
            return True
        return model.pruning is not None and index < len(self._step.draft_rows)

    def compared(self, model: EngineModel, index: int) -> Comparison:
        """The emitted law at a drafted position against the reference."""
        setup = self._setup(model, index)
        laws = setup.role_laws(zero_draft="accept")
        outcomes, doubt = self._outcomes(model, setup, laws, index)
        plain = not doubt and model.arithmetic is None and model.test is not Test.ALWAYS
        proven = plain and setup.lossless_by_roles
        return compare(outcomes, laws[Role.REFERENCE], proven)

    def _outcomes(
        self, model: EngineModel, setup: Setup, laws: RoleLaws, index: int
    ) -> tuple[Outcomes, bool]:
        """The outcomes, and whether they are those of another test than the setup's."""
        if model.arithmetic is not None:
            accepted = accepted_in_format(self._rows, model, laws, index)
            return recover(laws, accepted, model.recovery), True
        by_uniform = model.reuse in (Reuse.DRAFT_ACCEPT, Reuse.ACCEPT_FINAL, Reuse.DRAFT_FINAL)
        if by_uniform and setup.rule.name != "reused-noise":
            return shared_outcomes(laws, model.reuse, model.recovery), True
        if model.reuse is Reuse.ACCEPTS:
            smallest, error = self._smallest_ratio(model, index)
            if smallest < 1:
                accepted = accepted_by_ratio(laws, smallest).doubted(error)
                return recover(laws, accepted, model.recovery), True
        return setup.outcomes(laws), False

    def _smallest_ratio(self, model: EngineModel, index: int) -> tuple[Fraction, Fraction]:
        """``min(1, ratio)`` over the earlier positions, and its relative error."""
        smallest, worst = _ONE, Fraction(0)
        for earlier in range(index):
            target, tested, error, _ = self._decisions.pair(model, earlier)
            if tested and target < tested * smallest:
                smallest, worst = target / tested, error
        return smallest, worst

    def _setup(self, model: EngineModel, index: int) -> Setup:
        roles = [role for role in (*TARGET_ROLES, *DRAFT_ROLES) if role not in model.one_hot]
        if model.pruning is None:
            roles.remove(Role.BONUS_FROM)
        laws = {role: self._law(model, role, index) for role in roles}
        skipped = model.test is Test.ALWAYS or (model.test is Test.FIRST_UNCHECKED and not index)
        text = "always" if skipped else "token"
        if not skipped and model.recovery != "residual":
            text += f":recovery={model.recovery}"
        if model.reuse is Reuse.DRAFT_FINAL and not self._inverse_cdf:
            text = "reused-noise"
        rule, use = read_rule(text)
        proposal = None
        if model.pruning is not None:
            keep = read_keep(keep_text(model.pruning, index))
            proposal = Proposal(keep, model.pruning.dropped)
        return Setup(laws, model.one_hot, rule, use, model.numerics, proposal)

    def _law(self, model: EngineModel, role: Role, index: int) -> Law:
        source = model.sources[role]
        return self._rows.law(source.side, index + source.shift, source.recipe).law

    def _bonus(self, model: EngineModel, index: int) -> Comparison:
        """The bonus token's law against the reference at its row."""
        reference = self._law(model, Role.REFERENCE, index)
        output = self._law(model, Role.BONUS_FROM, index)
        vectors = vectors_of_laws({"reference": reference, "output": output})
        return compare_laws(vectors["output"], vectors["reference"], same_law(reference, output))

    def _emitted(self, compared: Comparison, index: int, kind: str) -> EmittedLaw:
        step = self._step
        bound = min(compared.bound, _ONE)
        return EmittedLaw(
            step=step.id,
            source=step.source,
            sequence=step.sequence,
            step_index=step.index,
            position=index,
            kind=kind,
            total_variation=probability(_half_sum(compared), bound),
            unassigned=Figure.of(compared.unassigned, bound) if compared.unassigned else None,
            shifts=_shifts(compared),
        )


def _half_sum(compared: Comparison) -> Fraction:
    """``sum over tokens of |output - reference| / 2``; the same as the total variation unless some
    mass has no token."""
    if not compared.unassigned:
        return compared.total_variation
    difference = compared.difference
    return difference.positive_part().total() - difference.total() / 2


def _shifts(compared: Comparison) -> tuple[TokenShift, ...]:
    difference, output = compared.difference, compared.output
    tokens = [token for token in difference.largest(SHIFTS) if difference.value(token)]
    return tuple(_shift(token, output, difference) for token in tokens)


def _shift(token: int, output: ExactVector, difference: ExactVector) -> TokenShift:
    emitted, shift = output.value(token), difference.value(token)
    bound = min(output.error, _ONE)
    return TokenShift(token, Figure.of(emitted, bound), Figure.of(emitted - shift, bound))
