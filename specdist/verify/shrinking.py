"""The smallest set of tokens on which a position still goes wrong in the same way.

All rows of the position are cut to a few tokens: probabilities are normalised again, logits stay.
Then the whole position is done again, recipes and rule included, and must differ under the same
ident. Positions whose settings name token ids, a history or a map are not cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from specdist.errors import SpecdistError
from specdist.model.capture import Position
from specdist.model.role import Role
from specdist.model.row import (
    FloatValues,
    Kind,
    ListedValues,
    NumberFormat,
    PointMass,
    RationalValues,
    Row,
    Stage,
)
from specdist.verify.position import Checked
from specdist.verify.position_check import PositionCheck

TRIALS = 32
"""Positions that are tried at most, and"""
_OF_ONE_SIZE = 8
"""how many to look for a clearer one of the same size."""

_CONFIRMED = 3
CLEAR = Fraction(1, 100)
"""A total variation that needs no larger one to show the point."""

_LIKELIEST = 10
_FIRST_PAIRS = 6
_ID_STEPS = ("allowed", "banned", "logit-bias", "vocab-map", "vocab-size", "retokenise")
_ID_RULES = ("judge", "thresholds")
_ID_KEEPS = ("tokens", "only")

Named = Callable[[Checked], str]
"""The ident of a position that differs."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A position cut to a few tokens (their ids), checked again."""

    tokens: tuple[int, ...]
    check: PositionCheck


def shrunk(check: PositionCheck, ident: str, guessed: Named, named: Named) -> Shrunk | None:
    """The smallest cut of a position that differs under ``ident``; None where there is none, or
    where its settings leave no token out. ``guessed`` names a trial quickly, ``named`` for sure."""
    if _names_tokens(check):
        return None
    search = _Search(check, ident, guessed)
    likely = _most_different(check.checked)
    whole = search.tried(likely)
    for tokens in _small_sets(likely, patient=whole is not None):
        if search.is_over(len(tokens)):
            break
        search.tried(tokens)
    if whole is not None and search.found[-1:] == [whole]:
        search.greedily(whole, likely)
    ranked = sorted(search.found, key=_rank, reverse=True)[:_CONFIRMED]
    return next((one for one in ranked if named(one.check.checked) == ident), None)


def all_typed(check: PositionCheck, ident: str, named: Named) -> Shrunk | None:
    """The whole position with its numbers as they would be typed, where it then differs too."""
    if _names_tokens(check):
        return None
    tokens = tuple(range(check.position.target.size))
    return _Search(check, ident, named).tried(tokens)


class _Search:
    def __init__(self, check: PositionCheck, ident: str, named: Named) -> None:
        self._check, self._ident, self._named = check, ident, named
        self._trials = 0
        self.found: list[Shrunk] = []

    def is_over(self, size: int) -> bool:
        """Whether sets of ``size`` tokens need not be tried any more."""
        smallest = min((len(one.tokens) for one in self.found), default=size)
        of_size = [one for one in self.found if len(one.tokens) == size]
        clear = any(_size(one) >= CLEAR for one in of_size)
        enough = bool(of_size) and self._trials > _OF_ONE_SIZE
        return self._trials >= TRIALS or smallest < size or clear or enough

    def tried(self, tokens: Sequence[int]) -> Shrunk | None:
        """The position cut to ``tokens``, if it still differs under the ident."""
        self._trials += 1
        check = self._check
        position = cut(check.position, sorted(tokens), check.plan.numerics.unnormalised)
        if position is None:
            return None
        step = replace(check.step, positions=(position,), draft_tokens=None, vocab=None)
        try:
            again = PositionCheck(step, position, check.plan, check.settings, False).run()
        except SpecdistError:
            return None
        clear = again.checked.result.verdict is check.checked.result.verdict
        sure = not again.found.close_cuts and again.checked.other_reading is None
        if not (clear and sure) or self._named(again.checked) != self._ident:
            return None
        self.found.append(Shrunk(tuple(sorted(tokens)), again))
        return self.found[-1]

    def greedily(self, found: Shrunk, order: Sequence[int]) -> None:
        """Leaves out token after token, the last of ``order`` first, while it still differs."""
        for token in reversed(order):
            rest = [kept for kept in found.tokens if kept != token]
            if len(rest) > 1 and self._trials < TRIALS:
                found = self.tried(rest) or found


