"""``specdist capture``: records assisted generation of two transformers models."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from specdist.cli.exit_codes import ExitCode
from specdist.cli.options import Option, takes
from specdist.errors import SettingsError

_MODELS, _SAMPLING = "Models and prompts", "Sampling"
RECORDED: tuple[Option, ...] = (
    Option("target", _MODELS, "Target model: a folder of save_pretrained.", "MODEL"),
    Option("draft", _MODELS, "Draft model with the same vocabulary.", "MODEL"),
    Option("prompt", _MODELS, "Prompt text; repeatable.", "TEXT", form="list"),
    Option("prompt-ids", _MODELS, "Prompt as token ids, 1,2,3; repeatable.", "IDS", form="list"),
    Option("dtype", _MODELS, "Format the models run in.", "DTYPE", default="float32"),
    Option("temperature", _SAMPLING, "As in generate.", "T", short="T"),
    Option("top-p", _SAMPLING, "As in generate.", "P"),
    Option("top-k", _SAMPLING, "As in generate, which takes 50 unless told; 0 is off.", "K"),
    Option("min-p", _SAMPLING, "As in generate.", "P"),
    Option("max-new-tokens", _SAMPLING, "Tokens after each prompt.", "N", default="32"),
    Option("draft-length", _SAMPLING, "Draft tokens a step, constant.", "N"),
    Option("seed", _SAMPLING, "Seed of torch's generator.", "N", default="0"),
)


@takes(RECORDED)
def capture(
    out: Annotated[str, typer.Argument(metavar="FOLDER", help="A new or empty folder.")],
    **values: Any,
) -> ExitCode:
    """Record assisted generation of transformers: rows, draft ids, uniforms, decisions."""
    from specdist.cli import console
    from specdist.recording.session import record_models

    steps = record_models(_plan(values), Path(out))
    plural = "s" if steps != 1 else ""
    console.out(
        f"{steps} verified block{plural} recorded in {out}\n"
        f"  every decision:    specdist replay {out}\n"
        f"  the law of steps:  specdist check {out}\n"
    )
    return ExitCode.PASSED


def _plan(values: dict[str, Any]) -> Any:
    from specdist.cli import option_values
    from specdist.recording.session import DTYPES, Plan

    for side in ("target", "draft"):
        if values[side] is None:
            raise SettingsError(f"--{side} is missing", expected="--target MODEL --draft MODEL")
    sampling: dict[str, float | int] = {
        name: float(option_values.share(name.replace("_", "-"), values[name]))
        for name in ("top_p", "min_p")
        if values[name] is not None
    }
    if values["temperature"] is not None:
        sampling["temperature"] = _temperature(values["temperature"])
    if values["top_k"] is not None:
        sampling["top_k"] = _whole("top-k", values["top_k"], 0)
    length = values["draft_length"]
    return Plan(
        values["target"],
        values["draft"],
        tuple(values["prompt"] or ()),
        tuple(_ids(text) for text in values["prompt_ids"] or ()),
        sampling,
        _whole("max-new-tokens", values["max_new_tokens"] or "32", 1),
        None if length is None else _whole("draft-length", length, 1),
        _whole("seed", values["seed"] or "0", 0),
        option_values.choice("dtype", values["dtype"] or "float32", DTYPES),
    )


def _temperature(text: str) -> float:
    """What generate takes: above 0, as a number that it can compute with."""
    from specdist.cli import option_values

    expected = "a number above 0, from 1e-6 to 1e6"
    value = option_values.rational("temperature", text, expected)
    if not Fraction(1, 10**6) <= value <= 10**6:
        raise SettingsError(f"temperature={text[:40]} is out of range", expected=expected)
    return float(value)


def _whole(name: str, text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
        raise SettingsError(
            f"{name}={text[:40]} is not a whole number", expected=f"a number from {least}"
        )
    return int(text)


def _ids(text: str) -> tuple[int, ...]:
    parts: Sequence[str] = [part.strip() for part in text.split(",")]
    return tuple(_whole("prompt-ids", part, 0) for part in parts)
