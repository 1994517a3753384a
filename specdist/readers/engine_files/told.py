"""What the command line says of a file, against what the format of the file fixes."""

from __future__ import annotations

from specdist.errors import CaptureError, SettingsError
from specdist.model.row import Kind, Stage
from specdist.model.settings import ReadingSettings


def check_told(reading: ReadingSettings, place: str, title: str, kind: Kind, stage: Stage) -> None:
    """Raises SettingsError where ``--kind``, ``--stage`` or ``--rows`` contradict a format whose
    kind, stage and rows are fixed. ``--axes`` and ``--numbers`` say how arrays are stored, and may
    be meant for the other side."""
    for option, said, fixed in (
        ("--kind", reading.kind, kind),
        ("--stage", reading.stage, stage),
    ):
        if said is not None and said is not fixed:
            raise SettingsError(
                f"{option} says {said.value}, {title} holds {fixed.value}",
                place=place,
                expected=f"no {option}: the format fixes it",
            )
    if reading.rows is not None:
        raise SettingsError(
            f"--rows with {title}", place=place, expected="no --rows: the format fixes them"
        )


def check_vocab_size(reading: ReadingSettings, place: str, size: int) -> None:
    """Raises CaptureError where ``--vocab-size`` is not the size of the rows."""
    told = reading.vocab_size
    if told is None or told == size:
        return
    raise CaptureError(
        f"the rows have {size} tokens, --vocab-size says {told}",
        place=place,
        expected="the length of a stored row",
        advice=f"padding columns carry probability: the step vocab-size:{told} of a recipe "
        "cuts them and says how much"
        if size > told
        else "",
    )