def cut(position: Position, tokens: Sequence[int], unnormalised: bool) -> Position | None:
    """A position over some of its tokens, in the order given; None where a row would be empty."""
    sides = [_cut_row(row, tokens, unnormalised) for row in (position.target, position.draft)]
    roles: dict[Role, str | Row] = {}
    for role, entry in position.roles.items():
        kept = _cut_row(entry, tokens, unnormalised) if isinstance(entry, Row) else entry
        if kept is None:
            return None
        roles[role] = kept
    given: dict[str, tuple[Fraction, ...]] = {}
    for name, row in position.given.items():
        values = _cut_given(name, row, tokens)
        if values is None:
            return None
        given[name] = values
    target, draft = sides
    if target is None or draft is None:
        return None
    return replace(
        position,
        index=0,
        target=target,
        draft=draft,
        draft_token=None,
        roles=roles,
        keep=None if position.keep is None else tuple(position.keep[token] for token in tokens),
        given=given,
    )


def _cut_row(row: Row, tokens: Sequence[int], unnormalised: bool) -> Row | None:
    if isinstance(row.values, PointMass):
        if row.values.token not in tokens:
            return None
        return replace(row, values=PointMass(tokens.index(row.values.token), len(tokens)))
    if isinstance(row.values, ListedValues):
        return None
    values = _values(row.values, tokens, row)
    if all(value is None for value in values):
        return None
    kind = row.kind
    if kind is Kind.LOGPROBS:
        kind = Kind.LOGITS  # a part of a log-law is no log-law, and has the same softmax
    if kind is Kind.PROBABILITIES:
        total = sum((value or Fraction(0) for value in values), Fraction(0))
        if not total:
            return None
        if not unnormalised:
            values = [(value or Fraction(0)) / total for value in values]
    return Row(RationalValues(tuple(values)), kind, Stage.RAW, NumberFormat.DECIMAL, row.place)


def _values(
    values: RationalValues | FloatValues, tokens: Sequence[int], row: Row
) -> list[Fraction | None]:
    if isinstance(values, RationalValues):
        return [values.values[token] for token in tokens]
    from specdist.processing.float_weights import float64_values

    numbers = float64_values(row)[list(tokens)].tolist()
    return [None if number == float("-inf") else Fraction(number) for number in numbers]


def _cut_given(
    name: str, row: tuple[Fraction, ...], tokens: Sequence[int]
) -> tuple[Fraction, ...] | None:
    values = tuple(row[token] for token in tokens)
    total = sum(values, Fraction(0))
    if name != "recovery" or not any(row):
        return values
    return tuple(value / total for value in values) if total else None


def _rank(found: Shrunk) -> tuple[int, Fraction]:
    """Fewer tokens first, and of one size the largest total variation."""
    return -len(found.tokens), _size(found)


def _size(found: Shrunk) -> Fraction:
    return found.check.checked.comparison.total_variation


def _most_different(checked: Checked) -> tuple[int, ...]:
    """The tokens that matter most, largest difference first, then the likeliest ones."""
    chosen = checked.comparison.difference.largest(_LIKELIEST)
    return tuple(dict.fromkeys(chosen))


def _small_sets(likely: Sequence[int], patient: bool) -> Iterator[tuple[int, ...]]:
    """Pairs, then triples, and so on; a few pairs only where all of them together show nothing."""
    if not patient:
        yield from list(combinations(likely, 2))[:_FIRST_PAIRS]
        return
    for size in range(2, len(likely)):
        yield from combinations(likely, size)


def _names_tokens(check: PositionCheck) -> bool:
    """Whether the settings speak of single tokens, or of what is outside the rows."""
    plan, numerics = check.plan, check.plan.numerics
    recipes = " ".join(use.recipe for use in check.checked.result.roles)
    if any(name in recipes for name in (*_ID_STEPS, "penalty", "min-tokens", "lazy-allowed")):
        return True
    keep = None if plan.proposal is None else plan.proposal.keep
    if keep is not None and keep.name in _ID_KEEPS:
        return True
    named = numerics.empty_residual.how == "token" and numerics.empty_residual.token >= 0
    return named or plan.use.name in _ID_RULES or check.found.close_cuts != ()
