"""The fields of a recorded step: names, types, lengths and ranges, each checked.

Two spellings are read. The canonical one has ``context``, ``drafted``, ``accepted``, ``emitted``;
the other, of a wrapped block verifier, has ``context_len``, ``draft_ids``, ``n_accepted``,
``last_token``. Numbers with a fraction are the float64 nearest to what is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from specdist.errors import CaptureError
from specdist.readers.json_numbers import NumberError, number, type_name
from specdist.readers.naming import nearest, shorten
from specdist.readers.strict_json import Literal

ALIASES = {
    "draft_ids": "drafted",
    "u": "u_accept",
    "p_of_draft": "p_drafted",
    "q_of_draft": "q_drafted",
    "last_token": "final_token",
}
OF_TRANSFORMERS = ("n_matches", "valid_tokens", "candidate_length", "draft_ids", "q_of_draft")
"""Fields that only a wrapped transformers verifier writes."""
FIELDS = (
    "sequence", "step", "prompt_len", "context", "context_len", "drafted", "proposed",
    "candidate_length", "u_draft", "u_accept", "u_final", "accepted", "n_accepted", "n_matches",
    "final_kind", "final_token", "final_law_support", "valid_tokens", "emitted", "next_context",
    "draft_rows", "target_rows", "p_drafted", "q_drafted", "target", "draft",
)  # fmt: skip
TOKEN_LIMIT = 1 << 31


class Fields:
    """The members of one line. ``size`` is the vocabulary size, None where nobody says it."""

    def __init__(self, value: Any, place: str, size: int | None) -> None:
        if not isinstance(value, dict):
            raise CaptureError(
                f"this line is {type_name(value)}", place=place, expected="an object: one step"
            )
        self.place, self._size = place, size
        self.members = _renamed(value, place)

    def __contains__(self, name: str) -> bool:
        return self.members.get(name) is not None

    def require(self, *names: str) -> None:
        """Raises CaptureError unless one of the fields is there."""
        if not any(name in self for name in names):
            raise CaptureError(
                f"the field {' or '.join(names)} is missing",
                place=self.place,
                expected="what was drafted, decided and emitted, as "
                "drafted, accepted (or n_accepted) and emitted",
            )

    def whole(self, name: str, least: int = 0) -> int | None:
        """A whole number of at least ``least``."""
        value = self.members.get(name)
        if value is None:
            return None
        if type(value) is not int or value < least or value > TOKEN_LIMIT:
            raise self.wrong(name, value, f"a whole number from {least}")
        return value

    def tokens(self, name: str) -> tuple[int, ...] | None:
        """Token ids inside the vocabulary."""
        found = self._list(name, "a list of token ids")
        return None if found is None else tuple(self._token(name, item) for item in found)

    def token(self, name: str) -> int | None:
        """One token id inside the vocabulary."""
        value = self.members.get(name)
        return None if value is None else self._token(name, value)

    def rows(self, name: str) -> tuple[int, ...] | None:
        """Row numbers."""
        found = self._list(name, "a list of row numbers")
        for item in found or ():
            if type(item) is not int or item < 0:
                raise self.wrong(name, item, "row numbers from 0")
        return None if found is None else tuple(found)

    def decisions(self, name: str) -> tuple[bool, ...] | None:
        """True or false, also written 1 and 0."""
        found = self._list(name, "a list of true and false")
        for item in found or ():
            if type(item) is not bool and not (type(item) is int and item in (0, 1)):
                raise self.wrong(name, item, "true or false")
        return None if found is None else tuple(map(bool, found))

    def uniforms(self, name: str) -> tuple[Fraction, ...] | None:
        """Numbers in [0, 1)."""
        found = self._list(name, "a list of numbers")
        return None if found is None else tuple(self._uniform(name, item) for item in found)

    def uniform(self, name: str) -> Fraction | None:
        """One number in [0, 1)."""
        value = self.members.get(name)
        return None if value is None else self._uniform(name, value)

    def probabilities(self, name: str) -> tuple[Fraction, ...] | None:
        """Numbers from 0 to 1."""
        found = self._list(name, "a list of probabilities")
        if found is None:
            return None
        numbers = tuple(self._number(name, item) for item in found)
        for item, value in zip(found, numbers, strict=True):
            if not 0 <= value <= 1:
                raise self._outside(name, item, "probabilities from 0 to 1")
        return numbers

    def text(self, name: str, choices: tuple[str, ...]) -> str | None:
        """One of the ``choices``."""
        value = self.members.get(name)
        if value is not None and value not in choices:
            shown = repr(shorten(value)) if type(value) is str else type_name(value)
            raise CaptureError(
                f"{name} is {shown}", place=self.place, expected=" or ".join(choices)
            )
        return value

    def wrong(self, name: str, value: Any, expected: str) -> CaptureError:
        """The error for a member that is something else."""
        shown = shorten(str(value), 24) if type(value) is int else type_name(value)
        return CaptureError(f"{name} holds {shown}", place=self.place, expected=expected)

    def _list(self, name: str, expected: str) -> list[Any] | None:
        value = self.members.get(name)
        if value is not None and not isinstance(value, list):
            raise CaptureError(f"{name} is {type_name(value)}", place=self.place, expected=expected)
        return value

    def _token(self, name: str, value: Any) -> int:
        if type(value) is not int:
            raise self.wrong(name, value, "token ids")
        if value < 0 or value >= (self._size or TOKEN_LIMIT):
            raise CaptureError(
                f"{name} holds token {shorten(str(value), 24)}, outside the vocabulary",
                place=self.place,
                expected=f"token ids from 0 to {self._size - 1}"
                if self._size
                else "token ids from 0",
            )
        return value

    def _uniform(self, name: str, item: Any) -> Fraction:
        value = self._number(name, item)
        if not 0 <= value < 1:
            raise self._outside(name, item, "uniforms in [0, 1): 0 is allowed, 1 is not")
        return value

    def _number(self, name: str, item: Any) -> Fraction:
        try:
            value = number(item)
        except NumberError as error:
            raise CaptureError(f"{name}: {error}", place=self.place, expected="numbers") from None
        if value is None:
            raise CaptureError(f"{name} holds -inf", place=self.place, expected="numbers")
        near = isinstance(item, Literal) and abs(value) <= 2
        return Fraction(float(item)) if near else value

    def _outside(self, name: str, item: Any, expected: str) -> CaptureError:
        return CaptureError(
            f"{name} holds {shorten(str(item), 24)}", place=self.place, expected=expected
        )


def _renamed(value: Mapping[str, Any], place: str) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, item in value.items():
        name = ALIASES.get(key, key)
        if name not in FIELDS:
            raise CaptureError(
                f"unknown field {shorten(key)!r}",
                place=place,
                expected="the fields of a recorded step",
                advice=nearest(key, (*FIELDS, *ALIASES)),
            )
        if name in members:
            raise CaptureError(
                f"{name} and {key} are one field, given twice", place=place, expected="one of them"
            )
        members[name] = item
    return members
