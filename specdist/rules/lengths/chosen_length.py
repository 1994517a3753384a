"""A length rule with its parameters and tables, and the law of the lengths that it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from specdist.errors import CaptureError, SettingsError
from specdist.model.conditional import Prefix
from specdist.model.length import NO_TABLES, Blocks, Length, Lengths
from specdist.model.recipe import RecipeStep
from specdist.rules.joint.outcomes import Drafted, PrefixLaws
from specdist.rules.lengths.length_rule import LengthRule, Request
from specdist.rules.lengths.registry import read_length_rule

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class ChosenLength:
    """The length rule of a step, or of a batch, as it is used."""

    rule: LengthRule
    use: RecipeStep
    tables: Length

    @property
    def predictable(self) -> bool:
        """Whether, for any rows, every slot is decided by tokens that are verified before it: then
        the lengths are lossless wherever all draft tokens verified are (one order of revealing)."""
        if self.use.name != "scheduler":
            return self.rule.looks_at in ("past", "row")
        words = {key: self.use.word(key) for key in ("value", "scores", "ties")}
        known = words["scores"] != "own-probability" and words["ties"] != "reverse"
        return known and words["value"] != "global"


def chosen_length(text: str | None, tables: Length | None) -> ChosenLength | None:
    """The rule that ``text`` writes (an option), or else that of the capture, with its tables.

    None where neither says anything about lengths. Raises `SettingsError` for a rule that cannot
    be read, `CaptureError` for tables without a rule and for a rule without its tables.
    """
    known = NO_TABLES if tables is None else tables
    written = text or known.rule
    if written is None:
        if tables is None:
            return None
        raise CaptureError(
            "the tables of a length rule are given, and no rule",
            place=known.place,
            expected='"rule" beside them, or --length RULE',
        )
    try:
        rule, use = read_length_rule(written)
    except SettingsError as error:
        raise error.at("" if text else known.place) from None
    for name in ("profile", "blocks"):
        if name in rule.tables and not getattr(known, name):
            raise CaptureError(
                f"the length is {rule.name}, and the capture gives no such table",
                place=known.place,
                expected=f'"{name}" beside the rule',
            )
    return ChosenLength(rule, use, known)


def length_law(drafted: Drafted, laws: PrefixLaws, chosen: ChosenLength) -> Mapping[int, Fraction]:
    """``Pr(l = k | x)`` for the drafted chain, averaged over private randomness; positive entries
    of sum 1."""
    request = Request(laws, chosen.tables)
    law = lengths_law((drafted.tokens,), (request,), chosen)
    return {lengths[0]: mass for lengths, mass in law.items()}


def lengths_law(
    blocks: Blocks, requests: Sequence[Request], chosen: ChosenLength
) -> Mapping[Lengths, Fraction]:
    """``Pr(l_1 = k_1, l_2 = k_2, .. | x)``: the joint law of the lengths of all requests, given
    the tokens that were drafted for each. A rule that is not shared decides each by itself."""
    if chosen.rule.lengths is not None:
        try:
            law = chosen.rule.lengths(blocks, tuple(requests), chosen.tables, chosen.use)
        except SettingsError as error:
            raise error.at(chosen.tables.place) from None
        return {lengths: mass for lengths, mass in law.items() if mass}
    joint: dict[Lengths, Fraction] = {(): _ONE}
    for block, request in zip(blocks, requests, strict=True):
        single = _token_by_token(block, request, chosen)
        joint = {
            (*lengths, length): mass * share
            for lengths, mass in joint.items()
            for length, share in single.items()
        }
    return joint


def chances_after(
    prefix: Prefix, tokens: tuple[int, ...], request: Request, chosen: ChosenLength
) -> tuple[Fraction, ...]:
    """``Pr(l >= k | l >= k - 1, x_1 .. x_k)`` for some tokens x_k, of a rule that decides token
    after token."""
    if chosen.rule.chances is None:
        raise ValueError(f"{chosen.rule.name} decides over whole blocks")
    return chosen.rule.chances(prefix, tokens, request, chosen.use)


def _token_by_token(block: Prefix, request: Request, chosen: ChosenLength) -> dict[int, Fraction]:
    law: dict[int, Fraction] = {}
    reached = _ONE
    for index, token in enumerate(block):
        (chance,) = chances_after(block[:index], (token,), request, chosen)
        if chance < 1:
            law[index] = reached * (1 - chance)
        reached *= chance
        if not reached:
            return law
    law[len(block)] = reached
    return law
