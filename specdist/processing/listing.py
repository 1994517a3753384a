"""The listed tokens of a row that is known in part, carried by a `WorkingRow`.

The carrier's own tokens are *entries*: entry x is the value of token x, or the lower end of what is
known of it; entry ``upper(x)`` is its upper end, where the two differ. A token with an upper entry
alone may be impossible. Entry ``CAP`` is the most that a token outside the list can have, where
something bounds it, and entry ``ANCHOR`` the largest value that was captured, which no step but a
temperature changes (until other values leave it far below): sums are told in units of its weight.
So every change of the values is made, and bounded, by the rows that complete captures are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from specdist.processing.boxes import Field, Group
from specdist.processing.spans import Span
from specdist.processing.working_row import WorkingRow

if TYPE_CHECKING:
    from specdist.exact.partial_law import PartialLaw

BASE = 1 << 40
CAP = 2 * BASE
ANCHOR = CAP + 1
ENTRIES = CAP + 2


def upper(token: int) -> int:
    """The entry of a token's upper end."""
    return BASE + token


class Sums(NamedTuple):
    """Sums of weights in units of the anchor's: of the sharp tokens, and of the lower and the upper
    ends of the others."""

    sharp: Span
    low: Fraction
    high: Fraction


class Read(NamedTuple):
    """The entries of a captured row, and the largest of its upper ends and its cap."""

    listing: Listing
    largest: Fraction


SumsOf = Callable[[], tuple[Span, Span]]


class Listing(Protocol):
    """A carrier and its entries. Weights are in units of the anchor's weight unless said."""

    @property
    def carrier(self) -> WorkingRow:
        """The row of all entries."""

    @property
    def sharp(self) -> bool:
        """Whether every listed token has one value."""

    @property
    def lost(self) -> bool:
        """Whether the anchor is so far below the largest entry that its weight underflows."""

    def anchored(self) -> Self:
        """The listing with its largest entry as the anchor."""

    @property
    def cap(self) -> Fraction | None:
        """The most that a token outside the list can have; None: nothing bounds it."""

    def count(self) -> int:
        """How many tokens are listed and may be possible."""

    def tokens(self) -> set[int]:
        """Their ids."""

    def holds(self, token: int) -> bool:
        """Whether a token is listed and may be possible."""

    def box(self, token: int) -> tuple[Span, Span]:
        """The lower and the upper end of a listed token, each as rounded outwards; (0, ...) where
        it may be impossible."""

    def is_sharp(self, token: int) -> bool:
        """Whether a listed token has one value."""

    def sums(self) -> Sums:
        """The sums of the listed tokens."""

    def changed(self, carrier: WorkingRow) -> Self:
        """The listing with the same entries in another row."""

    def powers(self, after: Self, group: tuple[int | None, Fraction] | None, total: Span,
               exponent: Fraction) -> Span:  # fmt: skip
        """The sum of all weights of ``after``, which is this listing at another temperature."""

    def with_upper(self, tokens: Iterable[int]) -> Self:
        """The listing with tokens that it does not hold, each from impossible up to the cap."""

    def doubled(self, tokens: Iterable[int]) -> Self:
        """The listing with an upper entry for each of these sharp tokens, of the same value."""

    def with_cap(self, most: Fraction) -> Self:
        """The listing with this weight as its cap."""

    def only(self, kept: Collection[int], undecided: Collection[int], cap: bool) -> Self:
        """The listing without any other token; undecided ones may be impossible. ``cap`` says
        whether a token outside the list is still possible."""

    def without(self, tokens: Collection[int]) -> Self:
        """The listing without these tokens."""

    def renamed(self, targets: Mapping[int, int]) -> Self:
        """The listing with other ids for all its tokens."""

    def floor(self, count: int) -> Fraction:
        """The ``count``-th largest lower end; 0 if there are fewer tokens."""

    def floor_of_mass(self, mass: Fraction) -> Fraction:
        """A weight such that the tokens with a lower end of at least that have this mass; or 0."""

    def field(self, group: Group | None, sums: SumsOf, floor: Fraction) -> Field:
        """The boxes that reach the weight ``floor``. The group comes without key and cap; ``sums``
        gives the sum of all weights and that of the group."""

    @property
    def field_unit(self) -> Span:
        """The weight of the anchor in the units of `field`."""

    def even(self, tokens: Collection[int], cap: bool) -> Self:
        """These tokens, each from impossible up to a weight of 1, which is the anchor's."""

    def whole(self, size: int) -> WorkingRow:
        """The row of the listed tokens alone, which have to be sharp, over ``size`` tokens."""

    def law(self, others: int | None, scale: Span, impossible: Sequence[int]) -> PartialLaw:
        """The weights as they stand, 0 for the ``impossible`` tokens; ``scale`` is the probability
        of an anchor's weight."""
