"""The names of rules over proposals, known without loading any: most checks need none of them."""

from __future__ import annotations

NAMES: dict[str, tuple[str, ...]] = {
    "token-chain": (),
    "block": (),
    "window": (),
    "rrs": ("recursive-rejection", "specinfer"),
    "k-seq": ("spectr",),
    "sample-and-compare": ("nss",),
    "target-only": ("siblings",),
    "greedy-drafts": (),
    "spechub": (),
    "traversal": (),
}
"""Every rule with its aliases, in the order of the registry."""


def canonical(name: str) -> str:
    """The name as it is listed: underscores are read as hyphens."""
    return name.strip().replace("_", "-")


def is_joint(text: str) -> bool:
    """Whether the name in ``name[:value][:option=value...]`` is a rule over proposals."""
    written = canonical(text.partition(":")[0])
    return any(written == name or written in aliases for name, aliases in NAMES.items())
