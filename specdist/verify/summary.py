"""Counts and means over steps, in bounded memory, and the report made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.model.joint_report import JointResult
from specdist.model.report import StepResult, Summary
from specdist.model.verdict import Verdict

_SCALE = 256
_LONGEST_DENOMINATOR = 10**200
_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(slots=True)
class Mean:
    """The mean of many fractions: exact while its denominator stays useful or ``keep_exact`` asks,
    and in certified fixed point (each term rounded down to 2**-256) all along."""

    keep_exact: bool = False
    count: int = 0
    exact: Fraction | None = Fraction(0)
    fixed: int = 0
    bound: Fraction = Fraction(0)
    only: Figure | None = None

    def add(self, figure: Figure) -> None:
        """Takes one figure into the mean."""
        value = figure.exact
        if value is None:
            raise ValueError("a mean needs exact figures")
        self.count += 1
        self.only = figure if self.count == 1 else None
        self.bound += figure.bound or 0
        self.fixed += (value.numerator << _SCALE) // value.denominator
        if self.exact is not None:
            self.exact += value
            if not self.keep_exact and self.exact.denominator > _LONGEST_DENOMINATOR:
                self.exact = None

    def figure(self) -> Figure | None:
        """The mean so far, None of nothing."""
        if self.count < 2:
            return self.only
        bound = self.bound / self.count
        if self.exact is not None:
            return Figure.of(self.exact / self.count, bound)
        value = Fraction(self.fixed, self.count << _SCALE)
        return Figure(float(value), None, bound + Fraction(1, 1 << _SCALE))

    def interval(self) -> Interval:
        """Where the mean lies, rounding bounds included. Raises ZeroDivisionError of nothing."""
        bound = self.bound / self.count
        if self.exact is not None:
            least = most = self.exact / self.count
        else:
            least = Fraction(self.fixed, self.count << _SCALE)
            most = least + Fraction(1, 1 << _SCALE)
        return Interval(least - bound, most + bound)

    def reaches(self, floor: Fraction) -> bool | None:
        """Whether the mean reaches a floor; None where its rounding bound leaves that open."""
        figure = self.figure()
        if figure is None:
            return None
        value = figure.exact if figure.exact is not None else Fraction(figure.approx)
        bound = figure.bound or Fraction(0)
        if figure.exact is None:
            bound += Fraction(1, 2**50)
        if bound and abs(value - floor) <= bound:
            return None
        return value >= floor


@dataclass(slots=True)
class Bounds:
    """The ends of the figures of positions and bonus rows that are known in part."""

    keep_exact: bool
    least: Mean = field(init=False)
    most: Mean = field(init=False)
    variation: Interval | None = None

    def __post_init__(self) -> None:
        self.least, self.most = (Mean(keep_exact=self.keep_exact) for _ in range(2))

    def add(self, acceptance: Interval) -> None:
        """Takes the acceptance rate of one position."""
        self.least.add(Figure.of(acceptance.least))
        self.most.add(Figure.of(acceptance.most))

    def compare(self, variation: Interval) -> None:
        """Takes a total variation, of which the largest counts."""
        known = variation if self.variation is None else self.variation
        self.variation = Interval(
            max(known.least, variation.least), max(known.most, variation.most)
        )

    def mean_with(self, others: Mean) -> Interval | None:
        """The mean over these positions and ``others``; None without one of these."""
        if not self.least.count:
            return None
        least, most = self.least.interval().least, self.most.interval().most
        counts = (self.least.count, others.count)
        known = others.interval() if others.count else Interval.of(0)
        total = sum(counts)
        return Interval(
            (counts[0] * least + counts[1] * known.least) / total,
            (counts[0] * most + counts[1] * known.most) / total,
        ).within(_ZERO, _ONE)

    def largest_with(self, other: Figure | None) -> Interval | None:
        """The largest total variation of these and ``other``; None without one of these."""
        if self.variation is None or other is None or other.exact is None:
            return self.variation
        bound = other.bound or _ZERO
        known = Interval(other.exact - bound, other.exact + bound).within(_ZERO, _ONE)
        return Interval(
            max(known.least, self.variation.least), max(known.most, self.variation.most)
        )


@dataclass(slots=True)
class Tally:
    """What `Summary` needs, step by step."""

    keep_exact: bool
    allowed_idents: frozenset[str]
    steps: int = 0
    positions: int = 0
    verdicts: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))
    allowed: int = 0
    acceptance: Mean = field(default_factory=Mean)
    several: Mean = field(default_factory=Mean)
    largest: Figure | None = None
    bounds: Bounds = field(init=False)

    def __post_init__(self) -> None:
        self.acceptance, self.several = (Mean(keep_exact=self.keep_exact) for _ in range(2))
        self.bounds = Bounds(self.keep_exact)

    def add(self, step: StepResult) -> None:
        """Takes one finished step into the counts."""
        self.steps += 1
        self.positions += len(step.positions) + len(step.bounded)
        self.verdicts[step.verdict] += 1
        if step.verdict is Verdict.DIFFERENT and is_allowed(step):
            self.allowed += 1
        for position in step.positions:
            self.acceptance.add(position.acceptance_rate)
            self._compare(position.total_variation)
            if position.several is not None and position.several.optimum is not None:
                self.several.add(position.several.optimum)
        for part in step.bounded:
            self.bounds.add(part.acceptance_rate)
            self.bounds.compare(part.total_variation)
        if step.bonus is not None:
            self._compare(step.bonus.total_variation)
        if step.bounded_bonus is not None:
            self.bounds.compare(step.bounded_bonus.total_variation)
        if step.joint is not None:
            self._add_joint(step.joint)

    def _add_joint(self, joint: JointResult) -> None:
        """A step over conditional models counts for the draft tokens of its longest path, each with
        the mean of what is accepted of them."""
        self._compare(joint.total_variation)
        accepted = joint.expected_accepted
        if joint.depth and accepted.exact is not None:
            rate = accepted.exact / joint.depth
            bound = None if accepted.bound is None else accepted.bound / joint.depth
            for _ in range(joint.depth):
                self.acceptance.add(Figure.of(rate, bound))
        self.positions += joint.depth

    def _compare(self, variation: Figure) -> None:
        value = variation.exact
        if value is None:
            return
        known = self.largest.exact if self.largest is not None else None
        if known is None or value > known:
            self.largest = variation

    def reaches(self, floor: Fraction) -> bool | None:
        """Whether the mean acceptance rate reaches a floor; None where that is open."""
        bounds = self.bounds.mean_with(self.acceptance)
        if bounds is None:
            return self.acceptance.reaches(floor)
        if bounds.least >= floor:
            return True
        return None if bounds.most >= floor else False

    def summary(self) -> Summary:
        """The counts as they stand."""
        acceptance = self.bounds.mean_with(self.acceptance)
        variation = self.bounds.largest_with(self.largest)
        return Summary(
            steps=self.steps,
            positions=self.positions,
            equal=self.verdicts[Verdict.EQUAL],
            within_tolerance=self.verdicts[Verdict.WITHIN_TOLERANCE],
            different=self.verdicts[Verdict.DIFFERENT],
            undecided=self.verdicts[Verdict.UNDECIDED],
            allowed=self.allowed,
            acceptance_rate=self.acceptance.figure() if acceptance is None else None,
            total_variation_max=self.largest if variation is None else None,
            drafts_optimum=self.several.figure(),
            acceptance_bounds=acceptance,
            variation_bounds=variation,
        )


def figure_interval(figure: Figure) -> Interval:
    """Where a share lies: an exact figure with its rounding bound."""
    if figure.exact is None:
        raise ValueError("an interval needs an exact figure")
    bound = figure.bound or _ZERO
    return Interval(figure.exact - bound, figure.exact + bound).within(_ZERO, _ONE)


def is_allowed(step: StepResult) -> bool:
    """Whether every error of a different step is allowed by the run."""
    errors = [f for f in step.findings if f.severity == "error" or f.allowed]
    return bool(errors) and all(finding.allowed for finding in errors)
