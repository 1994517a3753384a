"""Recorded outputs compared one by one, and what the comparison comes to.

It is about these texts and these runs. Where a first differing token has values, it is weighed;
what follows a first difference is not compared, for it has another context.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from specdist import __version__
from specdist.errors import CaptureError
from specdist.model.row import NumberFormat
from specdist.model.texts import (
    Difference,
    Match,
    Output,
    OutputPair,
    Recorded,
    Tells,
    TextsReport,
    Weighed,
)
from specdist.verify.texts.excerpts import character_excerpt, first_difference, token_excerpt
from specdist.verify.texts.near_tie import weigh
from specdist.verify.texts.sampling import all_greedy, sampled

SCOPE = (
    "this shows one run of each: identical texts prove no law, and other texts refute none",
    "nothing is said of other prompts, seeds or batches, of scores on a data set, or of speed",
)
PARTED = "behind a first difference the contexts differ, so nothing there was compared"
_WORST_FIRST = (Match.UNEXPLAINED, Match.OPEN, Match.NEAR_TIE, Match.IDENTICAL)
_CUT = frozenset({"length", "limit", "max_tokens", "MAX_TOKENS", "max_length"})

TextOf = Callable[[int], str | None]


def compare_texts(
    first: Recorded,
    second: Recorded,
    *,
    temperature: Fraction | None = None,
    numbers: NumberFormat | None = None,
    text_of: TextOf = lambda token: None,
    settings: Mapping[str, str],
) -> TextsReport:
    """The report. ``temperature`` is what the command line says; None: what the files say. Raises
    CaptureError where the outputs are no pairs."""
    if len(first.outputs) != len(second.outputs):
        raise _not_as_many(first, second)
    sampling = sampled((first, second), temperature)
    greedy = sampling == "" and (temperature == 0 or all_greedy((first, second)))
    judge = _Judge((first.source, second.source), numbers, greedy, sampling, text_of)
    pairs = tuple(
        _compared(index, ours, theirs, judge)
        for index, (ours, theirs) in enumerate(zip(first.outputs, second.outputs, strict=True))
    )
    counts = Counter(pair.match for pair in pairs)
    return TextsReport(
        version=__version__,
        sources=(first.source, second.source),
        forms=(first.form, second.form),
        match=_overall(pairs),
        pairs=pairs,
        counts={match: counts[match] for match in (*_WORST_FIRST, Match.EMPTY)},
        sampling=sampling or ("greedy (stated)" if greedy else "not stated"),
        notes=tuple(f"{side.source}: {side.remark}" for side in (first, second) if side.remark),
        scope=(*SCOPE, PARTED) if any(pair.difference for pair in pairs) else SCOPE,
        settings=settings,
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    """What is the same for every pair of a run."""

    sources: tuple[str, str]
    numbers: NumberFormat | None
    greedy: bool
    sampling: str
    text_of: TextOf

    def weighed(self, ours: Output, theirs: Output, index: int) -> tuple[Weighed, ...]:
        """The two tokens in the values of each run that has any."""
        sides = ((ours, theirs, self.sources[0]), (theirs, ours, self.sources[1]))
        found = []
        for one, other, source in sides:
            values = one.values_at(index)
            if values is not None and one.keys is not None and other.keys is not None:
                keys = one.keys[index], other.keys[index]
                found.append(weigh(source, values, *keys, self.numbers, self.greedy))
        return tuple(found)


def _compared(index: int, ours: Output, theirs: Output, judge: _Judge) -> OutputPair:
    if ours.prompt is not None and theirs.prompt is not None:
        _check_prompts(ours, theirs)
    by_token = _comparable(ours, theirs)
    if by_token:
        return _by_token(index, ours, theirs, judge)
    if ours.text is None or theirs.text is None:
        raise CaptureError(
            f"{ours.place} has {_has(ours)}, and {theirs.place} has {_has(theirs)}",
            place=theirs.place,
            expected="texts in both, or tokens in both",
        )
    return _by_character(index, ours, theirs, judge)


def _by_token(index: int, ours: Output, theirs: Output, judge: _Judge) -> OutputPair:
    left, right = ours.keys or (), theirs.keys or ()
    at = first_difference(left, right)
    places, lengths = (ours.place, theirs.place), (len(left), len(right))
    if at is None:
        if ours.text is not None and theirs.text is not None and ours.text != theirs.text:
            pair = _by_character(index, ours, theirs, judge)
            says = "the tokens are the same, the texts are not: they were decoded in another way"
            return _with_reason(pair, says)
        match = Match.IDENTICAL if left else Match.EMPTY
        return OutputPair(index, places, match, "token", len(left), lengths)
    ended = at >= min(lengths)
    # Runs that drew need no margin: a difference proves nothing, whatever it is.
    weighed = () if ended or judge.sampling else judge.weighed(ours, theirs, at)
    match, reason = _judged(weighed, judge)
    if ended:
        match, reason = Match.OPEN, _ends(ours, theirs)
    sides = (token_excerpt(left, at, judge.text_of), token_excerpt(right, at, judge.text_of))
    notes = ["the decoded texts are the same"] if ours.text and ours.text == theirs.text else []
    found = Difference(at, *sides, weighed, reason)
    return OutputPair(index, places, match, "token", at, lengths, found, tuple(notes))


def _by_character(index: int, ours: Output, theirs: Output, judge: _Judge) -> OutputPair:
    left, right = ours.text or "", theirs.text or ""
    at = first_difference(left, right)
    places, lengths = (ours.place, theirs.place), (len(left), len(right))
    if at is None:
        match = Match.IDENTICAL if left else Match.EMPTY
        return OutputPair(index, places, match, "character", len(left), lengths)
    ended = at >= min(lengths)
    reason = _ends(ours, theirs) if ended else judge.sampling
    reason = reason or "no token ids in both files, so nothing tells how near the tokens were"
    notes = []
    if unicodedata.normalize("NFC", left) == unicodedata.normalize("NFC", right):
        notes.append("the same after Unicode normalisation (NFC)")
    if left.split() == right.split():
        notes.append("the same but for blank space")
    found = Difference(at, character_excerpt(left, at), character_excerpt(right, at), (), reason)
    return OutputPair(index, places, Match.OPEN, "character", at, lengths, found, tuple(notes))


def _judged(weighed: tuple[Weighed, ...], judge: _Judge) -> tuple[Match, str]:
    if judge.sampling:
        return Match.OPEN, judge.sampling
    if not weighed:
        return Match.OPEN, "no values at this position, so nothing tells how near the tokens were"
    if any(each.tells is Tells.SAMPLED for each in weighed):
        return Match.OPEN, ""
    margins = {each.match for each in weighed if each.tells is Tells.MARGIN}
    return next((match for match in _WORST_FIRST if match in margins), Match.OPEN), ""


def _overall(pairs: tuple[OutputPair, ...]) -> Match:
    found = {pair.match for pair in pairs}
    return next((match for match in _WORST_FIRST if match in found), Match.EMPTY)


def _comparable(ours: Output, theirs: Output) -> bool:
    """Whether both have tokens of one kind: ids, or bytes."""
    if ours.keys is None or theirs.keys is None:
        return False
    kinds = {type(key) for key in (*ours.keys[:1], *theirs.keys[:1])}
    return len(kinds) <= 1


def _has(output: Output) -> str:
    return "a text and no tokens" if output.text is not None else "tokens and no text"


def _ends(ours: Output, theirs: Output) -> str:
    """Why one of two outputs that are the same so far may have ended."""
    left, right = len(ours.keys or ours.text or ""), len(theirs.keys or theirs.text or "")
    shorter, which = (ours, "first") if left < right else (theirs, "second")
    if shorter.finish in _CUT:
        return f"the {which} was cut at its limit ({shorter.finish}): the settings differ"
    told = f" ({shorter.finish})" if shorter.finish else ""
    return f"the {which} ends here{told}, and its end has no values to weigh"


def _with_reason(pair: OutputPair, reason: str) -> OutputPair:
    difference = pair.difference
    return (
        pair if difference is None else replace(pair, difference=replace(difference, reason=reason))
    )


def _check_prompts(ours: Output, theirs: Output) -> None:
    if type(ours.prompt) is type(theirs.prompt) and ours.prompt != theirs.prompt:
        raise CaptureError(
            f"this answers another prompt than {ours.place}",
            place=theirs.place,
            expected="outputs for one prompt, in one order",
        )


def _not_as_many(first: Recorded, second: Recorded) -> CaptureError:
    counts = [len(side.outputs) for side in (first, second)]
    return CaptureError(
        f"{counts[1]} output{'' if counts[1] == 1 else 's'}, and {first.source} holds {counts[0]}",
        place=second.source,
        expected="as many outputs in both files; they are paired by their order",
    )
