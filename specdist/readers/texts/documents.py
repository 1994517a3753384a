"""The texts and token ids in a JSON document: the shapes that engines answer in, and plain lists.

OpenAI's completions, chat and responses; vLLM's offline objects; SGLang, llama-server, Ollama, TGI,
Gemini and Anthropic answers; and lists of texts or of token ids, alone or under ``texts``,
``tokens``, ``token_ids``, ``output_ids`` or ``outputs``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specdist.model.texts import Output
from specdist.readers.engine_files.json_node import Node
from specdist.readers.strict_json import Literal

_IDS = ("token_ids", "output_ids", "tokens", "output_tokens")
_FINISH = ("finish_reason", "stop_reason", "done_reason", "finishReason", "stop_type")
_TEXT = ("text", "generated_text", "response", "content", "completion")
_MANY = ("choices", "candidates", "outputs", "texts")


def outputs_in(node: Node) -> list[Output]:
    """The outputs of a document, in its order; none where it has no shape that is known. Raises
    CaptureError for token ids that are none."""
    if isinstance(node.value, list):
        return _of_list(node)
    if not isinstance(node.value, dict):
        return []
    if str(node.value.get("object", "")).endswith(".chunk"):
        raise node.error(
            "one piece of a streamed answer",
            expected="a whole answer",
            advice="ask without stream, or join the pieces",
        )
    # vLLM's flat log-probabilities have ids of alternatives, and no output of their own.
    return [] if "start_indices" in node.value else list(_of_object(node))


def _of_list(node: Node) -> list[Output]:
    items = node.items()
    if items and all(type(item.value) is int for item in items):
        return [Output(node.place, keys=node.token_ids())]
    found: list[Output] = []
    for item in items:
        inner = [Output(item.place, text=item.text())] if _is_text(item.value) else outputs_in(item)
        if not inner and items:
            raise item.error(
                "no text and no token ids stand here", expected="the same kind in every item"
            )
        found += inner
    return found


def _of_object(node: Node) -> Iterator[Output]:
    fields = node.fields()
    prompt = _prompt(node)
    temperature = _temperature(node)
    many = next((key for key in _MANY if isinstance(fields.get(key), list)), None)
    if many is not None:
        for item in node.member(many).items():
            if _is_text(item.value):
                yield Output(item.place, item.text(), None, prompt=prompt, temperature=temperature)
            else:
                yield from _one(item, prompt, temperature)
    elif any(isinstance(fields.get(key), list) and _nested(fields[key]) for key in _IDS):
        key = next(key for key in _IDS if _nested(fields.get(key)))
        for item in node.member(key).items():
            yield Output(item.place, None, item.token_ids(), prompt=prompt, temperature=temperature)
    elif isinstance(fields.get("text"), list):
        for item in node.member("text").items():
            yield Output(item.place, item.text(), None, prompt=prompt, temperature=temperature)
    elif isinstance(fields.get("output"), list):
        yield _responses(node, temperature)
    else:
        yield from _one(node, prompt, temperature)


def _one(node: Node, prompt: str | tuple[int, ...] | None, temperature: str) -> Iterator[Output]:
    """The output of one object: a choice, a candidate, an answer; none where it has neither."""
    if not isinstance(node.value, dict):
        raise node.error("no text and no token ids stand here", expected="an object, or a text")
    text, ids = _text(node), _ids(node)
    ids = None if text and not ids else ids  # llama-server: an empty list beside every text
    if text is not None or ids is not None:
        yield Output(
            node.place, text, ids, finish=_finish(node), prompt=prompt, temperature=temperature
        )


def _text(node: Node) -> str | None:
    fields = node.fields()
    message = fields.get("message")
    if isinstance(message, dict):
        found = _text(node.member("message"))
        return "" if found is None else found
    for key in _TEXT:
        value = fields.get(key)
        if _is_text(value):
            return str(value)
        if isinstance(value, list) and key == "content":
            return _parts(node.member(key))
        if isinstance(value, dict) and isinstance(value.get("parts"), list):
            return _parts(node.member(key).member("parts"))
    return None


def _parts(node: Node) -> str:
    """Parts of text one after the other: Anthropic's, Gemini's, those of a chat."""
    values = [item.value for item in node.items() if isinstance(item.value, dict)]
    return "".join(str(part["text"]) for part in values if _is_text(part.get("text")))


def _responses(node: Node, temperature: str) -> Output:
    """OpenAI's Responses: the parts of all messages one after the other."""
    texts = [
        _parts(item.member("content"))
        for item in node.member("output").items()
        if isinstance(item.value, dict) and isinstance(item.value.get("content"), list)
    ]
    return Output(node.place, "".join(texts), finish=_finish(node), temperature=temperature)


def _ids(node: Node) -> tuple[int, ...] | None:
    fields = node.fields()
    for key in _IDS:
        found = fields.get(key)
        if isinstance(found, list) and all(type(item) is int for item in found):
            return node.member(key).token_ids()
    return None


def _nested(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, list) for item in value)


def _finish(node: Node) -> str:
    fields = node.fields()
    meta = fields.get("meta_info")
    places = [fields, meta if isinstance(meta, dict) else {}]
    for key in _FINISH:
        for place in places:
            found = place.get(key)
            found = found.get("type") if isinstance(found, dict) else found
            if _is_text(found):
                return str(found)
    return ""


def _prompt(node: Node) -> str | tuple[int, ...] | None:
    fields = node.fields()
    ids = fields.get("prompt_token_ids")
    if isinstance(ids, list) and ids and all(type(item) is int for item in ids):
        return tuple(ids)
    found = fields.get("prompt")
    return str(found) if _is_text(found) else None


def _temperature(node: Node) -> str:
    fields = node.fields()
    inner = [fields.get(key) for key in ("generation_settings", "sampling_params", "options")]
    for place in (fields, *(item for item in inner if isinstance(item, dict))):
        value = place.get("temperature")
        if isinstance(value, Literal) or type(value) is int:
            return str(value)
    return ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, Literal)
