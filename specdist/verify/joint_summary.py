"""What steps over conditional models come to, apart from steps of rows: counts and means."""

from __future__ import annotations

from dataclasses import dataclass, field

from specdist.model.figure import Figure
from specdist.model.joint_report import JointResult, Optimum
from specdist.model.report import StepResult, Summary
from specdist.model.verdict import Verdict
from specdist.verify.step import worst
from specdist.verify.summary import Mean, Tally


def tightest(joint: JointResult) -> Optimum | None:
    """The optimum that says most: the one with the fewest accepted tokens."""
    return min(joint.optima, key=lambda best: best.expected_accepted.approx, default=None)


@dataclass(frozen=True, slots=True)
class JointMeans:
    """Means over steps, each for its stated models: accepted draft tokens, emitted tokens, and
    what is left against the tightest optimum. ``left`` is None where a step has no optimum, and
    ``left_is_bound`` where an optimum is an upper bound only."""

    expected_accepted: Figure | None
    expected_tokens: Figure | None
    left: Figure | None
    left_is_bound: bool


@dataclass(frozen=True, slots=True)
class Part:
    """The steps of one kind in a run: with rows of positions, or over conditional models (then
    with ``means``). ``findings`` are their idents, each once; ``trees``: a proposal branches."""

    verdict: Verdict
    summary: Summary
    findings: tuple[str, ...]
    means: JointMeans | None = None
    trees: bool = False


@dataclass(slots=True)
class PartTally:
    """Takes the finished steps of one kind, one by one."""

    keep_exact: bool
    allowed: frozenset[str]
    tally: Tally = field(init=False)
    accepted: Mean = field(init=False)
    tokens: Mean = field(init=False)
    left: Mean = field(init=False)
    bounded: bool = False
    trees: bool = False
    joint: int = 0
    findings: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tally = Tally(self.keep_exact, self.allowed)
        self.accepted, self.tokens, self.left = (Mean(self.keep_exact) for _ in range(3))

    def add(self, step: StepResult) -> None:
        """Takes one finished step into counts and means."""
        self.tally.add(step)
        self.findings |= dict.fromkeys(finding.ident for finding in step.findings)
        if step.joint is None:
            return
        self.joint += 1
        self.trees = self.trees or step.joint.nodes > step.joint.depth
        self.accepted.add(step.joint.expected_accepted)
        self.tokens.add(step.joint.expected_tokens)
        best = tightest(step.joint)
        if best is not None:
            self.left.add(best.left)
            self.bounded = self.bounded or not best.attained

    def part(self) -> Part | None:
        """What was added, None of nothing."""
        if not self.tally.steps:
            return None
        verdict = worst([found for found, count in self.tally.verdicts.items() if count])
        means = self._means() if self.joint else None
        return Part(verdict, self.tally.summary(), tuple(self.findings), means, self.trees)

    def _means(self) -> JointMeans:
        every = self.left.count == self.joint
        return JointMeans(
            self.accepted.figure(),
            self.tokens.figure(),
            self.left.figure() if every else None,
            every and self.bounded,
        )
