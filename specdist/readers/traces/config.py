"""What the ``config.json`` beside recorded steps says of the run that wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specdist.errors import CaptureError
from specdist.model.counters import Counters
from specdist.model.options import NO_OPTIONS, ProcessingOptions
from specdist.model.row import NumberFormat, Stage
from specdist.readers.counters import counters_of
from specdist.readers.counters.counts import optional_counts
from specdist.readers.json_numbers import type_name
from specdist.readers.naming import shorten
from specdist.readers.sources import LocalFile, read_document_bytes
from specdist.readers.strict_json import Literal, decode, parse

_OFF = ("0", "-1")
_ARRAYS = ("npy", "npz", "safetensors")
_PARSED = (
    "sampling", "effective_top_k", "applied_to", "rows", "vocab_size", "gamma", "engine",
    "stored_dtype", "format", "lossy_copies", "stop_tokens", "eos_token_id", "metrics", "summary",
    "decisions_from",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TraceConfig:
    """``options`` is the processing in force; ``stage`` that of the rows, where it is said;
    ``stored`` the format of the numbers that the run itself used, and ``lossy`` the files that hold
    rounded copies of them; ``arithmetic`` is the format in which it decided. ``reported`` are
    counters that the run printed."""

    place: str = ""
    options: ProcessingOptions = NO_OPTIONS
    stage: Stage | None = None
    logits: bool = False
    vocab_size: int | None = None
    gamma: int | None = None
    engine: str = ""
    stored: NumberFormat | None = None
    arithmetic: NumberFormat | None = None
    format: str = ""
    lossy: tuple[str, ...] = ()
    end_tokens: tuple[int, ...] = ()
    reported: tuple[Counters, ...] = ()
    unused: tuple[str, ...] = ()


def read_config(file: LocalFile) -> TraceConfig | None:
    """The configuration of a trace; None for a JSON file that is none (no ``sampling``). Raises
    CaptureError with the key for a value that cannot be used."""
    value = parse(decode(read_document_bytes(file), file.name), file.name)
    if not isinstance(value, dict) or "sampling" not in value:
        return None
    keys = _Keys(value, file.name)
    rows = keys.text("rows")
    return TraceConfig(
        place=file.name,
        options=_options(keys),
        stage=_stage(rows),
        logits="logits" in rows,
        vocab_size=keys.whole("vocab_size", 1),
        gamma=keys.whole("gamma", 0),
        engine=keys.text("engine"),
        stored=_numbers(keys),
        arithmetic=_arithmetic(keys.text("decisions_from")),
        format=keys.choice("format", _ARRAYS),
        lossy=tuple(keys.items("lossy_copies", str, "a file name")),
        end_tokens=_end_tokens(keys),
        reported=_reported(keys),
        unused=tuple(key for key in value if key not in _PARSED),
    )


class _Keys:
    """The members of the configuration, each checked where it is taken."""

    def __init__(self, value: Mapping[str, Any], place: str) -> None:
        self.value, self.place = value, place

    def get(self, key: str) -> Any:
        return self.value.get(key)

    def wrong(self, key: str, expected: str) -> CaptureError:
        what = type_name(self.get(key))
        return CaptureError(
            f"{shorten(key)} is {what}", place=f"{self.place}, {shorten(key)}", expected=expected
        )

    def text(self, key: str) -> str:
        found = self.get(key)
        if found is None:
            return ""
        if type(found) is not str:
            raise self.wrong(key, "a text")
        return found

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        found = self.text(key)
        if found and found not in choices:
            raise CaptureError(
                f"{key} is {shorten(found)!r}",
                place=f"{self.place}, {key}",
                expected=", ".join(choices),
            )
        return found

    def whole(self, key: str, least: int) -> int | None:
        found = self.get(key)
        if found is None:
            return None
        if type(found) is not int or found < least:
            raise self.wrong(key, f"a whole number from {least}")
        return found

    def items(self, key: str, kind: type, expected: str) -> list[Any]:
        found = self.get(key)
        if found is None:
            return []
        if not isinstance(found, list) or any(type(item) is not kind for item in found):
            raise self.wrong(key, f"a list, each item {expected}")
        return found


def _options(keys: _Keys) -> ProcessingOptions:
    sampling = keys.get("sampling")
    if not isinstance(sampling, dict):
        raise keys.wrong("sampling", "an object with temperature, top_p, ...")
    if (top_k := keys.whole("effective_top_k", 0)) is not None:
        sampling = {**sampling, "top_k": top_k}
    texts = {}
    for key, value in sampling.items():
        place = f"{keys.place}, sampling.{shorten(key)}"
        if value is None:
            continue
        if type(value) not in (int, str, Literal):
            raise CaptureError(f"{type_name(value)} as a setting", place=place, expected="a number")
        text = str(value)
        off = key == "top_k" and text in _OFF
        texts[key.replace("_", "-")] = "off" if off else text
    sides = keys.items("applied_to", str, "target or draft")
    if sides and set(sides) != {"target", "draft"}:
        if set(sides) != {"target"}:
            raise CaptureError(
                f"sampling is applied to {shorten(', '.join(sides))}",
                place=f"{keys.place}, applied_to",
                expected='["target", "draft"] or ["target"]',
            )
        return ProcessingOptions(target=texts, draft=dict.fromkeys(texts, "off"))
    return ProcessingOptions(target=texts)


def _stage(rows: str) -> Stage | None:
    """What a sentence about the rows says of their stage."""
    words = rows.lower().replace(",", " ").split()
    if "raw" in words:
        return Stage.RAW
    return Stage.PROCESSED if "processed" in words else None


def _numbers(keys: _Keys) -> NumberFormat | None:
    known = tuple(item.value for item in NumberFormat if item is not NumberFormat.DECIMAL)
    found = keys.choice("stored_dtype", known)
    return NumberFormat(found) if found else None


def _arithmetic(text: str) -> NumberFormat | None:
    """The last format that a sentence about the decisions names: "rows, widened to float64"."""
    words = text.lower().replace(",", " ").replace(".", " ").split()
    known = [item for item in NumberFormat if item.value in words]
    return max(known, key=lambda item: words.index(item.value), default=None)


def _end_tokens(keys: _Keys) -> tuple[int, ...]:
    ends = [int(token) for token in keys.items("stop_tokens", int, "a token id")]
    found = keys.get("eos_token_id")
    if type(found) is int:
        ends.append(found)
    elif found is not None:
        ends += keys.items("eos_token_id", int, "a token id")
    for token in ends:
        if token < 0:
            raise CaptureError(f"end token {token}", place=keys.place, expected="ids from 0")
    return tuple(dict.fromkeys(ends))


def _reported(keys: _Keys) -> tuple[Counters, ...]:
    """Counters under ``metrics``, and those of a ``summary`` that lists lengths and matches."""
    found: list[Counters] = []
    metrics = keys.get("metrics")
    if metrics is not None:
        if not isinstance(metrics, dict):
            raise keys.wrong("metrics", "an object: counter, number")
        place = f"{keys.place}, metrics"
        inner = metrics if "speculative_decoding" in metrics else {"speculative_decoding": metrics}
        found += counters_of({"metrics": inner}, place)
    summary = keys.get("summary")
    if isinstance(summary, dict) and {"lengths", "n_matches"} <= set(summary):
        place = f"{keys.place}, summary"
        found.append(
            Counters(
                place,
                "trace-summary",
                "summary of the recording run",
                step_accepted=optional_counts(summary, "n_matches", place),
                step_drafted=optional_counts(summary, "lengths", place),
            )
        )
    return tuple(found)
