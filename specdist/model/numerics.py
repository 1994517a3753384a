"""How an engine computes the acceptance test and the residual, as data: promises nothing, models.

The texts are those of the command line and of presets; `read_numerics` turns them into values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.accept_test import AcceptTest, UniformGrid
from specdist.model.value_texts import (
    Interval,
    number_within,
    one_of,
    shortened,
    written_number,
)

_ZERO = Fraction(0)
_GRID = re.compile(
    r"(?:2\^([1-9]\d{0,2})|([1-9]\d{0,39}))(?::ends=(zero|one|both|neither))?", re.ASCII
)
_TOKEN = re.compile(r"token:(\d{1,12})", re.ASCII)
_ENDS = {
    "zero": (True, False),
    "one": (False, True),
    "both": (True, True),
    "neither": (False, False),
}

CHOICES: Mapping[str, tuple[str, ...]] = {
    "inequality": ("strict", "inclusive"),
    "ratio": ("capped", "uncapped"),
    "zero-draft": ("error", "accept", "reject", "accept-all"),
    "unnormalised": ("yes", "no"),
}
NAMES = ("uniform", *CHOICES, "ratio-epsilon", "residual-floor", "empty-residual")
"""The options of the numeric model, as they are written everywhere."""

_SHARE = number_within(Interval(low=_ZERO, high=Fraction(1)))


@dataclass(frozen=True, slots=True)
class EmptyResidual:
    """What is emitted when a rejection meets an empty residual.

    ``how``: "ask" (not stated), "token" (``token``, -1 the last of the vocabulary), "target" (a
    draw from `residual_target`) or "none" (no token: the engine stops or raises).
    """

    how: str = "ask"
    token: int = -1

    def check(self, size: int) -> None:
        """Raises SettingsError for a token outside a vocabulary of ``size`` tokens."""
        if self.how == "token" and self.token >= size:
            raise SettingsError(
                f"empty-residual=token:{self.token} is outside the vocabulary",
                expected=f"a token id from 0 to {size - 1}",
            )


@dataclass(frozen=True, slots=True)
class Numerics:
    """The numeric model of a verification step; the default is exact real arithmetic.

    ``residual_floor``: the residual is ``max(target - draft, floor)``. ``unnormalised``: rows
    enter test and residual with the sum they have, and draws divide by it.
    """

    grid: UniformGrid | None = None
    inclusive: bool = False
    capped: bool = True
    ratio_epsilon: Fraction = _ZERO
    residual_floor: Fraction = _ZERO
    zero_draft: str = "error"
    empty_residual: EmptyResidual = EmptyResidual()
    unnormalised: bool = False

    @property
    def ideal(self) -> bool:
        """Whether test and residual are computed in real arithmetic on whole laws."""
        return self.grid is None and not (
            self.ratio_epsilon or self.residual_floor or self.unnormalised
        )

    @property
    def whole_vocabulary(self) -> bool:
        """Whether tokens outside every law may be emitted."""
        return bool(self.residual_floor) or self.empty_residual.how == "token"

    def accept_test(self) -> AcceptTest:
        """The test of one drafted token. Where a zero draft is an error, it reads as reject."""
        zero = "reject" if self.zero_draft == "error" else self.zero_draft
        return AcceptTest(self.grid, self.inclusive, self.capped, self.ratio_epsilon, zero)


EXACT = Numerics()


def read_numerics(texts: Mapping[str, str]) -> Numerics:
    """The numeric model that option texts describe. Raises SettingsError with option and range."""
    given = [name for name in CHOICES if name in texts]
    chosen = {name: one_of(*CHOICES[name])(name, texts[name]) for name in given}
    return Numerics(
        grid=_grid(texts.get("uniform", "real")),
        inclusive=chosen.get("inequality") == "inclusive",
        capped=chosen.get("ratio") != "uncapped",
        ratio_epsilon=_share("ratio-epsilon", texts),
        residual_floor=_share("residual-floor", texts),
        zero_draft=str(chosen.get("zero-draft", "error")),
        empty_residual=_empty(texts.get("empty-residual", "ask")),
        unnormalised=chosen.get("unnormalised") == "yes",
    )


def _share(name: str, texts: Mapping[str, str]) -> Fraction:
    if name not in texts:
        return _ZERO
    value = _SHARE(name, texts[name])
    if not isinstance(value, Fraction):
        raise TypeError(f"{name} is no number")
    return value


def _grid(text: str) -> UniformGrid | None:
    written = text.strip()
    if written == "real":
        return None
    found = _GRID.fullmatch(written)
    if found is None:
        raise SettingsError(
            f"uniform={shortened(text)} is not a grid of random numbers",
            expected="real, or N or 2^BITS points, as 2^24 or 2^24:ends=one",
            advice="ends: zero (k/N, k from 0 to N-1), one (1 to N), both, neither",
        )
    points = 2 ** int(found[1]) if found[1] else int(found[2])
    zero, one = _ENDS[found[3] or "zero"]
    grid = UniformGrid(points, zero, one)
    if grid.last < grid.first:
        raise SettingsError(
            f"uniform={shortened(text)} has no point", expected="at least 2 for ends=neither"
        )
    return grid


def _empty(text: str) -> EmptyResidual:
    written = text.strip()
    if written in ("ask", "target", "none"):
        return EmptyResidual(written)
    if written == "last":
        return EmptyResidual("token", -1)
    found = _TOKEN.fullmatch(written)
    if found is None:
        raise SettingsError(
            f"empty-residual={shortened(text)} is not a choice",
            expected="ask, token:ID, last, target or none",
        )
    return EmptyResidual("token", int(found[1]))


def written_numerics(numerics: Numerics) -> dict[str, str]:
    """The option texts that `read_numerics` turns into ``numerics``; defaults are left out."""
    texts: dict[str, str] = {}
    if numerics.grid is not None:
        texts["uniform"] = _written_grid(numerics.grid)
    if numerics.inclusive:
        texts["inequality"] = "inclusive"
    if not numerics.capped:
        texts["ratio"] = "uncapped"
    if numerics.ratio_epsilon:
        texts["ratio-epsilon"] = written_number(numerics.ratio_epsilon)
    if numerics.residual_floor:
        texts["residual-floor"] = written_number(numerics.residual_floor)
    if numerics.zero_draft != "error":
        texts["zero-draft"] = numerics.zero_draft
    empty = numerics.empty_residual
    if empty.how == "token":
        texts["empty-residual"] = "last" if empty.token < 0 else f"token:{empty.token}"
    elif empty.how != "ask":
        texts["empty-residual"] = empty.how
    if numerics.unnormalised:
        texts["unnormalised"] = "yes"
    return texts


def _written_grid(grid: UniformGrid) -> str:
    ends = next(name for name, ends in _ENDS.items() if ends == (grid.zero, grid.one))
    power = grid.points.bit_length() - 1
    written = f"2^{power}" if grid.points == 1 << power and power > 9 else str(grid.points)
    return written if ends == "zero" else f"{written}:ends={ends}"
