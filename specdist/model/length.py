"""How many drafted tokens are verified, as a capture says it: a length rule and its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.model.conditional import Prefix

Blocks = tuple[Prefix, ...]
"""The drafted tokens of every request of a batch; of a single step, one prefix."""

Lengths = tuple[int, ...]
"""How many tokens of each are verified."""


@dataclass(frozen=True, slots=True)
class Length:
    """A length rule as it is written, and the tables that a capture gives it.

    ``rule`` is ``name[:value][:option=value...]``, None where the capture brings tables only.
    ``confidence`` holds c_k by the prefix x_1 .. x_(k-1) that it is known from, ``otherwise`` that
    of every other prefix. ``throughput`` holds steps per unit of time by the number of tokens in
    the batch, ``previous`` the survival scores of each request in the step before. ``profile``
    holds Pr(length >= k | x_1 .. x_k) by that prefix, ``blocks`` the law of the lengths by what was
    drafted (by whole blocks, or by their starts).
    """

    rule: str | None = None
    confidence: Mapping[Prefix, Fraction] = field(default_factory=dict)
    otherwise: Fraction | None = None
    throughput: Mapping[int, Fraction] = field(default_factory=dict)
    previous: tuple[tuple[Fraction, ...], ...] = ()
    profile: Mapping[Prefix, Fraction] = field(default_factory=dict)
    blocks: Mapping[Blocks, Mapping[Lengths, Fraction]] = field(default_factory=dict)
    place: str = ""


NO_TABLES = Length()
"""A rule of the command line where the capture says nothing about lengths."""
