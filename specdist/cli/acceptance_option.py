"""``--acceptance``: one number, one for each position, or kinds of contexts with their shares."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from specdist.cli.option_values import share
from specdist.cost.acceptance import Acceptances, Context
from specdist.cost.stated import MOST_BITS, MOST_LENGTH
from specdist.errors import SettingsError
from specdist.model.value_texts import shortened

_MOST_KINDS = 100
_LONGEST = 1000


def read_acceptances(name: str, texts: Sequence[str]) -> Acceptances:
    """Kinds of contexts from the texts of a repeatable option: ``4/5``, ``9/10,4/5,7/10``, or
    ``1/2:1`` and ``1/2:0`` where there are several kinds.

    Raises SettingsError for numbers outside [0, 1], shares that do not sum to 1, kinds over
    different numbers of positions, and numbers of so many digits that products grow too long.
    """
    if len(texts) > _MOST_KINDS:
        raise SettingsError(
            f"{name} is given {len(texts)} times", expected=f"at most {_MOST_KINDS} kinds"
        )
    contexts = tuple(_context(name, text, len(texts)) for text in texts)
    total = sum((context.share for context in contexts), Fraction(0))
    if total != 1:
        raise SettingsError(
            f"the shares of {name} sum to {shortened(str(total))}",
            expected="shares that sum to 1, as --acceptance 1/2:9/10 --acceptance 1/2:1/5",
        )
    lengths = sorted({len(context.acceptances) for context in contexts})
    if len(lengths) > 1:
        raise SettingsError(
            f"kinds of {name} have {lengths[0]} and {lengths[-1]} positions",
            expected="the same number of positions for every kind",
        )
    bits = sum(a.denominator.bit_length() for c in contexts for a in c.acceptances)
    if bits > MOST_BITS:
        raise SettingsError(
            f"the numbers of {name} have too many digits together",
            expected=f"denominators of at most {MOST_BITS} bits in all",
        )
    return Acceptances(contexts)


def _context(name: str, text: str, kinds: int) -> Context:
    written, colon, rest = text.rpartition(":")
    if kinds > 1 and not colon:
        raise SettingsError(
            f"{name}={shortened(text)} has no share, and there are {kinds} kinds",
            expected="SHARE:ACCEPTANCE for each, as 1/2:9/10",
        )
    parts = rest.split(",")
    if len(parts) > MOST_LENGTH:
        raise SettingsError(
            f"{name} has {len(parts)} positions", expected=f"at most {MOST_LENGTH} positions"
        )
    of_context = _number(f"share of {name}", written) if colon else Fraction(1)
    return Context(of_context, tuple(_number(name, part) for part in parts))


def _number(name: str, text: str) -> Fraction:
    if len(text) > _LONGEST:
        raise SettingsError(
            f"{name}={shortened(text)} has {len(text)} characters",
            expected=f"a number from 0 to 1 of at most {_LONGEST} characters",
        )
    return share(name, text.strip())
