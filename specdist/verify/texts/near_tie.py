"""Whether a near-tie explains that two greedy runs part at a token.

The numbers are exact: a margin is the difference of two rationals, a spacing a power of two. One
rounding moves a number by at most one spacing of its format, so two tokens whose values are less
than a spacing apart can change places when a sum is rounded in another way.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from specdist.exact.spacing import is_on_grid, spacing
from specdist.model.row import Kind, NumberFormat
from specdist.model.texts import Given, Key, Match, Tells, TokenValues, Weighed

_SHAPE = {
    NumberFormat.BFLOAT16: (8, -126),
    NumberFormat.FLOAT16: (11, -14),
    NumberFormat.FLOAT32: (24, -126),
    NumberFormat.FLOAT64: (53, -1022),
}
"""Bits of precision, the leading one included, and the exponent of the smallest normal number."""
_FINEST, _COARSEST = NumberFormat.FLOAT32, NumberFormat.BFLOAT16
LARGEST_LOGIT = 256
"""Log-probabilities do not show how large the logits were: they are taken to be below this."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The format that the model computes in, and who says so; None where nobody does."""

    numbers: NumberFormat | None
    said_by: str = ""


def arithmetic_of(stated: NumberFormat | None, values: TokenValues) -> Arithmetic:
    """``--numbers``, else the format of logits that are stored in 16 bits. Wider ones are often
    converted, so they say nothing."""
    if stated is not None and stated in _SHAPE:
        return Arithmetic(stated, "--numbers")
    if values.kind is Kind.LOGITS and values.numbers in (
        NumberFormat.BFLOAT16,
        NumberFormat.FLOAT16,
    ):
        return Arithmetic(values.numbers, "the format of the values")
    return Arithmetic(None)


def spacing_of(numbers: NumberFormat, magnitude: Fraction) -> Fraction:
    """The distance of neighbouring numbers of a format at a magnitude."""
    return spacing(magnitude, *_SHAPE[numbers])


def weigh(
    source: str,
    values: TokenValues,
    emitted: Key,
    other: Key,
    stated: NumberFormat | None,
    greedy: bool,
) -> Weighed:
    """The token that a run emitted against the one that the other run has there, in the values of
    the first. ``greedy``: somebody says that both runs took the likeliest token."""
    ours, theirs = values.of(emitted), values.of(other)
    known = arithmetic_of(stated, values)
    told = _Telling(source, values, ours, theirs, known)
    if ours.value is None:
        word = "masked" if ours.masked else "not listed"
        says = f"the token that was emitted is {word} here"
        return told(Match.OPEN, says, tells=Tells.NOTHING)
    early = _not_greedy(told, ours.value, greedy)
    if early is not None:
        return early
    if theirs.masked:
        return told(Match.UNEXPLAINED, "the other token is masked here: no margin is so large")
    if theirs.value is None:
        return _unlisted(told, ours.value)
    if values.kind is Kind.PROBABILITIES and ours.value != theirs.value:
        says = "of probabilities only a tie can be told, and this is none"
        return told(Match.OPEN, says, tells=Tells.NOTHING)
    return _decided(told, ours.value, theirs.value)


@dataclass(frozen=True, slots=True)
class _Telling:
    """Puts a conclusion together with the numbers that it rests on."""

    source: str
    values: TokenValues
    ours: Given
    theirs: Given
    known: Arithmetic

    def __call__(
        self,
        match: Match,
        says: str,
        margin: Fraction | None = None,
        step: Fraction | None = None,
        numbers: NumberFormat | None = None,
        tells: Tells = Tells.MARGIN,
    ) -> Weighed:
        return Weighed(
            self.source,
            self.values.place,
            match,
            tells,
            says,
            self.values.kind.value,
            self.ours.value,
            self.theirs.value,
            margin,
            step,
            "" if numbers is None else numbers.value,
        )


def _not_greedy(told: _Telling, emitted: Fraction, greedy: bool) -> Weighed | None:
    """What follows where the emitted token is not among the likeliest of its row."""
    largest = told.values.largest
    if largest is None or largest <= emitted:
        return None
    numbers = told.known.numbers or _FINEST
    if largest - emitted < spacing_of(numbers, max(abs(largest), abs(emitted))):
        return None
    short = f"the emitted token is not the likeliest here, by {_text(largest - emitted)}"
    if greedy:
        return told(Match.UNEXPLAINED, f"{short}, and the run is said to be greedy")
    return told(
        Match.OPEN,
        f"{short}: it was sampled, or the values were processed after these, or they are of "
        "another run; --temperature 0 says that both runs were greedy",
        tells=Tells.SAMPLED,
    )


