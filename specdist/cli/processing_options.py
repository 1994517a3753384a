"""The processing options, made from the registry of processors: one for both sides, one for
the draft side only."""

from __future__ import annotations

from specdist.cli.options import Option
from specdist.processing.registry import PROCESSORS

_SHORT = {"temperature": "T"}

BOTH_SIDES: tuple[Option, ...] = tuple(
    Option(
        processor.name,
        "Engine: processing of target and draft",
        f"{processor.summary[0].upper()}{processor.summary[1:]}.",
        processor.metavar,
        short=_SHORT.get(processor.name, ""),
    )
    for processor in PROCESSORS
)

DRAFT_SIDE: tuple[Option, ...] = tuple(
    Option(
        f"draft-{processor.name}",
        "Engine: where the draft differs",
        f"Like --{processor.name}, for the draft side only.",
        processor.metavar,
    )
    for processor in PROCESSORS
)

PROCESSING: tuple[Option, ...] = BOTH_SIDES + DRAFT_SIDE
