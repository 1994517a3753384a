"""Rows typed on the command line as constant models: the same rows after every prefix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from specdist.cli.typed_rows import SOURCE, typed_row
from specdist.errors import SettingsError
from specdist.model.capture import Capture, Step
from specdist.model.conditional import ConditionalRows, Models
from specdist.model.row import Row

if TYPE_CHECKING:
    from specdist.model.settings import CheckSettings

_OF_ONE_POSITION = {
    "draft-token": "--draft-tokens 0,2 names the token of every node",
    "accept": "the rule given is about one position",
    "recovery": "the rule given is about one position",
    "keep-row": "a keep rule holds at every position: --keep RULE",
}


def asks_for_models(checking: CheckSettings) -> bool:
    """Whether typed rows stand for models: a proposal has a shape, or the rule is over proposals.

    Raises SettingsError where a rule over proposals, or an option of them, lacks the shape.
    """
    from specdist.rules.joint.names import is_joint

    if checking.tree is not None:
        return True
    layers = (checking.overrides.rule, checking.defaults.rule)
    rule = next((text for text in layers if text is not None), None)
    asking = {
        "--siblings": checking.siblings,
        "--duplicates": checking.duplicates,
        "--draft-tokens": checking.draft_tokens,
        "--length": checking.length,
        "--horizon": checking.horizon,
        f"rule {rule}": checking.user_rule or (rule is not None and is_joint(rule)) or None,
    }
    for name, value in asking.items():
        if value is not None:
            raise SettingsError(
                f"{name} is about whole proposals, and nothing says how many tokens are drafted",
                expected="--draft-length N, or --tree COUNTS as 2,1",
            )
    return False


def typed_models(texts: Mapping[str, str]) -> Capture:
    """The capture of one step whose models have the typed rows after every prefix."""
    for name, advice in _OF_ONE_POSITION.items():
        if name in texts:
            raise SettingsError(
                f"--{name} is about one position, and whole proposals are drafted here",
                expected=f"no --{name}, or neither --draft-length nor --tree",
                advice=advice,
            )
    rows = {side: _needed(side, texts) for side in ("target", "draft")}
    if rows["target"].size != rows["draft"].size:
        raise SettingsError(
            f"the target row has {rows['target'].size} tokens, the draft row {rows['draft'].size}",
            place=SOURCE,
            expected="rows over one vocabulary",
        )
    tables = {side: ConditionalRows(row.place, default=row) for side, row in rows.items()}
    step = Step("0", SOURCE, (), models=Models(tables["target"], (tables["draft"],)))

    def steps() -> Iterator[Step]:
        yield step

    return Capture(SOURCE, "typed rows", steps, step_count=1)


def _needed(side: str, texts: Mapping[str, str]) -> Row:
    row = typed_row(side, texts)
    if row is None:
        raise SettingsError(
            f"no {side} row is given",
            expected=f"--{side}, --{side}-logits or --{side}-logprobs, or a FILE",
            advice="specdist what-if --target 1/2,3/10,1/5 --draft 1/5,1/2,3/10 --draft-length 2",
        )
    return row
