"""What a length rule is: how it is written, and which lengths it gives to drafted tokens.

A length l is how many tokens of a drafted chain are verified, from its start. The tokens behind
are dropped, and one token from `bonus_from` follows if all l are accepted. Private randomness is
averaged out: a rule is the law Pr(l = k | x_1 .. x_n), and never sees the coins of the test.
Source: theory of adaptive lengths, as in 2607.05147, appendix A.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from specdist.errors import CaptureError
from specdist.model.conditional import Prefix, written_prefix
from specdist.model.length import Blocks, Length, Lengths
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import Option
from specdist.model.value_texts import Reader
from specdist.rules.joint.outcomes import Law, PrefixLaws

LooksAt = Literal["past", "row", "token", "block"]


@dataclass(frozen=True, slots=True)
class Request:
    """One drafted chain: the laws of its models and the tables of its capture."""

    laws: PrefixLaws
    tables: Length


Chances = Callable[[Prefix, tuple[int, ...], Request, RecipeStep], tuple[Fraction, ...]]
"""For each of some tokens x_k that may be drafted after x_1 .. x_(k-1), Pr(l >= k | l >= k-1,
x_1 .. x_k), decided by a coin of its own. Raises `CaptureError` and `SettingsError`."""

LengthsLaw = Callable[[Blocks, tuple[Request, ...], Length, RecipeStep], Mapping[Lengths, Fraction]]
"""The law of the lengths of all requests, given what was drafted for each."""


@dataclass(frozen=True, slots=True)
class LengthRule:
    """One kind of length rule, written ``name[:value][:option=value...]``.

    It is either ``chances``, decided token after token, or ``lengths``, decided over whole blocks
    (and, with ``shared``, over all requests of a batch at once). ``looks_at`` tells what decides
    about x_k at most: "past" and "row" are known before it is drawn, "token" is x_k itself and
    "block" what follows it. ``tables`` are the members of `Length` that the rule reads.
    """

    name: str
    metavar: str
    looks_at: LooksAt
    summary: str
    chances: Chances | None = None
    lengths: LengthsLaw | None = None
    value: Reader | None = None
    options: tuple[Option, ...] = ()
    required: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    shared: bool = False


def draft_law(prefix: Prefix, laws: PrefixLaws) -> Law:
    """The draft probabilities that a score looks at: the tested ones (`accept_draft`), or those
    drawn from where the test is one-hot. The same as in keep rules of one position."""
    one_hot = Role.ACCEPT_DRAFT in laws.one_hot
    return laws.law(Role.DRAFTED_FROM if one_hot else Role.ACCEPT_DRAFT, prefix)


def confidence(prefix: Prefix, tables: Length) -> Fraction:
    """The captured c_k of the draft token after ``prefix``. Raises `CaptureError` without one."""
    found = tables.confidence.get(prefix, tables.otherwise)
    if found is None:
        raise CaptureError(
            f"no confidence for the prefix {written_prefix(prefix)}",
            place=tables.place,
            expected="a confidence for every prefix that can be drafted, or a default",
            advice='write "confidence": {"": "4/5", "0": "9/10", "default": "1/2"}',
        )
    return found
