"""The options that shape the proposals of steps over conditional models."""

from __future__ import annotations

from typing import Any, get_args

from specdist.cli import option_values as read
from specdist.cli.layers import Layered
from specdist.cli.option import Option
from specdist.errors import SettingsError
from specdist.model.draft_tree import DraftTree, Duplicates, Siblings

_PROPOSAL, _CHECK = "Engine: proposal", "Checking"
_TREE = "Children of every node by level, as 2,1: two draft tokens, each followed by one."
_SIBLINGS = "How the children of a node are drawn."
_DUPLICATES = "Siblings with the same token: nodes of their own, or one."
_TOKENS = "The drafted tokens, one a node: siblings given."
_LENGTH = "How many drafted tokens are verified, as stop-after:1/4 (specdist explain lengths)."
_HORIZON = "Compare outputs of K tokens (default: the longest path + 1)."
_OUTCOMES = "The most outcomes that an enumeration may list."

SHAPE: tuple[Option, ...] = (
    Option("draft-length", _PROPOSAL, "Draft N tokens, one after the other.", "N", in_config=False),
    Option("tree", _PROPOSAL, _TREE, "COUNTS", in_config=False),
    Option(
        "siblings",
        _PROPOSAL,
        _SIBLINGS,
        "MODE",
        choices=get_args(Siblings),
        in_config=False,
    ),
    Option(
        "duplicates",
        _PROPOSAL,
        _DUPLICATES,
        "MODE",
        choices=get_args(Duplicates),
        in_config=False,
    ),
    Option("draft-tokens", _PROPOSAL, _TOKENS, "IDS", in_config=False),
    Option("length", _PROPOSAL, _LENGTH, "RULE", in_config=False),
)

ENUMERATION: tuple[Option, ...] = (
    Option("horizon", _CHECK, _HORIZON, "K"),
    Option("max-outcomes", _CHECK, _OUTCOMES, "N", default="10000000"),
)
_LONGEST_OUTPUT = 1000


def shape_settings(chosen: Layered) -> dict[str, Any]:
    """The fields of `CheckSettings` about proposals. Raises SettingsError naming the option."""
    siblings = chosen.get("siblings", read.choice, get_args(Siblings))
    tokens = chosen.get("draft-tokens", _tokens)
    if tokens is not None and siblings not in (None, "given"):
        raise SettingsError(
            f"draft-tokens and siblings={siblings} are given together",
            expected="--siblings given where the tokens are known, or no --draft-tokens",
        )
    length, tree = chosen.get("draft-length", _chain), chosen.get("tree", _tree)
    if length is not None and tree is not None:
        raise SettingsError(
            "draft-length and tree are given together",
            expected="one of them: a chain has a --draft-length, everything else a --tree",
        )
    most = chosen.get("max-outcomes", read.whole, 1)
    found = {
        "tree": tree if length is None else length,
        "siblings": siblings if tokens is None else "given",
        "duplicates": chosen.get("duplicates", read.choice, get_args(Duplicates)),
        "draft_tokens": tokens,
        "length": chosen.get("length", _length),
        "horizon": chosen.get("horizon", _horizon),
    }
    return found if most is None else {**found, "max_outcomes": most}


def _chain(name: str, text: str) -> DraftTree:
    length = read.whole(name, text, 1)
    _check_limit(name, text, length)
    return DraftTree.chain(length)


def _tree(name: str, text: str) -> DraftTree:
    try:
        children = [read.whole(name, part, 1) for part in text.split(",")]
    except SettingsError as error:
        error.expected = "children of every node by level, as 2,1; whole numbers from 1"
        raise
    from specdist.readers.json_trees import nodes_of_levels

    _check_limit(name, text, nodes_of_levels(children))
    return DraftTree.levels(children)


def _length(name: str, text: str) -> str:
    from specdist.rules.lengths.registry import read_length_rule

    return read_length_rule(text)[1].text


def _check_limit(name: str, text: str, nodes: int) -> None:
    from specdist.readers.json_trees import NODE_LIMIT

    if nodes > NODE_LIMIT:
        raise SettingsError(
            f"{name}={text[:40]} drafts more than {NODE_LIMIT} tokens",
            expected=f"at most {NODE_LIMIT} draft tokens in a proposal",
        )


def _horizon(name: str, text: str) -> int:
    horizon = read.whole(name, text, 1)
    if horizon > _LONGEST_OUTPUT:
        raise SettingsError(
            f"{name}={text[:40]} is out of range",
            expected=f"a whole number from 1 to {_LONGEST_OUTPUT:,}",
            advice="what a step emits is no longer than its draft and one token",
        )
    return horizon


def _tokens(name: str, text: str) -> tuple[int, ...]:
    tokens = read.whole_list(name, text)
    if not tokens:
        raise SettingsError(f"{name} is empty", expected="a token id for each node, as 0,2")
    return tokens
