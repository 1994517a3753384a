"""The options that model an engine's arithmetic, its dropped draft tokens and its draft ids."""

from __future__ import annotations

from specdist.cli.option import Option
from specdist.model.numerics import CHOICES

_NUMERIC = "Engine: numeric model"
_DROPPED = "Engine: dropped draft tokens"
_IDS = "Engine: draft ids"

_UNIFORM = "Random numbers of the test: real, or N (2^24) points k/N (:ends=zero|one|both|neither)."
_EMPTY = "Emitted where a residual is empty: ask, token:ID, last, target or none."
_KEEP = "Which draft tokens reach the test, as own-probability:3/10 (specdist explain keep)."
_MAP = "Target id of each draft id; the step vocab-map:given comes first on the draft side."
_FORM = "Entries are target ids, or offsets (target id = draft id + entry)."

NUMERICS: tuple[Option, ...] = (
    Option("uniform", _NUMERIC, _UNIFORM, "GRID", default="real"),
    Option(
        "inequality",
        _NUMERIC,
        "Accept where u < a, or where u <= a.",
        "TEST",
        choices=CHOICES["inequality"],
        default="strict",
    ),
    Option(
        "ratio",
        _NUMERIC,
        "Compare u with min(1, target/draft), or with target/draft itself.",
        "FORM",
        choices=CHOICES["ratio"],
        default="capped",
    ),
    Option("ratio-epsilon", _NUMERIC, "Ratio target/(draft + E).", "E"),
    Option("residual-floor", _NUMERIC, "Residual max(target - draft, F).", "F"),
    Option(
        "zero-draft",
        _NUMERIC,
        "Reading of target/0; accept-all accepts 0/0 too.",
        "DO",
        choices=CHOICES["zero-draft"],
        default="error",
    ),
    Option("empty-residual", _NUMERIC, _EMPTY, "WHAT", default="ask"),
    Option(
        "unnormalised",
        _NUMERIC,
        "Probability rows keep their own sum in test and residual; draws divide by it.",
        form="flag",
    ),
)

PROPOSAL: tuple[Option, ...] = (
    Option("keep", _DROPPED, _KEEP, "RULE"),
    Option(
        "dropped",
        _DROPPED,
        "Instead of a dropped token: target (default), redraw, redraw-N or residual.",
        "WHAT",
    ),
    Option(
        "proposal",
        _DROPPED,
        "Draft law in ratio and residual, as declared or of the kept tokens.",
        "LAW",
        choices=("declared", "effective"),
    ),
    Option(
        "keep-when",
        _DROPPED,
        "Drop draft tokens before their test, or accepted ones after it.",
        "WHEN",
        choices=("before", "after"),
    ),
)

DRAFT_IDS: tuple[Option, ...] = (
    Option("draft-map", _IDS, _MAP, "FILE[::NAME]", in_config=False),
    Option(
        "draft-map-form",
        _IDS,
        _FORM,
        "FORM",
        choices=("ids", "offsets"),
        in_config=False,
    ),
)

MODEL: tuple[Option, ...] = NUMERICS + PROPOSAL + DRAFT_IDS
