"""What holds for a step before its rows are met: recipes, rule, numerics, keep rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specdist.errors import SettingsError
from specdist.model.capture import Position, Step
from specdist.model.numerics import Numerics, read_numerics
from specdist.model.options import ProcessingOptions
from specdist.model.proposal import Proposal, read_proposal
from specdist.model.recipe import RecipeStep
from specdist.model.settings import CheckSettings
from specdist.processing import StepRecipes, resolve_recipes
from specdist.rules.joint.names import is_joint
from specdist.rules.keep_rules import read_keep
from specdist.rules.registry import read_rule
from specdist.rules.rule import Rule
from specdist.rules.token_rule import TOKEN
from specdist.verify.draft_ids import has_map, with_map

if TYPE_CHECKING:
    from specdist.rules.joint.joint_rule import JointRule


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings of a step, resolved. ``proposal`` is None where every draft token is tested;
    ``model`` are the options of numeric model and proposal as they are written. ``joint`` is the
    rule over proposals that ``use`` writes, where it is one; ``rule`` is then token verification.
    """

    recipes: StepRecipes
    rule: Rule
    use: RecipeStep
    numerics: Numerics
    proposal: Proposal | None
    keep_options: Mapping[str, str]
    model: Mapping[str, str] = field(default_factory=dict)
    joint: JointRule | None = None

    def takes_one_position(self, step: Step) -> bool:
        """Whether a step of captured rows goes through a rule over proposals at its one position:
        all but block verification, which knows the rows of a path."""
        return self.joint is not None and self.use.text != "block" and len(step.positions) == 1

    def proposal_of(self, position: Position) -> Proposal | None:
        """The proposal of one position, which may bring keep probabilities of its own."""
        if position.keep is None:
            if self.proposal is None and self.keep_options:
                raise SettingsError(
                    f"{' and '.join(sorted(self.keep_options))} without a keep rule",
                    place=position.draft.place,
                    expected="--keep RULE, or keep probabilities in the capture",
                )
            return self.proposal
        if self.proposal is not None and self.proposal.keep is not None:
            raise SettingsError(
                "keep is given twice: as an option, and by token in the capture",
                place=position.draft.place,
                expected="one of them",
            )
        return read_proposal(None, self.keep_options)


class Plans:
    """The plans of steps; steps that share their options share them too."""

    def __init__(self, settings: CheckSettings) -> None:
        self._settings = settings
        self._last: tuple[ProcessingOptions, bool, Plan] | None = None

    def of(self, step: Step) -> Plan:
        """The plan of a step. Raises SettingsError for settings that cannot be used."""
        mapped = has_map(step, self._settings)
        last = self._last
        if last is None or last[0] is not step.options or last[1] is not mapped:
            last = self._last = (step.options, mapped, self._plan(step.options, mapped))
        return last[2]

    def _plan(self, own: ProcessingOptions, mapped: bool) -> Plan:
        layers = (self._settings.defaults, own, self._settings.overrides)
        recipes = resolve_recipes(layers, self._settings.preset)
        recipes = with_map(recipes) if mapped else recipes
        rule, use, joint = self._rule(recipes.rule)
        preset = self._settings.preset
        numerics = _merged([preset.numerics if preset else {}, *(x.numerics for x in layers)])
        keeps = _merged([layer.proposal for layer in layers])
        model = {**numerics, **keeps}
        keep = keeps.pop("keep", None)
        proposal = None if keep is None else read_proposal(read_keep(keep), keeps)
        read = read_numerics(numerics)
        if joint is not None and (proposal is not None or not read.ideal):
            raise _real_arithmetic_only(use.text)
        return Plan(recipes, rule, use, read, proposal, keeps, model, joint)

    def _rule(self, text: str) -> tuple[Rule, RecipeStep, JointRule | None]:
        """The rule as written: at one position, over proposals, or a user's own."""
        own = self._settings.user_rule
        if own is not None:
            from specdist.rules.joint.user_rule import joint_rule_of

            joint = joint_rule_of(own)
            return TOKEN, RecipeStep(joint.name, (), own.text), joint
        if is_joint(text):
            from specdist.rules.joint.registry import read_joint_rule

            joint, use = read_joint_rule(text)
            return TOKEN, use, joint
        return (*read_rule(text), None)


def _real_arithmetic_only(rule: str) -> SettingsError:
    """The error for options of single positions that a rule over proposals would not heed."""
    return SettingsError(
        f"rule {rule} tests every draft token in real arithmetic",
        expected="no keep rule, and of the numeric model at most --inequality, --ratio, "
        "--zero-draft and --empty-residual",
        advice="--uniform real takes the grid of an engine back; a rule that tests position after "
        "position has all of these options",
    )


def _merged(layers: Sequence[Mapping[str, str]]) -> dict[str, str]:
    return {name: text for layer in layers for name, text in layer.items()}
