"""What a step of an adapter returned, and what it raised, as things to report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from specdist.audit.refusals import AdapterError, AuditError
from specdist.audit.tables import Tokens

_MOST = 100_000
"""Tokens of one step. More come from an iterator that does not end."""
_UNORDERED = (str, bytes, bytearray, dict, set, frozenset)


def tokens_of(answer: Any, vocab: int) -> Tokens:
    """The tokens of one step. Raises AdapterError for anything else."""
    tokens = tuple(_token(item, vocab) for item in _items(answer))
    if not tokens:
        raise AdapterError(
            "the adapter returned no token",
            expected="at least one token a step: a speculative step always emits one",
        )
    if len(tokens) > _MOST:
        raise AdapterError(
            f"the adapter returned more than {_MOST} tokens for one step",
            expected="a list of token ids, the tokens that one step emits",
            advice="return a list; an iterator that does not end is none",
        )
    return tokens


def _items(answer: Any) -> Iterator[Any]:
    listed = _plain(answer, "tolist")
    if isinstance(listed, int) and not isinstance(listed, bool):
        listed = [listed]
    if not isinstance(listed, Iterable) or isinstance(listed, _UNORDERED):
        raise AdapterError(
            f"the adapter returned {type(answer).__name__}, no tokens",
            expected="a list of token ids, the tokens that one step emits",
        )
    return islice(listed, _MOST + 1)


def _token(item: Any, vocab: int) -> int:
    token = _plain(item, "item")
    if isinstance(token, bool) or not isinstance(token, int):
        nested = isinstance(token, list | tuple)
        raise AdapterError(
            f"the adapter returned {shown(item)} for a token",
            expected="whole ids, in one flat list",
            advice="return the row of this one sequence, as output[0].tolist()" if nested else "",
        )
    if not 0 <= token < vocab:
        raise AdapterError(
            f"the adapter returned token {shown(token)}, outside the vocabulary",
            expected=f"ids 0 to {vocab - 1}",
            advice="leave padding out, and map the tokens of the engine to those of the table",
        )
    return int(token)


def _plain(value: Any, method: str) -> Any:
    """What an array holds, by its own method; anything else as it is."""
    if isinstance(value, type) or not hasattr(value, method):
        return value
    try:
        return getattr(value, method)()
    except AuditError:
        raise
    except Exception as error:
        raise AdapterError(
            f"the adapter returned {type(value).__name__}, whose values cannot be read: "
            f"{said_by(error)}",
            expected="a list of token ids, the tokens that one step emits",
        ) from error


def shown(value: object) -> str:
    """A value for a message: one line without control characters, and short."""
    try:
        text = repr(value)
    except Exception:  # code of the user's, and whole numbers of more than 4300 digits
        return f"{type(value).__name__} that cannot be written"
    return _line(text, 60)


def said_by(error: BaseException) -> str:
    """``ValueError: what it says``, at most 200 characters."""
    return f"{type(error).__name__}: {text_of(error)}"[:200]


def text_of(error: BaseException) -> str:
    """What an exception says; the text is made by code of the user's."""
    try:
        return str(error)
    except Exception:
        return "its text cannot be made"


def _line(text: str, most: int) -> str:
    text = " ".join(text.split())
    text = text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
    return text if len(text) <= most else f"{text[: most - 3]}..."
