"""A value of a parsed JSON document together with its path, for errors that name the place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specdist.errors import CaptureError
from specdist.readers.json_numbers import type_name
from specdist.readers.naming import shorten
from specdist.readers.strict_json import Literal, join

LARGEST_ID = 2**31 - 1
"""Engines keep token ids as int32."""


class Node:
    """One value of a document of ``file``; its path is put together only where it is needed."""

    __slots__ = ("_key", "_parent", "file", "value")

    def __init__(
        self, value: Any, file: str, parent: Node | None = None, key: str | int = ""
    ) -> None:
        self.value = value
        self.file = file
        self._parent = parent
        self._key = key

    @property
    def path(self) -> str:
        """The JSON path, such as ``choices[0].logprobs.content[3]``; empty at the top."""
        if self._parent is None:
            return str(self._key)
        above = self._parent.path
        return f"{above}[{self._key}]" if isinstance(self._key, int) else join(above, self._key)

    @property
    def place(self) -> str:
        """``FILE, PATH``."""
        path = self.path
        return f"{self.file}, {path}" if path else self.file

    def with_value(self, value: Any) -> Node:
        """The same place with another reading of what stands there."""
        return Node(value, self.file, self._parent, self._key)

    def error(self, message: str, expected: str = "", advice: str = "") -> CaptureError:
        """What is wrong with this value."""
        return CaptureError(message, place=self.place, expected=expected, advice=advice)

    def has(self, key: str) -> bool:
        """Whether this is an object with a member ``key`` that is not null."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def member(self, key: str) -> Node:
        """A member that must be there, and may be null. Raises CaptureError."""
        if not isinstance(self.value, dict):
            raise self.error(f"an object belongs here, not {type_name(self.value)}")
        if key not in self.value:
            raise self.error(f"there is no {key}", expected=f"the key {key}")
        return Node(self.value[key], self.file, self, key)

    def optional(self, key: str) -> Node | None:
        """A member, or None where it is missing or null. Raises CaptureError."""
        node = self.member(key) if key in self.fields() else None
        return None if node is None or node.value is None else node

    def fields(self) -> dict[str, Any]:
        """The members of an object. Raises CaptureError for anything else."""
        if not isinstance(self.value, dict):
            raise self.error(f"an object belongs here, not {type_name(self.value)}")
        return self.value

    def members(self) -> Iterator[tuple[str, Node]]:
        """Names and members of an object in the order of the file. Raises CaptureError."""
        return ((key, Node(value, self.file, self, key)) for key, value in self.fields().items())

    def items(self) -> list[Node]:
        """The items of an array. Raises CaptureError for anything else."""
        if not isinstance(self.value, list):
            raise self.error(f"an array belongs here, not {type_name(self.value)}")
        return [Node(value, self.file, self, i) for i, value in enumerate(self.value)]

    def text(self) -> str:
        """A text. Raises CaptureError for anything else."""
        if not isinstance(self.value, str) or isinstance(self.value, Literal):
            raise self.error(f"a text belongs here, not {type_name(self.value)}")
        return self.value

    def token_id(self) -> int:
        """A token id: a whole number from 0. Raises CaptureError for anything else."""
        if type(self.value) is not int:
            raise self.error(
                f"a token id cannot be {self._shown()}", expected="a whole number from 0"
            )
        if self.value < 0:
            raise self.error(f"token id {self._shown()} is negative", expected="ids from 0")
        if self.value > LARGEST_ID:
            raise self.error(
                f"token id {self._shown()} is larger than any vocabulary", expected="int32 ids"
            )
        return self.value

    def token_ids(self) -> tuple[int, ...]:
        """An array of token ids. Raises CaptureError."""
        return tuple(item.token_id() for item in self.items())

    def _shown(self) -> str:
        if isinstance(self.value, int | Literal) and not isinstance(self.value, bool):
            return shorten(str(self.value), 24)
        return type_name(self.value)


def same_length(*nodes: Node) -> None:
    """Arrays that stand beside each other. Raises CaptureError where one has another length."""
    first = nodes[0]
    for node in nodes[1:]:
        if len(node.items()) != len(first.items()):
            raise node.error(
                f"{len(node.items())} items beside the {len(first.items())} of {first.path}",
                expected="one item a position in both",
            )
