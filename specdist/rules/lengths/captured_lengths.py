"""Lengths that a capture brings as a table.

Law. ``profile``: Pr(l >= k | x_1 .. x_n) is the captured number of x_1 .. x_k, which never rises
along a block. ``blocks``: the law of l (of all lengths of a batch) is the captured one of what was
drafted, found by whole blocks or else by the longest captured start of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

from specdist.errors import CaptureError
from specdist.model.conditional import Prefix, written_prefix
from specdist.model.length import Blocks, Length, Lengths
from specdist.model.recipe import RecipeStep
from specdist.rules.lengths.length_rule import LengthRule, Request

_ZERO, _ONE = Fraction(0), Fraction(1)


def _profile(
    prefix: Prefix, tokens: tuple[int, ...], request: Request, use: RecipeStep
) -> tuple[Fraction, ...]:
    before = _captured(prefix, request.tables) if prefix else _start(request.tables)
    if not before:
        return (_ZERO,) * len(tokens)
    return tuple(_chance((*prefix, token), before, request.tables) for token in tokens)


def _start(tables: Length) -> Fraction:
    start = tables.profile.get((), _ONE)
    if start != 1:
        raise CaptureError(
            f'the profile is {start} for the prefix ""',
            place=tables.place,
            expected="1, or no entry: no draft token needs to be verified to reach the start",
        )
    return start


def _chance(prefix: Prefix, before: Fraction, tables: Length) -> Fraction:
    found = _captured(prefix, tables)
    if found > before:
        raise CaptureError(
            f"the prefix {written_prefix(prefix)} is verified with probability {found}, its "
            f"start with {before}",
            place=tables.place,
            expected="probabilities that do not rise along a drafted block",
            advice='a length that looks ahead is written by whole blocks: "blocks"',
        )
    return found / before


def _captured(prefix: Prefix, tables: Length) -> Fraction:
    found = tables.profile.get(prefix)
    if found is None:
        raise CaptureError(
            f"no entry of the profile for the prefix {written_prefix(prefix)}",
            place=tables.place,
            expected="the probability that it is verified, for every prefix that can be drafted",
        )
    return found


def _by_blocks(
    blocks: Blocks, requests: tuple[Request, ...], tables: Length, use: RecipeStep
) -> Mapping[Lengths, Fraction]:
    found = next((tables.blocks[key] for key in _starts(blocks) if key in tables.blocks), None)
    if found is None:
        raise CaptureError(
            f"no length for the drafted tokens {' | '.join(map(written_prefix, blocks))}",
            place=tables.place,
            expected="a length for every block that can be drafted, or for a start of it",
        )
    law: dict[Lengths, Fraction] = {}
    for lengths, mass in found.items():
        if any(length > len(block) for length, block in zip(lengths, blocks, strict=True)):
            raise CaptureError(
                f"length {','.join(map(str, lengths))} for the drafted tokens "
                + " | ".join(map(written_prefix, blocks)),
                place=tables.place,
                expected="at most the number of drafted tokens",
            )
        law[lengths] = law.get(lengths, _ZERO) + mass
    return law


def _starts(blocks: Blocks) -> Iterator[Blocks]:
    """The blocks, then what is shorter, the last request first."""
    choices = ([block[:end] for end in range(len(block), -1, -1)] for block in blocks)
    return product(*choices)


PROFILE = LengthRule(
    "profile",
    "",
    "token",
    "the captured probability that a drafted prefix is verified to its end",
    chances=_profile,
    tables=("profile",),
)
BLOCKS = LengthRule(
    "blocks",
    "",
    "block",
    "the captured length of every drafted block",
    lengths=_by_blocks,
    tables=("blocks",),
    shared=True,
)
