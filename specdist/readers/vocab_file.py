"""Token texts for ``--vocab``: a list, a map of text to id, or a tokenizer.json."""

from __future__ import annotations

from typing import Any

from specdist.errors import CaptureError
from specdist.model.capture import Vocab
from specdist.readers.json_numbers import type_name
from specdist.readers.naming import shorten
from specdist.readers.sources import head_of, local_file, read_document_bytes
from specdist.readers.strict_json import decode, parse

TOKEN_LIMIT = 1 << 24


def load_vocab(path: str) -> Vocab:
    """The texts of a file. Raises CaptureError.

    Texts of a byte-level tokenizer.json are decoded to the characters they stand for where the
    bytes are valid UTF-8; a piece of a character is shown with its bytes as ``\\xNN``. Ids that
    the file leaves out have the empty text.
    """
    file = local_file(path)
    if head_of(file, 2) == b"\x1f\x8b":
        raise CaptureError("this is a gzip file", place=path, expected="JSON", advice="unpack it")
    value = parse(decode(read_document_bytes(file), path), path)
    if isinstance(value, list):
        return _from_list(value, path)
    if isinstance(value, dict) and isinstance(value.get("model"), dict):
        return _from_tokenizer(value, path)
    if isinstance(value, dict):
        return _from_map(value, path, "")
    raise _unknown(value, path)


def _from_list(value: list[Any], path: str) -> Vocab:
    if not value:
        raise CaptureError("the vocabulary is empty", place=path)
    for index, text in enumerate(value):
        if type(text) is not str:
            raise CaptureError(
                f"a token text cannot be {type_name(text)}",
                place=f"{path}, [{index}]",
                expected="a list of texts",
            )
    return Vocab(tuple(value))


def _from_map(value: dict[str, Any], path: str, inside: str) -> Vocab:
    return Vocab(_by_id({token: text for text, token in _ids(value, path, inside)}, path))


def _from_tokenizer(value: dict[str, Any], path: str) -> Vocab:
    vocab = value["model"].get("vocab")
    if isinstance(vocab, list):  # a unigram model: pairs of text and score, by id
        pairs = [item[0] if isinstance(item, list) and item else item for item in vocab]
        texts = dict(enumerate(_from_list(pairs, f"{path}, model.vocab").texts))
    elif isinstance(vocab, dict):
        texts = {token: text for text, token in _ids(vocab, path, "model.vocab")}
    else:
        raise _unknown(value, path)
    if _byte_level(value):
        alphabet = _byte_alphabet()
        texts = {token: _decoded(text, alphabet) for token, text in texts.items()}
    added = value.get("added_tokens", [])
    for index, item in enumerate(added if isinstance(added, list) else []):
        place = f"added_tokens[{index}]"
        content = item.get("content") if isinstance(item, dict) else None
        if type(content) is not str:
            raise CaptureError("an added token without content", place=f"{path}, {place}")
        texts.update({token: text for text, token in _ids({content: item.get("id")}, path, place)})
    return Vocab(_by_id(texts, path))


def _ids(value: dict[str, Any], path: str, inside: str) -> list[tuple[str, int]]:
    for text, token in value.items():
        if type(token) is not int or not 0 <= token < TOKEN_LIMIT:
            raise CaptureError(
                f"the id of {shorten(text)!r} is no token id",
                place=f"{path}, {inside}" if inside else path,
                expected="a map of text to id, a list of texts, or a tokenizer.json",
            )
    return list(value.items())


def _by_id(texts: dict[int, str], path: str) -> tuple[str, ...]:
    if not texts:
        raise CaptureError("the vocabulary is empty", place=path)
    return tuple(texts.get(token, "") for token in range(max(texts) + 1))


def _byte_level(value: dict[str, Any]) -> bool:
    """Whether any stage of the tokenizer is byte-level, however deep in a sequence."""
    stack = [value.get("decoder"), value.get("pre_tokenizer")]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if item.get("type") == "ByteLevel":
                return True
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return False


def _byte_alphabet() -> dict[str, int]:
    """The characters that stand for the 256 bytes (GPT-2: printable Latin-1 for itself, the rest
    from U+0100 on)."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(b): b for b in plain} | {chr(0x100 + n): b for n, b in enumerate(others)}


def _decoded(text: str, alphabet: dict[str, int]) -> str:
    try:
        data = bytes(alphabet[character] for character in text)
    except KeyError:
        return text
    return data.decode("utf-8", errors="backslashreplace")


def _unknown(value: Any, path: str) -> CaptureError:
    return CaptureError(
        f"this JSON is no vocabulary but {type_name(value)}",
        place=path,
        expected="a list of texts, a map of text to id, or a tokenizer.json",
    )
