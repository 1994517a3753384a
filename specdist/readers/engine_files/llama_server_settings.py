"""What a llama-server answer says of its own sampling: ``generation_settings`` and ``timings``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from specdist.readers.engine_files.json_node import Node

_ALWAYS = ("temperature", "top_k", "top_p", "min_p")
_NEUTRAL = {
    "dynatemp_range": 0,
    "top_n_sigma": -1,
    "typical_p": 1,
    "xtc_probability": 0,
    "repeat_penalty": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "dry_multiplier": 0,
    "mirostat": 0,
    "adaptive_target": -1,
}
_NO_DRAFT = "none"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """``asked``: alternatives asked for. ``candidates``: the most tokens that the chain leaves,
    where top-k is in it. ``told``: every setting that does something, as it is written.
    ``grammar``: whether one was in force. ``on_device``: whether the backend sampled, which leaves
    only some logits. ``speculative``: whether a draft took part."""

    asked: int | None = None
    candidates: int | None = None
    told: dict[str, str] = field(default_factory=dict)
    grammar: bool = False
    on_device: bool = False
    speculative: bool = False
    drafted: str = ""


def settings_of(answer: Node) -> ServerSettings:
    """The settings of one answer; nothing is known where it has none. A chat answer has them under
    ``__verbose``, if at all. Raises CaptureError."""
    verbose = answer.optional("__verbose")
    node = (verbose or answer).optional("generation_settings")
    timings = answer.optional("timings")
    drafted = "" if timings is None else _drafted(timings.fields())
    if node is None:
        return ServerSettings(speculative=bool(drafted), drafted=drafted)
    found = node.fields()
    chain = [item.text() for item in _items(node, "samplers")]
    told = {name: str(found[name]) for name in _ALWAYS if found.get(name) is not None}
    told |= {
        name: str(found[name])
        for name, neutral in _NEUTRAL.items()
        if _is_number(found.get(name)) and float(found[name]) != neutral
    }
    if chain:
        told["samplers"] = ", ".join(chain)
    kinds = str(found.get("speculative.types", _NO_DRAFT))
    if speculative := kinds != _NO_DRAFT or bool(drafted):
        told["speculative.types"] = kinds
    top_k = found.get("top_k")
    return ServerSettings(
        asked=_count(found.get("n_probs")),
        candidates=_count(top_k) if "top_k" in chain else None,
        told=told,
        grammar=bool(found.get("grammar")),
        on_device=found.get("backend_sampling") is True,
        speculative=speculative,
        drafted=drafted,
    )


def _items(node: Node, key: str) -> list[Node]:
    found = node.optional(key)
    return [] if found is None else found.items()


def _drafted(timings: dict[str, Any]) -> str:
    drafted, accepted = timings.get("draft_n"), timings.get("draft_n_accepted")
    if type(drafted) is not int or type(accepted) is not int or not drafted:
        return ""
    return f"{drafted} drafted, {accepted} accepted, as the server counts"


def _count(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return False
    try:
        float(value)
    except ValueError:
        return False
    return True
