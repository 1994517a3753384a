"""One table, walked: the exact law of what the adapter emits, and what its drafts were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.audit.interception import intercepted, watched
from specdist.audit.prefix_law import SequenceLaw
from specdist.audit.program import Outcome, Program
from specdist.audit.refusals import AdapterError, LateLibraryError, NotAFunctionError
from specdist.audit.tables import Law, Tokens
from specdist.audit.tree import Leaf, leaves, replayed

_ZERO, _ONE = Fraction(0), Fraction(1)
Told = Callable[[int], None]


@dataclass
class Measured:
    """``emitted`` is the law of whole outputs, ``raised`` that of exceptions by text and place
    after what was emitted; ``drafted`` the mass of every draft token by the prefix it was drawn
    after, where draft rows were handed to the test. ``unexplored`` is the mass that a budget left;
    ``asked`` whether rows of the table were asked for."""

    emitted: SequenceLaw = field(default_factory=dict)
    raised: dict[tuple[Tokens, str, str], Fraction] = field(default_factory=dict)
    drafted: dict[Tokens, dict[int, Fraction]] = field(default_factory=dict)
    leaves: int = 0
    replays: int = 0
    unexplored: Fraction = _ZERO
    bound: Fraction = _ZERO
    asked: bool = False
    grids: set[str] = field(default_factory=set)
    notes: set[str] = field(default_factory=set)

    def add(self, outcome: Outcome, mass: Fraction) -> None:
        """Takes one leaf."""
        self.leaves += 1
        self.grids |= outcome.grids
        self.notes |= outcome.notes
        self.asked |= outcome.asked
        if outcome.error:
            key = (outcome.tokens, outcome.error, outcome.place)
            self.raised[key] = self.raised.get(key, _ZERO) + mass
        else:
            self.emitted[outcome.tokens] = self.emitted.get(outcome.tokens, _ZERO) + mass
        for context, tokens, handed in outcome.proposals:
            for i, token in enumerate(tokens if handed else ()):
                row = self.drafted.setdefault(context + tokens[:i], {})
                row[token] = row.get(token, _ZERO) + mass

    @property
    def longest(self) -> int:
        """How many tokens the longest output has."""
        outputs = [*self.emitted, *(tokens for tokens, _, _ in self.raised)]
        return max(map(len, outputs), default=0)

    @property
    def lengths(self) -> set[int]:
        """How many tokens the outputs have."""
        return {len(tokens) for tokens in self.emitted}

    def draft_law(self, prefix: Tokens, vocab: int) -> Law:
        """The law that the draft token after a prefix was really drawn from."""
        row = self.drafted[prefix]
        total = sum(row.values(), _ZERO)
        return tuple(row.get(token, _ZERO) / total for token in range(vocab))


def measure(program: Program, budget: int, told: Told | None = None) -> Measured:
    """Walks every branch, or as many as ``budget`` says. ``told`` hears of every leaf.

    Raises AdapterError for an adapter that draws nothing or raises whatever is drawn, and
    NotAFunctionError where a run that is repeated comes to something else. A library that the
    audited code itself imports makes the walk begin anew, once it is loaded.
    """
    with intercepted():
        try:
            with watched():
                return _walk(program, budget, told)
        except LateLibraryError:
            return measure(program, budget, told)


def _walk(program: Program, budget: int, told: Told | None) -> Measured:
    found = Measured()
    kept: list[Leaf[Outcome]] = []
    found.unexplored = _ONE
    for leaf in leaves(program):
        if found.leaves == budget:
            break
        found.add(leaf.outcome, leaf.mass)
        found.unexplored -= leaf.mass
        last = leaf
        if found.leaves & (found.leaves - 1) == 0:
            kept.append(leaf)
        if told is not None:
            told(found.leaves)
    else:
        if found.unexplored:
            raise ArithmeticError(f"the masses of all leaves sum to {1 - found.unexplored}")
    if found.leaves == 1 and not last.outcome.draws:
        raise draws_nothing(last.outcome)
    if not found.emitted and not found.unexplored:
        raise always_raises(last.outcome)
    _replay(program, [*kept, last], found)
    return found


def _replay(program: Program, ends: list[Leaf[Outcome]], found: Measured) -> None:
    """Runs leaves once more: the first, second, fourth, eighth ... and the last."""
    for leaf in ends:
        found.replays += 1
        again = replayed(program, leaf)
        if again != leaf.outcome:
            raise NotAFunctionError(
                f"not a function of its draws: the same {len(leaf.answers)} answers gave "
                f"{_said(leaf.outcome)} and then {_said(again)}",
                expected="every run begins in the same state and draws through what is intercepted",
                advice="look for a generator that is not followed, or for state between runs",
            )


def draws_nothing(outcome: Outcome) -> AdapterError:
    """The error for an adapter whose only run asks for nothing."""
    if outcome.error:
        return always_raises(outcome)
    return AdapterError(
        "the adapter draws nothing that the audit can see",
        expected="draws through torch, numpy, random or specdist.audit.draw",
        advice="import the library at the top of the adapter's file; a sampler without random "
        "numbers has nothing to audit (temperature 0?)",
    )


def always_raises(outcome: Outcome) -> AdapterError:
    """The error for an adapter of which no run comes to its end."""
    message = f"the audited code raises whatever is drawn: {outcome.error}"
    said = {"place": outcome.place, "expected": "a step that returns its tokens"}
    if any(handed and not tokens for _, tokens, handed in outcome.proposals):
        said["advice"] = (
            "case.draft_rows() had no row, because it was told of no draft token: draw with "
            "draw.categorical(case.draft()), or call case.propose(tokens) after every token"
        )
    return AdapterError(message, **said)


def _said(outcome: Outcome) -> str:
    return outcome.error or f"tokens {list(outcome.tokens)}"
