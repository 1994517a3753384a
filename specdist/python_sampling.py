"""Sampling options as Python programs hold them: names with numbers, some of which mean "off"."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

from specdist.errors import SettingsError
from specdist.python_rows import shown

Texts = dict[str, str]

_OFF: Mapping[str, tuple[int, ...]] = {
    "top-k": (0, -1),
    "top-p": (1,),
    "min-p": (0,),
    "typical-p": (1,),
    "repetition-penalty": (1,),
    "presence-penalty": (0,),
    "frequency-penalty": (0,),
}
"""Numbers with which the engines' sampling parameters switch a step off: vLLM 0.33.0
`sampling_params.py` (top_k 0 or -1, top_p 1, min_p 0), transformers 5.24.0 `generation/utils.py`
(top_k 0, typical_p 1, repetition_penalty 1)."""


def read_sampling(sampling: Any) -> tuple[Texts, Texts]:
    """The options of both sides, and those that differ on the draft side (``draft_top_p``).

    A name is a processor's (``temperature``, ``top_p``), with hyphens or underscores; None says
    nothing. A Python float is the decimal that it is written as, so 0.8 is 4/5. Raises
    SettingsError for unknown names.
    """
    from specdist.processing.registry import processor_named

    if not isinstance(sampling, Mapping):
        raise SettingsError(
            f"{shown(sampling)} holds no sampling options",
            expected='names with numbers, as {"temperature": "0.8", "top_p": "0.95"}',
        )
    sides: tuple[Texts, Texts] = ({}, {})
    for key, value in sampling.items():
        written = str(key).replace("_", "-")
        name = processor_named(written.removeprefix("draft-")).name
        side = sides[written.startswith("draft-")]
        if name in side:
            raise SettingsError(f"{name} is given twice", expected="one value")
        if value is not None:
            side[name] = _text(name, value)
    return sides


def _text(name: str, value: Any) -> str:
    number = isinstance(value, Fraction | int | float) and not isinstance(value, bool)
    if number and isfinite(value):
        return "off" if value in _OFF.get(name, ()) else str(value)
    if isinstance(value, str):
        return value
    raise SettingsError(f"{name}={shown(value)} is no number", expected="a number, or a text")
