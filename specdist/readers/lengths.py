"""``--draft-lengths``: how many draft rows each step has, as ``4,4,3``, ``4x12`` or a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from specdist.errors import CaptureError, SettingsError
from specdist.readers.naming import shorten

_RUN = re.compile(r"\s*([0-9]{1,12})\s*(?:x\s*([0-9]{1,12}))?\s*")


@dataclass(frozen=True, slots=True)
class DraftLengths:
    """Runs of (length, how many steps); ``place`` says where they come from."""

    runs: tuple[tuple[int, int], ...]
    place: str

    @property
    def steps(self) -> int:
        return sum(times for _, times in self.runs)

    @property
    def rows(self) -> int:
        return sum(length * times for length, times in self.runs)

    def __iter__(self) -> Iterator[int]:
        for length, times in self.runs:
            for _ in range(times):
                yield length


def is_length_text(text: str) -> bool:
    """Whether the option holds lengths itself, rather than naming a file."""
    return all(_RUN.fullmatch(part) for part in text.split(","))


def parse_lengths(text: str) -> DraftLengths:
    """The lengths of ``4,4,3`` or ``4x12,3``. Raises SettingsError."""
    runs: list[tuple[int, int]] = []
    for part in text.split(","):
        match = _RUN.fullmatch(part)
        if match is None:
            raise no_lengths(text)
        runs.append((int(match[1]), int(match[2] or 1)))
    return lengths_of(runs, "--draft-lengths")


def no_lengths(text: str) -> SettingsError:
    """A text that holds no lengths and names no file."""
    given = f"={shorten(text, 40)} is neither lengths nor a file" if text.strip() else " is empty"
    return SettingsError(
        f"draft-lengths{given}",
        place="--draft-lengths",
        expected="the number of draft tokens of every step: 4,4,3 (three steps), "
        "4x12 (twelve steps of four), 4x12,3, or FILE[::NAME]",
    )


def lengths_of(runs: list[tuple[int, int]], place: str) -> DraftLengths:
    """Checked lengths. Raises CaptureError for a step without a draft token."""
    if not runs:
        raise CaptureError("there are no draft lengths", place=place)
    for index, (length, _) in enumerate(runs):
        if length < 1:
            raise CaptureError(
                f"step {index} has draft length {length}",
                place=place,
                expected="at least one draft token a step",
                advice="a step that drafted nothing has nothing to verify: leave out its row",
            )
    return DraftLengths(tuple(runs), place)


def check_fit(lengths: DraftLengths, target_rows: int, draft_rows: int, place: str) -> None:
    """The block layout: N draft rows and N + B target rows. Raises CaptureError."""
    need = (lengths.rows, lengths.rows + lengths.steps)
    if (draft_rows, target_rows) == need:
        return
    if draft_rows == target_rows == need[0]:
        advice = "without bonus rows each pair of rows is a step: leave --draft-lengths out"
    else:
        advice = "a step of n draft tokens has n draft rows and n + 1 target rows"
    raise CaptureError(
        f"{draft_rows} draft rows and {target_rows} target rows do not fit "
        f"{lengths.steps} steps of {lengths.rows} draft tokens",
        place=f"{place}, with {lengths.place}",
        expected=f"{need[0]} draft rows and {need[1]} target rows",
        advice=advice,
    )
