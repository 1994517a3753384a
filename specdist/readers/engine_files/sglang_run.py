"""What a dump says of the run of SGLang: its stage, its temperature, and what made it lossy.

A reply does not hold the settings of its request or server; dumps that keep them beside it do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from specdist.errors import CaptureError
from specdist.model.row import Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.json_node import Node

_GREEDY = 1e-6
"""Temperatures below are greedy (SGLang 0.5.23, srt/sampling/sampling_params.py)."""
_SAMPLING = ("temperature", "top_k", "top_p", "min_p")
_THRESHOLDS = ("speculative_accept_threshold_single", "speculative_accept_threshold_acc")
_SIMULATED = ("SGLANG_SIMULATE_ACC_LEN", "simulate_acc_len")
_DEPTH = 6
_FEW = 16


@dataclass(frozen=True, slots=True)
class Run:
    """The stage of output lists and why; ``settings`` as the dump tells them."""

    stage: Stage
    evidence: str
    assumed: bool
    settings: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def run_of(root: Node, reading: ReadingSettings) -> Run:
    """What is known of a run. Raises CaptureError for one whose acceptance was simulated."""
    told = dict(_members(root.value, 0))
    _refuse_simulated(told, root)
    settings = {name: str(told[name]) for name in _SAMPLING if _is_number(told.get(name))}
    stage, evidence, assumed = _stage(told, reading)
    warnings = tuple(
        f"{name} is {told[name]}: such a run keeps draft tokens that the target's law would not, "
        "so its counters are no acceptance of a lossless rule"
        for name in _THRESHOLDS
        if _is_number(told.get(name)) and float(told[name]) < 1
    )
    return Run(stage, evidence, assumed, settings, warnings)


def _stage(told: dict[str, Any], reading: ReadingSettings) -> tuple[Stage, str, bool]:
    if reading.stage is not None:
        return reading.stage, "as told", False
    if (scaled := told.get("output_top_logprobs_temperature_scaled")) is not None:
        stage = Stage.TEMPERATURE if scaled is True else Stage.RAW
        return stage, "output_top_logprobs_temperature_scaled says so", False
    if str(told.get("SGLANG_RETURN_ORIGINAL_LOGPROB", "")).lower() in ("1", "true"):
        return Stage.RAW, "the server ran with SGLANG_RETURN_ORIGINAL_LOGPROB", False
    temperature = told.get("temperature")
    if temperature is not None and _is_number(temperature) and float(temperature) < _GREEDY:
        return Stage.RAW, "a greedy request has temperature 1 in its values", False
    return (
        Stage.TEMPERATURE,
        "SGLang's default, after temperature and before top-k and top-p; raw where the server ran "
        "with SGLANG_RETURN_ORIGINAL_LOGPROB or sampled greedily",
        True,
    )


def _refuse_simulated(told: dict[str, Any], root: Node) -> None:
    for name in _SIMULATED:
        if _is_number(told.get(name)) and float(told[name]) > 0:
            raise CaptureError(
                f"{name} is {told[name]}: acceptance was simulated, the text follows no model",
                place=root.file,
                expected="a run that verifies its draft tokens",
            )


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return False
    try:
        float(value)
    except ValueError:
        return False
    return True


def _members(value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Members of a document and of the objects in it, outer ones last; long arrays hold no
    settings."""
    if depth > _DEPTH:
        return
    if isinstance(value, list) and len(value) <= _FEW:
        for item in value:
            yield from _members(item, depth + 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _members(item, depth + 1)
        yield from value.items()
