"""Steps over conditional models and captured paths in the JSON report, under their field names."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from specdist.model.figure import Figure
from specdist.model.joint_report import JointResult, PathResult
from specdist.reports.json_numbers import Object, number


def joint_to_json(joint: JointResult | None, exact: bool) -> Object | None:
    """The member ``joint`` of a step: null where it has rows of positions."""
    return None if joint is None else _members(joint, exact)


def path_to_json(path: PathResult | None, exact: bool) -> Object | None:
    """The member ``path`` of a step: null but for a captured block under block verification."""
    return None if path is None else _members(path, exact)


def _members(node: object, exact: bool) -> Object:
    if not is_dataclass(node) or isinstance(node, type):
        raise TypeError(f"no dataclass: {type(node).__name__}")
    return {field.name: _plain(getattr(node, field.name), exact) for field in fields(node)}


def _plain(value: object, exact: bool) -> Any:
    if isinstance(value, Figure):
        return number(value, exact)
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return _members(value, exact)
    if isinstance(value, tuple):
        return [_plain(item, exact) for item in value]
    return value
