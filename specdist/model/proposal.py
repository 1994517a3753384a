"""Which drafted tokens are verified, and what becomes of the others, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specdist.errors import SettingsError
from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import count_from, one_of, shortened

MOST_REDRAWS = 100
"""More than any engine draws; the powers of what is dropped stay short."""
NAMES = ("keep", "dropped", "proposal", "keep-when")
"""The options of an effective proposal, as they are written everywhere."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """How draft tokens reach the test.

    ``keep`` is the keep rule as written, None where the capture gives keep probabilities by token.
    ``dropped``: "target" (the position is sampled from `bonus_from`), "residual" (as if rejected)
    or "redraw"; ``redraws`` is None for redrawing until a token is kept. ``effective``: test and
    residual use the law of the tokens that reach the test, not the declared draft.
    ``after_test``: it is an accepted token that is dropped, and redrawn from the target.
    """

    keep: RecipeStep | None
    dropped: str = "target"
    redraws: int | None = None
    effective: bool = False
    after_test: bool = False


def read_proposal(keep: RecipeStep | None, texts: Mapping[str, str]) -> Proposal:
    """The proposal that option texts describe. Raises SettingsError for what does not fit."""
    dropped, redraws = _dropped(texts.get("dropped", "target"))
    proposal = one_of("declared", "effective")("proposal", texts.get("proposal", "declared"))
    when = one_of("before", "after")("keep-when", texts.get("keep-when", "before"))
    if when == "after" and (dropped != "target" or proposal == "effective"):
        raise SettingsError(
            "a token dropped after its test is redrawn from the target",
            expected="--dropped target and --proposal declared with --keep-when after",
        )
    return Proposal(keep, dropped, redraws, proposal == "effective", when == "after")


def _dropped(text: str) -> tuple[str, int | None]:
    written = text.strip()
    if written in ("target", "residual", "redraw"):
        return written, None
    if written.startswith("redraw-"):
        count = count_from(1)("dropped", written.removeprefix("redraw-"))
        if isinstance(count, int) and count <= MOST_REDRAWS:
            return "redraw", count
        raise SettingsError(
            f"dropped={shortened(text)} is out of range",
            expected=f"at most {MOST_REDRAWS} redraws",
            advice="--dropped redraw draws until a token is kept",
        )
    raise SettingsError(
        f"dropped={shortened(text)} is not a choice",
        expected="target, residual, redraw or redraw-N with N at least 1",
    )
