"""One row of a list of tokens, over ids or over the labels that stand for tokens without ids."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

from specdist.errors import RowError
from specdist.model.row import FloatValues, Kind, ListedValues, NumberFormat, Stage
from specdist.readers.engine_files.engine_file import EngineRow, Label
from specdist.readers.engine_files.likeliest import Asked, split
from specdist.readers.engine_files.logprob_lists import (
    Entry,
    Ranking,
    TokenList,
    is_lossy,
    number_of,
    values_of,
)
from specdist.readers.engine_files.logprob_numbers import Absent
from specdist.readers.engine_files.ranked_checks import TokenValue
from specdist.readers.engine_files.ranked_list import (
    GPU_TERMS,
    RankedList,
    listed_values,
    sum_slack,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Values = FloatValues | ListedValues
Request = tuple[int, bool]
"""A sequence, and whether its rows were drawn from."""


class ListedRows:
    """Makes rows, and counts what happened to them.

    ``asked``: the k of merged lists by sequence, of rows that were drawn from (True) and rows of a
    prompt; ``size``: of the vocabulary, where known. ``closed`` rows list every possible token,
    ``partial`` ones do not.
    """

    def __init__(
        self, kind: Kind, stage: Stage, asked: Mapping[Request, Asked], size: int | None
    ) -> None:
        self.kind = kind
        self.stage = stage
        self.asked = asked
        self.size = size
        self.closed = self.partial = 0
        self.unordered = self.short = self.lossy = 0

    def row(self, found: TokenList) -> EngineRow:
        """The row of one position. Raises RowError where the list contradicts itself."""
        labels = _labels(found)
        values: Values | None = None
        if not found.refused:
            values = self._by_id(found) if labels is None else self._by_label(found, labels)
            if values is None:
                found.refused = "no listed text stands for one token only"
        if values is not None:
            partial = isinstance(values, ListedValues) and values.others != 0
            self.partial += partial
            self.closed += not partial
        return EngineRow(
            sequence=found.sequence,
            index=found.index,
            values=values,
            kind=self.kind,
            stage=self.stage if found.drawn else Stage.RAW,
            numbers=NumberFormat.FLOAT32,
            place=found.place,
            labels=labels,
            token=_token(found, labels),
            refused=found.refused,
        )

    def warnings(self) -> list[str]:
        """What of the lists had to be left aside."""
        told = []
        if self.unordered:
            told.append(
                f"{self.unordered} lists are in no falling order, or their ranks contradict their "
                "values: nothing bounds unlisted tokens one by one there"
            )
        if self.short:
            told.append(
                f"{self.short} lists are shorter than others: nothing bounds unlisted tokens one "
                "by one there"
            )
        if self.lossy:
            told.append(
                f"{self.lossy} entries show U+FFFD in place of bytes, or nothing: many tokens "
                "look the same, so they count as unlisted"
            )
        return told

    def _split(self, found: TokenList) -> tuple[list[Entry], list[Entry]]:
        asked = self.asked.get((found.sequence, found.drawn))
        ranked, more = split(found, asked)
        if not ranked and len(more) > 1 and found.ranking is not Ranking.UNKNOWN:
            short = asked is not None and len(found.entries) < asked.at_least
            self.short += short
            self.unordered += not short
        return ranked, more

    def _by_id(self, found: TokenList) -> Values:
        ranked, more = self._split(found)
        only = self._support(found, ranked)
        values = listed_values(
            RankedList(
                ranked=tuple(_pair(item) for item in ranked),
                more=tuple(_pair(item) for item in more),
                size=self.size,
                slack=self._slack(),
                half_width=Fraction(found.spread),
                only=only,
            ),
            self.kind,
            found.place,
        )
        if found.support is not None and isinstance(values, ListedValues) and ranked:
            least = values_of(ranked[-1:])[0]
            cap = None if least == -inf else Fraction(least) + values.half_width
            return replace(values, cap=cap)
        return values

    def _support(self, found: TokenList, ranked: Sequence[Entry]) -> tuple[int, ...] | None:
        """The only possible tokens: as told, or all that are listed where the least is 0."""
        listed = {item.token for item in found.entries if number_of(item) != -inf}
        if found.support is None:
            ends = bool(ranked) and number_of(ranked[-1]) == -inf
            return tuple(sorted(x for x in listed if isinstance(x, int))) if ends else None
        outside = sorted(map(str, listed - set(found.support)))
        if outside:
            raise RowError(
                f"token {outside[0]} has a probability, and is outside the sampling mask",
                place=found.place,
                expected="listed tokens inside the mask",
            )
        if ranked and number_of(ranked[-1]) == -inf and set(found.support) - listed:
            raise RowError(
                "the list ends at probability 0 before every token of the mask is listed",
                place=found.place,
                expected="the likeliest tokens first",
            )
        return found.support

    def _by_label(self, found: TokenList, labels: Sequence[Label]) -> ListedValues | None:
        """Entries whose label may stand for several tokens count as unlisted, so they raise the
        cap to their own value. None where no entry is left."""
        if self.size is not None and len(labels) > self.size:
            raise RowError(
                f"{len(labels)} tokens in a vocabulary of {self.size}",
                place=found.place,
                expected="--vocab-size of the model",
            )
        ranked, more = self._split(found)
        index = {label: i for i, label in enumerate(labels)}
        aside = [item for item in (*ranked, *more) if item.token not in index]
        self.lossy += len(aside)
        kept, rest = (
            [_indexed(x, index) for x in part if x.token in index] for part in (ranked, more)
        )
        if not kept and not rest:
            return None
        # A list with entries set aside is no list of the likeliest any more.
        values = listed_values(
            RankedList(
                ranked=() if aside else tuple(kept),
                more=(*kept, *rest) if aside else tuple(rest),
                size=self.size,
                slack=self._slack(),
                half_width=Fraction(found.spread),
            ),
            self.kind,
            found.place,
        )
        if isinstance(values, FloatValues):
            values = ListedValues(tuple(range(len(values))), values, len(values))
        if not aside:
            return values
        bound = max([*values_of(ranked[-1:]), *values_of(aside)])
        cap = Fraction(bound) + values.half_width if ranked and bound > -inf else None
        return replace(values, cap=cap)

    def _slack(self) -> Fraction:
        return Fraction(0) if self.kind is Kind.LOGITS else sum_slack(GPU_TERMS)


def _pair(item: Entry) -> TokenValue:
    if not isinstance(item.token, int) or isinstance(item.value, Absent):
        raise TypeError("an id and a number are needed")
    return TokenValue(item.token, item.value)


def _indexed(item: Entry, index: dict[Label, int]) -> TokenValue:
    if isinstance(item.token, int) or isinstance(item.value, Absent):
        raise TypeError("a label and a number are needed")
    return TokenValue(index[item.token], item.value)


def _labels(found: TokenList) -> tuple[Label, ...] | None:
    """The labels of a position that stand for one token, in its order; None where it has ids."""
    tokens = [item.token for item in found.entries]
    if found.sampled is not None and found.sampled not in tokens:
        tokens.append(found.sampled)
    labels = [token for token in tokens if not isinstance(token, int)]
    if len(labels) < len(tokens) or not tokens:
        return None
    return tuple(dict.fromkeys(label for label in labels if not is_lossy(label)))


def _token(found: TokenList, labels: tuple[Label, ...] | None) -> int | None:
    """The id of the token that stands there, or the index of its label."""
    if labels is None:
        return found.sampled if isinstance(found.sampled, int) else None
    return labels.index(found.sampled) if found.sampled in labels else None
