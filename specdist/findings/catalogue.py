"""The one list of idents: what can be found, how much it weighs, and in one line what it is.

An ident names the pattern that was found, so that ``--allow IDENT`` reads well. Every ident has a
page ``pages/IDENT.md``, which ``specdist explain IDENT`` prints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SeverityName = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One ident. ``severity`` is the weight of a finding unless its author says otherwise;
    ``later`` says that nothing in this version raises it yet."""

    ident: str
    severity: SeverityName
    summary: str
    later: bool = False


CATALOGUE: tuple[Entry, ...] = (
    Entry("output-mismatch", "error", "the output law differs from the reference"),
    Entry("drafted-mismatch", "error", "tested with another distribution than drafted from"),
    Entry("residual-mismatch", "error", "the residual subtracts another distribution than tested"),
    Entry("target-mismatch", "error", "acceptance test and residual use different targets"),
    Entry(
        "lossless-for-another-target",
        "error",
        "test and residual agree with each other, not with the reference",
    ),
    Entry("bonus-mismatch", "error", "the bonus token follows another law"),
    Entry("rule-mismatch", "error", "the decisions follow another acceptance rule"),
    Entry("support-hole", "error", "a token of the reference can never be emitted"),
    Entry("impossible-token", "error", "mass on a token that the reference forbids"),
    Entry(
        "impossible-acceptance", "error", "a token is accepted more often than the target allows"
    ),
    Entry("row-not-normalised", "error", "a probability row does not sum to one"),
    Entry("numeric-rounding", "note", "float rounding entered a number"),
    Entry("invalid-row", "error", "a row holds no distribution"),
    Entry("truncated-row", "warning", "a row holds only part of the vocabulary"),
    Entry("context-mismatch", "error", "target and draft saw different contexts"),
    Entry("context-not-verified", "note", "nothing shows that the contexts agree"),
    Entry("shifted-rows", "error", "rows of one side are off by one position"),
    Entry("wrong-decision", "error", "a recorded decision contradicts its random number"),
    Entry("recovered-outside-residual", "error", "a recovered token has no residual mass"),
    Entry("reused-randomness", "error", "one random number decided more than one thing"),
    Entry("off-grid-uniform", "warning", "a random number is not on the generator's grid"),
    Entry("metric-mismatch", "error", "a reported counter differs from its definition"),
    Entry("acceptance-below-floor", "error", "the acceptance rate misses its floor"),
    Entry("baseline-regression", "error", "a step is worse than in the baseline"),
    Entry("undecided-precision", "warning", "the verdict hangs on float rounding"),
    Entry("undecided-budget", "warning", "the time budget ran out first"),
    Entry("configuration-needed", "warning", "a setting is missing that decides"),
    Entry("unreadable-capture", "error", "a file cannot be read as a capture"),
    Entry("lossy-by-design", "warning", "the rule is not meant to preserve the target"),
    Entry("anticipating-length-rule", "error", "the draft length depends on what comes after it"),
    Entry("near-cut", "note", "a truncation cut falls within float32 rounding"),
    Entry("invalid-input", "error", "an input cannot be used", later=True),
    Entry("invalid-settings", "error", "an option, a recipe or a key is invalid"),
    Entry("missing-extra", "error", "an optional dependency is not installed"),
)


def idents() -> tuple[str, ...]:
    """Every ident, in catalogue order."""
    return tuple(entry.ident for entry in CATALOGUE)


FOUND = (
    "output-mismatch",
    "drafted-mismatch",
    "residual-mismatch",
    "target-mismatch",
    "lossless-for-another-target",
    "lossy-by-design",
    "anticipating-length-rule",
    "reused-randomness",
    "numeric-rounding",
    "rule-mismatch",
    "impossible-token",
    "impossible-acceptance",
    "support-hole",
    "bonus-mismatch",
    "wrong-decision",
    "recovered-outside-residual",
    "shifted-rows",
    "off-grid-uniform",
    "context-mismatch",
    "acceptance-below-floor",
    "baseline-regression",
    "metric-mismatch",
    "configuration-needed",
    "undecided-precision",
    "undecided-budget",
    "truncated-row",
    "invalid-row",
    "row-not-normalised",
    "near-cut",
    "context-not-verified",
)
"""The idents that findings of this version carry: what ``--allow`` can refer to."""


def find(ident: str) -> Entry | None:
    """The entry of an ident; None when there is none."""
    return next((entry for entry in CATALOGUE if entry.ident == ident), None)


def page(ident: str) -> str | None:
    """The Markdown page of an ident; None when there is no such ident."""
    from importlib.resources import files

    resource = files("specdist.findings").joinpath("pages", f"{ident}.md")
    return resource.read_text(encoding="utf-8") if resource.is_file() else None
