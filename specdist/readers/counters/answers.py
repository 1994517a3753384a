"""Acceptance counts inside engines' JSON: per request, of a benchmark, or of a harness.

Definitions as the sources have them: vLLM 0.33 (v1/spec_decode/metrics.py and benchmarks/serve.py),
SGLang 0.5.23 (managers/io_struct.py: spec_* of meta_info), llama-server (timings), TensorRT-LLM
(request_perf_metrics), AIPerf, Spec-Bench (accept_lengths are tokens written a step).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from specdist.errors import CaptureError
from specdist.model.counters import Counters, Rate
from specdist.readers.counters.counts import (
    count,
    counts,
    optional_count,
    optional_counts,
    reported,
)
from specdist.readers.json_numbers import type_name
from specdist.readers.naming import shorten


class CountFormat(NamedTuple):
    """A format of JSON: ``find`` gives the inner object and its path, or None."""

    name: str
    find: Callable[[Any], tuple[dict[str, Any], str] | None]
    read: Callable[[dict[str, Any], str, str], Counters]


def _inside(*keys: str) -> Callable[[Any], tuple[dict[str, Any], str] | None]:
    def find(value: Any) -> tuple[dict[str, Any], str] | None:
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return (value, ".".join(keys)) if isinstance(value, dict) else None

    return find


def _with(*needed: str, inside: str = "") -> Callable[[Any], tuple[dict[str, Any], str] | None]:
    def find(value: Any) -> tuple[dict[str, Any], str] | None:
        found = value.get(inside) if inside and isinstance(value, dict) else value
        if isinstance(found, dict) and set(needed) <= set(found):
            return found, inside
        return None

    return find


def _vllm_request(found: dict[str, Any], place: str, source: str) -> Counters:
    return Counters(
        source,
        "vllm-request",
        "vLLM counts of one request",
        steps=optional_count(found, "num_spec_steps", place),
        draft_tokens=optional_count(found, "num_draft_tokens", place),
        accepted=optional_count(found, "num_accepted_draft_tokens", place),
        histogram=optional_counts(found, "acceptance_histogram", place),
        step_accepted=optional_counts(found, "per_step_accepted", place),
        step_drafted=optional_counts(found, "per_step_drafted", place),
        draft_length=optional_count(found, "num_spec_tokens", place),
        reported=(
            *reported(found, "mean_acceptance_length", Rate.EMITTED_A_STEP, place),
            *reported(found, "draft_acceptance_rate", Rate.ACCEPTED_OF_DRAFTED, place),
        ),
    )


def _vllm_bench(found: dict[str, Any], place: str, source: str) -> Counters:
    key = "spec_decode_"
    return Counters(
        source,
        "vllm-bench",
        "vLLM bench serve result",
        steps=optional_count(found, f"{key}num_drafts", place),
        draft_tokens=optional_count(found, f"{key}draft_tokens", place),
        accepted=optional_count(found, f"{key}accepted_tokens", place),
        reported=(
            *reported(found, f"{key}acceptance_rate", Rate.ACCEPTED_OF_DRAFTED, place, True),
            *reported(found, f"{key}acceptance_length", Rate.EMITTED_A_STEP, place),
            *reported(found, f"{key}per_position_acceptance_rates", Rate.UNCONDITIONAL, place),
        ),
    )


def _sglang(found: dict[str, Any], place: str, source: str) -> Counters:
    histogram = optional_counts(found, "spec_correct_drafts_histogram", place)
    if histogram is None:
        histogram = optional_counts(found, "spec_acceptance_histogram", place)
    return Counters(
        source,
        "sglang-request",
        "SGLang counts of one request",
        steps=optional_count(found, "spec_verify_ct", place),
        draft_tokens=optional_count(found, "spec_num_proposed_drafts", place),
        accepted=optional_count(found, "spec_num_correct_drafts", place),
        histogram=histogram,
        written=optional_count(found, "completion_tokens", place),
        reported=(
            *reported(found, "spec_accept_length", Rate.TOKENS_A_STEP, place),
            *reported(found, "spec_accept_rate", Rate.ACCEPTED_OF_DRAFTED, place),
        ),
        notes=("a tree with several candidates a place has no simple rate",),
    )


def _llama_server(found: dict[str, Any], place: str, source: str) -> Counters:
    return Counters(
        source,
        "llama-server-request",
        "llama-server counts of one request",
        draft_tokens=count(found["draft_n"], f"{place}.draft_n"),
        accepted=optional_count(found, "draft_n_accepted", place),
        written=optional_count(found, "predicted_n", place),
        notes=("drafts are kept on equality with a sample of the target",),
    )


def _tensorrt(found: dict[str, Any], place: str, source: str) -> Counters:
    return Counters(
        source,
        "tensorrt-llm-request",
        "TensorRT-LLM counts of one request",
        draft_tokens=optional_count(found, "total_draft_tokens", place),
        accepted=optional_count(found, "total_accepted_draft_tokens", place),
        reported=reported(found, "acceptance_rate", Rate.ACCEPTED_OF_DRAFTED, place),
    )


def _aiperf(found: dict[str, Any], place: str, source: str) -> Counters:
    return Counters(
        source,
        "aiperf",
        f"AIPerf record of {_engine(found.get('engine'))}",
        steps=optional_count(found, "num_spec_steps", place),
        draft_tokens=optional_count(found, "num_draft_tokens", place),
        accepted=optional_count(found, "num_accepted_draft_tokens", place),
        histogram=_sparse(found.get("acceptance_histogram"), f"{place}.acceptance_histogram"),
        reported=(
            *reported(found, "mean_acceptance_length", Rate.EMITTED_A_STEP, place),
            *reported(found, "draft_acceptance_rate", Rate.ACCEPTED_OF_DRAFTED, place),
        ),
    )


def _engine(value: Any) -> str:
    return shorten(value, 40) if isinstance(value, str) else "an engine"


def _sparse(value: Any, place: str) -> tuple[int, ...] | None:
    """``{"0": 2, "3": 1}`` as a dense histogram."""
    if value is None or isinstance(value, list):
        return None if value is None else counts(value, place)
    if not isinstance(value, dict) or not all(map(_is_index, value)):
        raise CaptureError(
            f"a histogram cannot be {type_name(value)} like this",
            place=place,
            expected='{"0": 2, "3": 1}',
        )
    found = {int(key): count(item, f"{place}.{key}") for key, item in value.items()}
    return tuple(found.get(i, 0) for i in range(max(found, default=-1) + 1))


def _is_index(key: str) -> bool:
    """Whether a key is a number written in one way only: "01" would stand beside "1"."""
    return key.isascii() and key.isdecimal() and len(key) < 5 and str(int(key)) == key


FORMATS = (
    CountFormat("vllm-request", _inside("metrics", "speculative_decoding"), _vllm_request),
    CountFormat("vllm-bench", _with("num_prompts", "spec_decode_draft_tokens"), _vllm_bench),
    CountFormat("vllm-bench", _with("num_prompts", "spec_decode_acceptance_rate"), _vllm_bench),
    CountFormat("sglang-request", _with("spec_verify_ct", inside="meta_info"), _sglang),
    CountFormat("llama-server-request", _with("draft_n", inside="timings"), _llama_server),
    CountFormat(
        "tensorrt-llm-request", _inside("request_perf_metrics", "speculative_decoding"), _tensorrt
    ),
    CountFormat("aiperf", _with("engine", "acceptance_histogram"), _aiperf),
)