def _unlisted(told: _Telling, emitted: Fraction) -> Weighed:
    cap = told.values.cap
    if cap is None:
        says = "the other token is not listed here, and nothing bounds its value"
        return told(Match.OPEN, says, tells=Tells.NOTHING)
    least = emitted - cap - told.values.half_width
    numbers = told.known.numbers or _COARSEST
    step = _widest_step(told, numbers, max(abs(emitted), abs(cap)))
    if least >= step:
        says = f"the other token is not listed: the margin is at least {_text(least)}, "
        says += f"{_times(least, step)} of {numbers.value}{_assumed(told)}"
        return told(Match.UNEXPLAINED, says, None, step, numbers)
    says = "the other token is not listed here, and may be a near-tie"
    return told(Match.OPEN, says, tells=Tells.NOTHING)


def _decided(told: _Telling, ours: Fraction, theirs: Fraction) -> Weighed:
    margin = abs(ours - theirs)
    doubt = 2 * told.values.half_width
    size = max(abs(ours), abs(theirs))
    if margin == 0:
        says = "a tie: the two values are equal, and which token wins is a convention"
        return told(Match.NEAR_TIE, says, margin)
    numbers = told.known.numbers
    fine = spacing_of(numbers or _FINEST, size)
    name = (numbers or _FINEST).value
    if margin + doubt < fine:
        says = f"margin {_text(margin)} is below the {name} spacing {_text(fine)} at {_text(size)}"
        return told(Match.NEAR_TIE, says, margin, fine, numbers or _FINEST)
    coarse = _widest_step(told, numbers or _COARSEST, size)
    widest = (numbers or _COARSEST).value
    if numbers is not None and margin == fine and _rounded(numbers, ours, theirs):
        says = f"margin {_text(margin)} is one step of {name}, and both values are rounded: before "
        says += "it they may have been tied, or two steps apart"
        return told(Match.OPEN, says, margin, fine, numbers)
    if margin - doubt >= coarse:
        says = f"margin {_text(margin)} is {_times(margin, coarse)} of {widest} "
        says += f"({_text(coarse)}){_assumed(told)}"
        return told(Match.UNEXPLAINED, says, margin, coarse, numbers or _COARSEST)
    return told(Match.OPEN, _in_between(told, margin, size), margin, fine, numbers)


def _in_between(told: _Telling, margin: Fraction, size: Fraction) -> str:
    """Why a margin above the finest spacing and below the widest one decides nothing."""
    numbers = told.known.numbers
    if numbers is None:
        kind = "" if told.values.kind is Kind.LOGITS else ", and how large the logits were"
        return (
            f"margin {_text(margin)}: a near-tie in bfloat16, none in float32; --numbers says in "
            f"which format the model computed{kind}"
        )
    if told.values.kind is Kind.LOGITS:
        return f"margin {_text(margin)} with rounded values: on either side of a spacing"
    least = Fraction(1)
    while spacing_of(numbers, least) <= margin:
        least *= 2
    return (
        f"margin {_text(margin)} is a near-tie in {numbers.value} where the logits were "
        f"{least} or more in size; log-probabilities do not show that"
    )


def _widest_step(told: _Telling, numbers: NumberFormat, size: Fraction) -> Fraction:
    """The spacing that a margin must reach to be no near-tie: that of the values where they are the
    logits, else that of the largest logits there may have been."""
    if told.values.kind is Kind.LOGITS:
        return spacing_of(numbers, size)
    return spacing_of(numbers, Fraction(LARGEST_LOGIT) * Fraction(255, 256))


def _assumed(told: _Telling) -> str:
    logits = told.values.kind is Kind.LOGITS
    unknown = ", the coarsest format in use" if told.known.numbers is None else ""
    return unknown if logits else f"{unknown}, for logits below {LARGEST_LOGIT} in size (assumed)"


def _rounded(numbers: NumberFormat, *values: Fraction) -> bool:
    return all(is_on_grid(value, *_SHAPE[numbers]) for value in values)


def _times(margin: Fraction, step: Fraction) -> str:
    """``19 spacings``; whole ones, rounded down."""
    count = margin // step
    about = "" if count * step == margin else "over "
    return f"{about}{count} spacing{'' if count == 1 else 's'}"


def _text(value: Fraction) -> str:
    """A decimal that is short where it is exact, else six digits."""
    return f"{float(value):.6g}"
