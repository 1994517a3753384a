"""A step over conditional models as the members of a JSON capture, for a line to paste."""

from __future__ import annotations

from specdist.model.conditional import ConditionalRows, Models
from specdist.model.length import Length
from specdist.model.row import RationalValues, Row
from specdist.rules.lengths.chosen_length import ChosenLength
from specdist.verify.joint.joint_setup import JointSetup


def step_members(models: Models, setup: JointSetup) -> dict[str, object]:
    """Models, shape and length rule of a step whose rows are fractions."""
    drafts = [_written(table) for table in models.drafts]
    tables: dict[str, object] = {
        "target": _written(models.target),
        "draft": drafts[0] if len(drafts) == 1 else drafts,
    }
    tables |= {role.value: _written(table) for role, table in models.roles.items()}
    tree = setup.tree
    members: dict[str, object] = {"models": tables}
    if tree.is_chain:
        members["draft_length"] = tree.nodes
    else:
        members["tree"] = {"parents": list(tree.parents)}
    if tree.siblings != "iid":
        members["siblings"] = tree.siblings
    if tree.duplicates != "separate":
        members["duplicates"] = tree.duplicates
    if tree.tokens is not None:
        members["draft_tokens"] = list(tree.tokens)
    if setup.length is not None:
        members["length"] = length_member(setup.length)
    return members


def request_members(models: Models, setup: JointSetup, tables: Length) -> dict[str, object]:
    """One request of a batch, with the confidences that a schedule reads."""
    members = step_members(models, setup)
    known = _confidence(tables)
    return members | ({"confidence": known} if known else {})


def length_member(chosen: ChosenLength, shared: bool = False) -> object:
    """A length rule, or the ``shared`` schedule of a batch, with the tables that it reads."""
    tables, needed = chosen.tables, chosen.rule.tables
    found: dict[str, object] = {"rule": chosen.use.text}
    if "confidence" in needed and not shared:
        found["confidence"] = _confidence(tables)
    if "throughput" in needed and tables.throughput:
        found["throughput"] = {str(n): str(value) for n, value in tables.throughput.items()}
    if "previous" in needed and tables.previous:
        found["previous"] = [list(map(str, scores)) for scores in tables.previous]
    if "profile" in needed:
        found["profile"] = {_key(z): str(value) for z, value in tables.profile.items()}
    if "blocks" in needed:
        found["blocks"] = {
            "|".join(map(_key, drafted)): {_key(lengths): str(m) for lengths, m in law.items()}
            for drafted, law in tables.blocks.items()
        }
    return found["rule"] if len(found) == 1 else found


def _confidence(tables: Length) -> dict[str, str]:
    known = {_key(prefix): str(value) for prefix, value in tables.confidence.items()}
    return known | ({} if tables.otherwise is None else {"default": str(tables.otherwise)})


def _key(tokens: tuple[int, ...]) -> str:
    return ",".join(map(str, tokens))


def _written(table: ConditionalRows) -> object:
    if table.default is not None and not table.rows and not table.after:
        return _numbers(table.default)
    found: dict[str, object] = {}
    if table.rows:
        found["rows"] = {_key(z): _numbers(row) for z, row in table.rows.items()}
    if table.after:
        found["after"] = {str(token): _numbers(row) for token, row in table.after.items()}
    if table.default is not None:
        found["default"] = _numbers(table.default)
    return found


def _numbers(row: Row) -> list[str]:
    values = row.values
    if not isinstance(values, RationalValues):
        raise TypeError("only rows of fractions are typed")
    return ["-inf" if value is None else str(value) for value in values.values]
