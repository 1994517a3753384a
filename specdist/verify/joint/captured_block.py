"""Rule block on rows along one drafted path: every position with the weight of the path before it.

The law at one position and why the rows behind other drafts are not needed for it stand in
`rules.joint.block_position_rule`. A step is equal where every position is: each then keeps its
prefix with probability r, which is what the position before it builds on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from specdist.errors import CaptureError, SettingsError
from specdist.model.capture import Step
from specdist.model.finding import Finding, Severity
from specdist.model.joint_report import PathResult
from specdist.model.report import PositionResult
from specdist.model.verdict import Verdict
from specdist.rules.joint.block_position_rule import (
    BLOCK_POSITION,
    Weight,
    block_masses,
    block_position_step,
)
from specdist.rules.outcomes import RoleLaws
from specdist.rules.registry import read_rule
from specdist.rules.rule import tested_as_drafted
from specdist.verify.joint.path import drafted_token, drafted_tokens, path_result, weight_after
from specdist.verify.plan import Plan
from specdist.verify.position import Checked
from specdist.verify.position_check import PositionCheck
from specdist.verify.several_drafts import DRAFT_TOKENS_THERE


@dataclass(slots=True)
class BlockPath:
    """The positions of one captured block, one after the other, under rule block."""

    step: Step
    plan: Plan
    weight: Weight = field(default_factory=Weight)
    laws: list[RoleLaws] = field(default_factory=list)

    def __post_init__(self) -> None:
        joint = self.plan.joint
        if joint is None or self.plan.use.text != "block":
            raise SettingsError(
                f"rule {self.plan.use.text} is about whole proposals, and this step has rows of "
                "one path",
                place=self.step.source,
                expected="a step with models: rows by prefix, and the shape of the proposal",
                advice="specdist explain capture; of the rules over proposals only block, without "
                "options, is verified along one path",
            )
        kept = self.plan.proposal is not None or any(p.keep for p in self.step.positions)
        if kept or not self.plan.numerics.ideal:
            raise SettingsError(
                "rule block along one path tests every draft token in real arithmetic",
                place=self.step.source,
                expected="no keep rule, and of the numeric model at most --zero-draft and "
                "--empty-residual",
            )
        if len(self.step.positions) > 1 and drafted_tokens(self.step) is None:
            raise CaptureError(
                "the weights of block verification hang on the tokens that were drafted, and this "
                "step does not say them",
                place=self.step.source,
                expected=DRAFT_TOKENS_THERE,
                advice="or check the rows with --rule token",
            )

    def plan_here(self) -> Plan:
        """The plan of the next position: block verification at the weight reached, which is token
        verification where that is 1, and where it is 0, so that nothing is kept there at all."""
        if self.weight.value in (0, 1):
            rule, use = read_rule("token")
            return replace(self.plan, rule=rule, use=use, joint=None)
        use = block_position_step(self.weight)
        return replace(self.plan, rule=BLOCK_POSITION, use=use, joint=None)

    def passed(
        self, check: PositionCheck, result: PositionResult
    ) -> tuple[PositionResult, list[Finding]]:
        """Goes on behind a verified position: its result, undecided where only its kept mass is
        off, and what there is to say about that."""
        index, findings = check.position.index, []
        if not self.weight.value:
            findings.append(_never_kept(index))
        elif self._mass_is_off(check.checked, result.verdict):
            result = replace(result, verdict=Verdict.UNDECIDED)
            findings.append(_mass_finding(index))
        token = drafted_token(self.step, len(self.laws))
        self.laws.append(check.checked.laws)
        if token is not None:
            self.weight = weight_after(self.weight, token, check.checked.laws, check.position)
        return result, findings

    @property
    def result(self) -> PathResult | None:
        """What the path determines, once every position is verified."""
        return path_result(self.step, self.laws)

    def _mass_is_off(self, checked: Checked, verdict: Verdict) -> bool:
        """Whether the right law follows a prefix that may not be kept with probability r."""
        if checked.setup.rule is not BLOCK_POSITION or verdict is not Verdict.EQUAL:
            return False
        if tested_as_drafted(checked.laws):
            return False
        masses = block_masses(checked.laws, self.weight)
        rounded = bool(masses.error or self.weight.doubt)
        return rounded or masses.total != self.weight.value


def _never_kept(index: int) -> Finding:
    return Finding(
        "configuration-needed",
        Severity.NOTE,
        "a token before this position has target probability 0: block verification keeps nothing "
        "here, and the position is verified as if all before it were kept",
        index,
    )


def _mass_finding(index: int) -> Finding:
    return Finding(
        "undecided-precision",
        Severity.WARNING,
        "the next token follows the reference, but this prefix is not kept with the probability "
        "that block verification needs, or not provably; rows of one path do not tell what that "
        "moves",
        index,
    )
