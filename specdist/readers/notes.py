"""Notes that readers put on steps."""

from __future__ import annotations

from specdist.model.finding import Finding, Severity

NOT_VERIFIED = Finding(
    "context-not-verified",
    Severity.NOTE,
    "context not verified: the two sides carry nothing that says which tokens they follow",
)


def processed_finding(sides: set[str]) -> Finding:
    """The warning for rows that were masked before they were captured."""
    who = " and ".join(sorted(sides, reverse=True))
    return Finding(
        "configuration-needed",
        Severity.WARNING,
        f"{who} rows hold -inf in a pattern of their own, so a mask was applied before capture; "
        "they are read as raw (assumed)",
        notes=("pass --stage processed, or --stage raw if the mask belongs to the model",),
    )
