"""The processing options, made from the registry of processors: one for both sides, one for
the draft side only."""

from __future__ import annotations

from specdist.cli.option import Option
from specdist.cli.options import INPUT
from specdist.processing.processor import Processor
from specdist.processing.registry import PROCESSORS

VALUES_WITH_OPTIONS = """\
A processing option takes VALUE:option=value:option=value, for example
--top-p 0.7:boundary=exceed, --top-k 50:ties=lowest-id, --min-tokens 3:eos=0
(specdist explain top-p); steps in another order are a --recipe"""

_SHORT = {"temperature": "T"}
_TAKEN = {option.name for option in INPUT}
"""Names of input options: a processor of that name is written in a recipe for both sides."""


def _help(processor: Processor) -> str:
    """The summary, and the options that may follow the value."""
    text = f"{processor.summary[0].upper()}{processor.summary[1:]}"
    names = [f":{option.name}=" for option in processor.options]
    return f"{text} ({', '.join(names)})." if names else f"{text}."


BOTH_SIDES: tuple[Option, ...] = tuple(
    Option(
        processor.name,
        "Engine: processing of target and draft: VALUE[:option=value...]",
        _help(processor),
        processor.metavar,
        short=_SHORT.get(processor.name, ""),
    )
    for processor in PROCESSORS
    if processor.name not in _TAKEN
)

DRAFT_SIDE: tuple[Option, ...] = tuple(
    Option(
        f"draft-{processor.name}",
        "Engine: where the draft differs",
        "Cut or pad the draft's rows to N tokens; what is cut is named."
        if processor.name == "vocab-size"
        else f"Like --{processor.name}, for the draft side only.",
        processor.metavar,
    )
    for processor in PROCESSORS
)

PROCESSING: tuple[Option, ...] = BOTH_SIDES + DRAFT_SIDE
