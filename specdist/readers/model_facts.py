"""What ``inspect`` says of steps over conditional models."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.capture import Step
from specdist.model.conditional import ConditionalRows, Models
from specdist.model.draft_tree import ROOT, DraftTree

NO_SHAPE = "not given; --draft-length or --tree says it"


def model_facts(steps: Sequence[Step]) -> list[tuple[str, str]]:
    """How many steps have models, and what the first of them holds."""
    first = steps[0].models
    if first is None:
        raise ValueError("the step has no models")
    several = [("the first of them", steps[0].id)] if len(steps) > 1 else []
    return [
        ("steps over models", str(len(steps))),
        *several,
        ("vocabulary size", str(first.size)),
        *_tables(first),
        *shape_facts(steps[0].tree),
    ]


def shape_facts(tree: DraftTree | None) -> list[tuple[str, str]]:
    """Draft length or tree, and how siblings are drawn."""
    if tree is None:
        return [("proposal", NO_SHAPE)]
    found = [("proposal", tree.shape)]
    if tree.is_chain:
        found.append(("draft length", str(tree.depth)))
    else:
        found.append(("tree", ", ".join(_children(tree))))
        found += [("siblings", tree.siblings), ("duplicates", tree.duplicates)]
    if tree.tokens is not None:
        found.append(("draft tokens", ", ".join(map(str, tree.tokens))))
    return found


def _children(tree: DraftTree) -> list[str]:
    nodes = [node for node in range(ROOT, tree.nodes) if tree.children(node)]
    names = {node: "the root" if node == ROOT else f"node {node}" for node in nodes}
    shown = [f"{len(tree.children(node))} under {names[node]}" for node in nodes[:6]]
    more = len(nodes) - len(shown)
    return [*shown, f"{more} more"] if more > 0 else shown


def _tables(models: Models) -> list[tuple[str, str]]:
    drafts = models.drafts
    named = [("draft", drafts[0])] if len(drafts) == 1 else []
    if len(drafts) > 1:
        named = [(f"draft, rank {rank}", table) for rank, table in enumerate(drafts)]
    drafters = [("drafters", f"{len(drafts)}, one for each rank")] if len(drafts) > 1 else []
    roles = [(f"role {role.value}", table) for role, table in models.roles.items()]
    tables = [("target", models.target), *named, *roles]
    return [*drafters, *((f"rows of {name}", rows_text(table)) for name, table in tables)]


def rows_text(table: ConditionalRows) -> str:
    """``4 prefixes, 2 last tokens, a default row``."""
    parts = [
        f"{count} {one if count == 1 else many}"
        for count, one, many in (
            (len(table.rows), "prefix", "prefixes"),
            (len(table.after), "last token", "last tokens"),
        )
        if count
    ]
    if table.default is not None:
        parts.append("a default row" if parts else "one row, whatever the prefix")
    return ", ".join(parts)
