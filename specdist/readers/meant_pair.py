"""Two files named as two captures that were meant as the two sides of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shlex import quote

from specdist.model.capture import Unreadable


def meant_as_pair(sources: Sequence[str], one_sided: Callable[[str], bool]) -> Unreadable | None:
    """The complaint that names the right options, when both sources hold one side only."""
    if len(sources) != 2 or not all(one_sided(source) for source in sources):
        return None
    target, draft = sources
    if "draft" in target and "draft" not in draft:
        target, draft = draft, target
    return Unreadable(
        " ".join(sources),
        "each of these holds one side, a capture has two",
        " and ".join(sources),
        "captures, or the two sides of one",
        f"did you mean --target {quote(target)} --draft {quote(draft)}?",
    )
