"""The law of a black box, and how far it can be wrong.

A tree that predicts n random runs in a row mispredicts a run with a probability of at most
ln(1/delta)/n, or else these runs had less probability than delta. As the tree says the outcome of
every other run, the total variation of its law from the true one is at most that. A tree that was
mended is another tree: the t-th one has delta / (t (t + 1)) of the whole delta, so it has to
predict more runs for the same bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from specdist.audit.interception import intercepted, watched
from specdist.audit.measure import Measured, Told, always_raises, draws_nothing
from specdist.audit.probe.completions import faithful, recorded, scattered
from specdist.audit.probe.explore import Explorer
from specdist.audit.probe.questions import Trace
from specdist.audit.probe.runs import Runs, SpentError
from specdist.audit.probe.splits import leaves_of, walk
from specdist.audit.program import Outcome, Program
from specdist.audit.refusals import AdapterError, LateLibraryError
from specdist.audit.tables import Chance

REPLAYS = 2000
"""How many random runs in a row the tree has to predict."""
DELTA = 1e-6
"""The probability with which the bound may be wrong."""
ROUNDS = 200
"""How many mispredicted runs mend the tree before the probe gives up."""


@dataclass
class Probed(Measured):
    """What a probe measured. ``bound`` is the total variation from the true law that is left open,
    with probability ``1 - delta``; ``replays`` are the runs that were predicted, ``runs`` all runs,
    and ``rounds`` the runs that mended the tree."""

    runs: int = 0
    rounds: int = 0


def bound_of(replays: int, delta: float) -> Fraction:
    """ln(1/delta)/n, and never more than 1."""
    return min(Fraction(1), Fraction(math.log(1 / delta)) / replays)


def probed(
    program: Program,
    budget: int,
    told: Told | None = None,
    replays: int = REPLAYS,
    delta: float = DELTA,
) -> Probed:
    """The law of an adapter as a black box. ``told`` hears of every run.

    Raises AdapterError for settings that bound nothing, an adapter that draws nothing or always
    raises, NotAFunctionError where equal answers do not give equal runs, RefusalError for what is
    no tree of intervals and races, and BudgetError for runs that draw without end. Beyond the
    budget of runs, or of corrections, all mass is unexplored, and a note says why.
    """
    if replays < 1 or not 0 < delta < 1:
        raise AdapterError(
            f"a probe with {replays} replays at delta {delta:g}",
            expected="at least one replay, and delta between 0 and 1",
        )
    with intercepted():
        try:
            with watched():
                return _probed(program, budget, told, replays, delta)
        except LateLibraryError:
            return probed(program, budget, told, replays, delta)


def _probed(program: Program, budget: int, told: Told | None, replays: int, delta: float) -> Probed:
    runs = Runs(program, budget, told)
    first = runs.run({}, scattered(0))
    runs.fresh(scattered(0))
    outcome = first.outcome
    assert isinstance(outcome, Outcome)
    if not first.questions:
        raise draws_nothing(outcome)
    try:
        explorer = Explorer(runs)
        found = Probed(bound=bound_of(replays, delta))
        found.rounds, found.replays = settle(explorer, replays, delta)
    except SpentError as spent:
        return _undecided(outcome, runs.count, spent)
    for leaf, mass in leaves_of(explorer.tree):
        assert isinstance(leaf, Outcome)
        found.add(leaf, mass)
    found.runs = runs.count
    if not found.emitted:
        raise always_raises(outcome)
    return found


def _undecided(outcome: Outcome, runs: int, spent: SpentError) -> Probed:
    found = Probed(unexplored=Fraction(1), runs=runs, asked=outcome.asked)
    found.notes = {f"undecided: {spent.message}; {spent.advice}"}
    return found


def settle(explorer: Explorer, replays: int, delta: float) -> tuple[int, int]:
    """Replays until the tree predicts enough runs in a row, mending it on the way: how often it
    was mended, and how many runs were replayed. Raises SpentError after too many rounds."""
    chance = Chance("replays")
    rounds = clean = total = 0
    while clean < needed(rounds + 1, replays, delta):
        trace = explorer.runs.fresh(faithful(chance), keep=False)
        way = walk(explorer.tree, trace)
        if way.near_tie:
            continue
        total += 1
        if way.predicts(trace):
            clean += 1
            continue
        clean = 0
        _require_function(explorer, trace)
        while not walk(explorer.tree, trace).predicts(trace):
            rounds += 1
            if rounds > ROUNDS:
                raise _never_clean(rounds)
            explorer.mend(trace)
    explorer.confirm()
    return rounds, total


def needed(tree: int, replays: int, delta: float) -> int:
    """The runs that the t-th tree has to predict: n (1 + ln(t (t + 1)) / ln(1/delta))."""
    return math.ceil(replays * (1 + math.log(tree * (tree + 1)) / math.log(1 / delta)))


def _require_function(explorer: Explorer, trace: Trace) -> None:
    """Makes a mispredicted run, and the sample that it was held to be like, once more."""
    explorer.runs.fresh(recorded(trace))
    place = walk(explorer.tree, trace).end.place
    explorer.runs.fresh(recorded(place.traces[0]))


def _never_clean(rounds: int) -> SpentError:
    return SpentError(
        f"replays still differ from what was found, after {rounds} corrections",
        expected="uniforms that are compared with numbers, and noise that is raced",
        advice="draw what is compared by itself (draw.categorical, draw.bernoulli), or see "
        "whether uniforms are compared with each other",
    )
