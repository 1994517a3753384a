"""One drafted position of a step, from its rows to its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from specdist.errors import SettingsError, SpecdistError
from specdist.exact.interval import Interval
from specdist.model.capture import Position, Step
from specdist.model.figure import Figure
from specdist.model.finding import Finding
from specdist.model.recipe import Recipe
from specdist.model.role import Role
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.processing import RowContext, TokenHistory
from specdist.verify.close_cuts import all_sides, settled
from specdist.verify.closed_form import with_closed_forms
from specdist.verify.greedy_cut_off import open_cut_off
from specdist.verify.plan import Plan
from specdist.verify.position import Checked, acceptance_of, check_position
from specdist.verify.position_laws import PositionLaws, position_laws, role_fillings
from specdist.verify.setup import Setup
from specdist.verify.summary import figure_interval
from specdist.verify.token_rows import check_token_rows


class PositionCheck:
    """A position with the settings that hold for it.

    After `run`: ``found``, its laws; ``checked``, its figures and verdict; ``open_law``, the
    question that a tiny temperature leaves open, None in general. With ``closed_forms`` false a
    verdict within rounding stays undecided.
    """

    found: PositionLaws
    checked: Checked
    open_law: Finding | None

    def __init__(
        self,
        step: Step,
        position: Position,
        plan: Plan,
        settings: CheckSettings,
        closed_forms: bool = True,
    ) -> None:
        self.step, self.position = step, position
        self.plan, self.settings = plan, settings
        self._context = row_context(step, position, position.index, plan, settings)
        self._recipes, self._rows = role_fillings(
            position.roles, plan.recipes.recipes, settings.overrides.roles
        )
        self._proposal = plan.proposal_of(position)
        self._closed_forms = closed_forms

    def run(self) -> PositionCheck:
        """Enumerates the position. Raises SpecdistError for rows and settings that do not fit."""
        self.found = self._laws(self._recipes)
        try:
            checked = self._checked(self.found)
        except SettingsError as error:
            raise error.at(self.position.target.place) from None
        verdict = settled(self.found, checked.result.verdict, self._recipes, self._verified)
        self.open_law = None
        if self.settings.preset is None:
            index = self.position.index
            self.open_law = open_cut_off(self.found, self._recipes, self._laws, index)
        if self.open_law is not None and verdict is Verdict.EQUAL:
            verdict = Verdict.UNDECIDED
        if verdict is not checked.result.verdict:
            checked = replace(checked, result=replace(checked.result, verdict=verdict))
        self.checked = checked
        return self

    def acceptance(self) -> Figure | Interval:
        """The acceptance rate alone: the figure of `run`, or where it lies whichever way the cuts
        fall that the rounding of the weights leaves open. Raises SpecdistError as `run`."""
        found = self._laws(self._recipes)
        rate = self._acceptance(found)
        if not found.close_cuts:
            return rate
        whole = Interval(Fraction(0), Fraction(1))
        hull = figure_interval(rate)
        for moved in all_sides(found, self._recipes) or [self._recipes]:
            try:
                other = self._laws(moved)
                hull = (
                    whole
                    if other.close_cuts
                    else hull.hull(figure_interval(self._acceptance(other)))
                )
            except SpecdistError:
                return whole
        return hull

    def _acceptance(self, found: PositionLaws) -> Figure:
        try:
            return acceptance_of(found, self._setup(found), self.position.draft.place)
        except SettingsError as error:
            raise error.at(self.position.target.place) from None

    def _laws(self, recipes: Mapping[Role, Recipe]) -> PositionLaws:
        target, draft = self.position.target, self.position.draft
        fresh = self._proposal is not None
        return position_laws(target, draft, recipes, self._rows, self._context, fresh)

    def _checked(self, found: PositionLaws) -> Checked:
        setup, position = self._setup(found), self.position
        checked = check_position(
            position.index, found, setup, self.settings, self.step.vocab, position.draft.place
        )
        return with_closed_forms(checked, found, self.settings) if self._closed_forms else checked

    def _setup(self, found: PositionLaws) -> Setup:
        position = self.position
        check_token_rows(position, found.laws[Role.REFERENCE].size)
        self.plan.numerics.empty_residual.check(found.laws[Role.REFERENCE].size)
        return Setup(
            laws=found.laws,
            one_hot=found.one_hot,
            rule=self.plan.rule,
            use=self.plan.use,
            numerics=self.plan.numerics,
            proposal=self._proposal,
            keep=position.keep,
            given=position.given,
        )

    def _verified(self, recipes: Mapping[Role, Recipe]) -> tuple[PositionLaws, Verdict]:
        again = self._laws(recipes)
        return again, self._checked(again).result.verdict


def row_context(
    step: Step, position: Position | None, index: int, plan: Plan, settings: CheckSettings
) -> RowContext:
    """The circumstances of the rows of a position, or of the bonus row at ``index``."""
    drafted = step.draft_tokens or ()
    earlier = drafted[:index] if len(drafted) >= index else None
    history = None
    if settings.history is not None:
        history = TokenHistory(settings.history, settings.prompt_length, earlier)
    elif step.context is not None:
        history = TokenHistory(step.context, step.prompt_length, earlier)
    return RowContext(
        history=history,
        normalise=settings.normalise,
        drafted_token=drafted[index] if index < len(drafted) else None,
        target_size=None if position is None else position.target.size,
        draft_map=settings.draft_map or (None if position is None else position.draft_map),
        texts=None if step.vocab is None else step.vocab.texts,
        draft_texts=None if step.draft_vocab is None else step.draft_vocab.texts,
        unnormalised=plan.numerics.unnormalised,
    )
