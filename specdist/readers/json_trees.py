"""The shape of a proposal in a JSON capture: a draft length or a tree, and how siblings are drawn.

``{"draft_length": 2}``, ``{"tree": {"children": [2, 1]}}`` (children by level) or ``{"tree":
{"parents": [-1, 0, 0]}}`` (the parent of every node, -1 for the root), with ``siblings``,
``duplicates`` and ``draft_tokens``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, get_args

from specdist.errors import CaptureError
from specdist.model.draft_tree import ROOT, DraftTree, Duplicates, Siblings
from specdist.readers.json_numbers import type_name
from specdist.readers.json_rows import RowReading, token_id
from specdist.readers.json_settings import object_at, unknown_key
from specdist.readers.naming import nearest, shorten
from specdist.readers.strict_json import join

NODE_LIMIT = 128
"""Draft tokens of one proposal. Engines draft up to 64; a few bytes of JSON ask for millions."""

DRAW_KEYS = ("siblings", "duplicates", "draft_tokens")
TREE_KEYS = ("draft_length", "tree", *DRAW_KEYS)

_CHILDREN = "children of every node by level, such as [2, 1]: two, each with one child"
_PARENTS = "the parent of every node, such as [-1, 0, 0]; -1 is the root"

Word = TypeVar("Word", Siblings, Duplicates)


def read_tree(step: dict[str, Any], path: str, size: int, rows: RowReading) -> DraftTree | None:
    """The shape of the proposal of a step; None where the step says nothing about it.

    Raises CaptureError with file and JSON path.
    """
    shape = _shape(step, path, rows.file)
    stated = [key for key in DRAW_KEYS if key in step]
    if shape is None:
        if stated:
            raise CaptureError(
                f"{stated[0]} without a shape of the proposal",
                place=rows.place(join(path, stated[0])),
                expected="draft_length or tree beside it",
            )
        return None
    siblings = _word(step, "siblings", get_args(Siblings), path, rows.file)
    duplicates = _word(step, "duplicates", get_args(Duplicates), path, rows.file)
    tokens = _tokens(step, siblings, shape, path, size, rows)
    return replace(
        shape,
        siblings=siblings or ("iid" if tokens is None else "given"),
        duplicates=duplicates or "separate",
        tokens=tokens,
    )


def nodes_of_levels(children: Iterable[int]) -> int:
    """The nodes of a tree with that many children by level; `NODE_LIMIT` + 1 for any more."""
    width, total = 1, 0
    for count in children:
        width *= count
        total += width
        if total > NODE_LIMIT:
            return NODE_LIMIT + 1
    return total


def _shape(step: dict[str, Any], path: str, file: str) -> DraftTree | None:
    if "draft_length" in step and "tree" in step:
        raise CaptureError(
            "draft_length and tree are given together",
            place=f"{file}, {path or 'top level'}",
            expected="one of them: a chain has a draft_length, everything else a tree",
        )
    if "draft_length" in step:
        length = step["draft_length"]
        where = f"{file}, {join(path, 'draft_length')}"
        _check_count("draft_length", length, where, "draft tokens, one after the other")
        _check_limit(length, where)
        return DraftTree.chain(length)
    if "tree" not in step:
        return None
    where = join(path, "tree")
    members = object_at(step["tree"], where, file)
    for key in members:
        if key not in ("children", "parents"):
            raise unknown_key(key, where, file, ("children", "parents"))
    if len(members) != 1:
        what = "children and parents are given together" if members else "the tree is empty"
        expected = f'"children", {_CHILDREN}; or "parents", {_PARENTS}'
        raise CaptureError(what, place=f"{file}, {where}", expected=expected)
    if "children" in members:
        return _levels(members["children"], f"{file}, {join(where, 'children')}")
    return _by_parents(members["parents"], f"{file}, {join(where, 'parents')}")


def _levels(children: Any, place: str) -> DraftTree:
    for level, count in enumerate(_list_of(children, place, _CHILDREN)):
        _check_count("the number of children", count, f"{place}[{level}]", "children of each node")
    _check_limit(nodes_of_levels(children), place)
    return DraftTree.levels(children)


def _by_parents(parents: Any, place: str) -> DraftTree:
    items = _list_of(parents, place, _PARENTS)
    _check_limit(len(items), place)
    for node, parent in enumerate(items):
        if type(parent) is not int:
            raise CaptureError(
                f"the parent of node {node} cannot be {type_name(parent)}",
                place=f"{place}[{node}]",
                expected=_PARENTS,
            )
        if not ROOT <= parent < len(items):
            raise CaptureError(
                f"node {node} has the parent {shorten(str(parent), 24)}, and there are "
                f"{len(items)} nodes",
                place=f"{place}[{node}]",
                expected=f"-1 for the root, or a node from 0 to {len(items) - 1}",
            )
    for node in range(len(items)):
        _check_reaches_root(node, items, place)
    for node, parent in enumerate(items):
        if parent > node:
            raise CaptureError(
                f"node {node} stands before its parent, node {parent}",
                place=f"{place}[{node}]",
                expected="parents before their children: a parent has the lower number",
                advice="number the nodes again, level by level",
            )
    return DraftTree(tuple(items))


def _check_reaches_root(node: int, parents: Sequence[int], place: str) -> None:
    path = [node]
    while (parent := parents[path[-1]]) != ROOT:
        if parent in path:
            cycle = " -> ".join(map(str, [*path[path.index(parent) :], parent]))
            message = f"node {node} never reaches the root: {shorten(cycle)} is a cycle"
            raise CaptureError(message, place=f"{place}[{node}]", expected=_PARENTS)
        path.append(parent)


def _list_of(value: Any, place: str, expected: str) -> list[Any]:
    if isinstance(value, list) and value:
        return value
    what = "empty" if value == [] else type_name(value)
    raise CaptureError(
        f"{place.rpartition('.')[2]} cannot be {what}", place=place, expected=expected
    )


def _check_count(what: str, count: Any, place: str, meaning: str) -> None:
    if type(count) is int and count >= 1:
        return
    shown = shorten(str(count), 24) if type(count) is int else type_name(count)
    raise CaptureError(
        f"{what} cannot be {shown}", place=place, expected=f"a whole number from 1: {meaning}"
    )


def _check_limit(nodes: int, place: str) -> None:
    if nodes > NODE_LIMIT:
        raise CaptureError(
            f"the proposal has more than {NODE_LIMIT} draft tokens",
            place=place,
            expected=f"at most {NODE_LIMIT} draft tokens in a proposal",
            advice="proposals are enumerated: a handful of draft tokens over a small vocabulary",
        )


def _word(
    step: dict[str, Any], key: str, words: tuple[Word, ...], path: str, file: str
) -> Word | None:
    if key not in step:
        return None
    value = step[key]
    for word in words:
        if value == word:
            return word
    known = isinstance(value, str)
    raise CaptureError(
        f"{key} cannot be {repr(shorten(value)) if known else type_name(value)}",
        place=f"{file}, {join(path, key)}",
        expected=", ".join(words),
        advice=nearest(value.replace("_", "-"), words) if known else "",
    )


def _tokens(
    step: dict[str, Any],
    siblings: Siblings | None,
    shape: DraftTree,
    path: str,
    size: int,
    rows: RowReading,
) -> tuple[int, ...] | None:
    """The tokens of siblings "given"; draft tokens without a word about siblings are given."""
    where = join(path, "draft_tokens")
    expected = f"a list of {shape.nodes} token ids, one for each node of the proposal"
    if "draft_tokens" not in step:
        if siblings == "given":
            message = 'siblings are "given", and there are no draft_tokens'
            raise CaptureError(message, place=rows.place(path or "top level"), expected=expected)
        return None
    if siblings not in (None, "given"):
        raise CaptureError(
            f"draft_tokens are given, and siblings are {siblings}",
            place=rows.place(where),
            expected='"siblings": "given" where the tokens are known, or no draft_tokens',
        )
    tokens = step["draft_tokens"]
    if not isinstance(tokens, list) or len(tokens) != shape.nodes:
        count = len(tokens) if isinstance(tokens, list) else 0
        found = f"has {count} tokens" if isinstance(tokens, list) else f"is {type_name(tokens)}"
        message = f"the proposal has {shape.nodes} nodes, draft_tokens {found}"
        raise CaptureError(message, place=rows.place(where), expected=expected)
    return tuple(token_id(token, f"{where}[{i}]", size, rows) for i, token in enumerate(tokens))
