"""From runs to a tree: which draw splits where, and how a run that it mispredicts mends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from specdist.audit.probe.break_points import MOST, break_points, probe_points, too_many
from specdist.audit.probe.completions import recorded
from specdist.audit.probe.place import Place
from specdist.audit.probe.products import require_still
from specdist.audit.probe.questions import Answer, Completion, Question, Trace
from specdist.audit.probe.race_weights import NotARaceError, weighed
from specdist.audit.probe.runs import Runs
from specdist.audit.probe.splits import Branch, Leaf, Node, Split, walk
from specdist.audit.refusals import BudgetError, RefusalError

MOST_DEEP = 100
"""Draws that decide, one after another. The search is recursive, and audited code needs a stack."""


@dataclass
class Explorer:
    """Finds the tree of a program, and keeps it in ``tree``."""

    runs: Runs

    def __post_init__(self) -> None:
        self.tree = _node(Place.at(self.runs, {}))

    def mend(self, trace: Trace) -> None:
        """Makes a run that the tree mispredicts a completion of the node that is at fault.

        The answers of the run are turned into the samples of its branches one by one: the first
        one that changes what the program does was wrongly held to be alike. If none does, the end
        of the way is.
        """
        way, rest = walk(self.tree, trace), recorded(trace)
        holder: Branch | None = None
        before = trace
        for split, branch in way.steps:
            sampled = {**split.place.fixed, split.position: branch.sample}
            now = self.runs.run(sampled, rest)
            if not now.behaves_as(before):
                answer = trace.answers[split.position]
                self._put(holder, _split_again(split, branch, answer, rest))
                return
            holder, before = branch, now
        self._put(holder, _node(way.end.place.also(rest)))

    def confirm(self) -> None:
        """Makes the runs that the tree rests on once more: those of its leaves, and those at both
        sides of every break point. Raises NotAFunctionError where one of them differs now."""
        _confirmed(self.runs, self.tree)

    def _put(self, holder: Branch | None, node: Node) -> None:
        if holder is None:
            self.tree = node
        else:
            holder.child = node


def _node(place: Place, not_raced: int = -1) -> Node:
    """The tree below a place. Choices are split first, because their branches are known; a row of
    noise that decides several races waits until the draws after it are split, and ``not_raced`` is
    one that is known to."""
    if len(place.fixed) > MOST_DEEP:
        raise BudgetError(
            f"more than {MOST_DEEP} draws in a row decide what a run does",
            expected="fewer draws in a run",
            advice="take fewer tokens, draft tokens or steps (--vocab, --gamma, --steps)",
        )
    if place.settled:
        return Leaf(place.traces[0].outcome, place)
    for position, question in sorted(place.open_draws(), key=lambda draw: not draw[1].masses):
        if position != not_raced:
            try:
                return _split(place, position, question)
            except NotARaceError:
                continue
    raise _no_race(place)


def _confirmed(runs: Runs, node: Node) -> None:
    if isinstance(node, Leaf):
        runs.fresh(recorded(node.place.traces[0]))
        return
    for branch in node.branches:
        if branch.first:
            for along in node.place.along(node.position):
                below, above = along(branch.first - 1), along(branch.first)
                if not below.behaves_as(above):
                    runs.fresh(recorded(below))
                    runs.fresh(recorded(above))
                    break
        _confirmed(runs, branch.child)


def _split(place: Place, position: int, question: Question) -> Split:
    if question.grid is not None:
        return _cut(place, position, question)
    if question.count:
        return _raced(place, position, question)
    branches = [
        Branch(question.masses[i], i, _node(place.below(position, i))) for i in question.possible
    ]
    return Split(position, question, place, branches)


def _cut(place: Place, position: int, question: Question) -> Split:
    """A uniform: the intervals of its grid."""
    assert question.grid is not None
    size = question.grid.size
    points = probe_points(size)
    cuts = _cuts(place, position, points)
    pieces = []
    for first, end in pairwise((0, *cuts, size)):
        inside = [point for point in points if first <= point < end]
        sample = min(inside or [first], key=lambda point: abs(2 * point - first - end))
        child = _node(place.below(position, sample))
        pieces.append(Branch(Fraction(end - first, size), sample, child, first, end - 1))
    return Split(position, question, place, pieces)


def _cuts(place: Place, position: int, points: Sequence[int]) -> list[int]:
    """Break points between neighbouring points, none of which moves with another uniform."""
    along = place.along(position)
    cuts = [k for low, high in pairwise(points) for k in break_points(low, high, along)]
    for k in cuts:
        require_still(place, position, k)
    return cuts


def _raced(place: Place, position: int, question: Question) -> Split:
    """A row of noise: the winners of its race. Raises NotARaceError."""
    found = weighed(question.count, place.along(position))
    if not found.weights:
        sample = place.traces[-1].answers[position]
        only = Branch(Fraction(1), sample, _node(place.below(position, sample)))
        return Split(position, question, place, [only])
    total = sum(found.weights)
    split = Split(position, question, place, [], found.weights)
    for winner in (None, *(i for i in range(question.count) if i not in found.alike)):
        members = found.alike if winner is None else {winner}
        mass = sum((found.weights[i] for i in members), Fraction(0)) / total
        split.branch_of.update(dict.fromkeys(members, len(split.branches)))
        sample = found.sample(winner)
        split.branches.append(Branch(mass, sample, _node(place.below(position, sample))))
    return split


def _split_again(split: Split, branch: Branch, answer: Answer, rest: Completion) -> Node:
    """The split once more, with a completion under which an answer and the sample of its branch
    are not alike."""
    place = split.place.also(rest)
    if isinstance(answer, tuple):
        try:
            found = _raced(place, split.position, split.question)
        except NotARaceError:
            return _node(place, not_raced=split.position)
        held_alike = found.taken(answer) is found.taken(branch.sample)
        return _node(place, not_raced=split.position) if held_alike else found
    assert isinstance(branch.sample, int)
    cuts = _cuts(place, split.position, sorted({branch.first, answer, branch.sample, branch.last}))
    at = split.branches.index(branch)
    split.branches[at : at + 1] = _pieces(split, branch, cuts, answer, place)
    split.place = place
    if len(split.branches) > MOST:
        raise too_many()
    return split


def _pieces(
    split: Split, branch: Branch, cuts: Sequence[int], answer: int, place: Place
) -> list[Branch]:
    """A branch cut into intervals. The one of its sample keeps what was found below it, the one of
    the new answer has that for a sample."""
    assert split.question.grid is not None
    pieces = []
    for first, end in pairwise((branch.first, *cuts, branch.last + 1)):
        child, sample = branch.child, branch.sample
        assert isinstance(sample, int)
        if not first <= sample < end:
            sample = answer if first <= answer < end else (first + end - 1) // 2
            child = _node(place.below(split.position, sample))
        mass = Fraction(end - first, split.question.grid.size)
        pieces.append(Branch(mass, sample, child, first, end - 1))
    return pieces


def _no_race(place: Place) -> RefusalError:
    """The error for noise that is left over when everything else is decided."""
    return RefusalError(
        f"{place.open_draws()[0][1].asked} decides no single race",
        expected="argmin E / w or argmax w / E over the whole row, for one row of weights",
        advice="draw new noise for each race, or draw.categorical(weights)",
    )
