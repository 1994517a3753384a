"""Files with lists of tokens: how tests open them, change them and look at their rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from specdist.errors import SpecdistError
from specdist.model.row import FloatValues, ListedValues
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow
from specdist.readers.engine_files.registry import answer_format, lines_format
from specdist.readers.strict_json import parse

FIELD = Path(__file__).parent / "data" / "field"
FACTS: dict[str, Any] = json.loads((FIELD / "lists.json").read_text(encoding="utf-8"))


def document(name: str) -> Any:
    """A sample, read by the standard library."""
    return json.loads((FIELD / name).read_text(encoding="utf-8"))


def of_text(text: str, name: str = "answer.json", **reading: Any) -> EngineFile:
    """The file of a JSON document."""
    value = parse(text, name)
    form = answer_format(value)
    assert form is not None, "no format recognises this document"
    return form.read(value, name, ReadingSettings(**reading))


def of_value(value: Any, **reading: Any) -> EngineFile:
    """The file of a document that `json` writes."""
    return of_text(json.dumps(value), **reading)


def of_sample(name: str, **reading: Any) -> EngineFile:
    """The file of a sample that is one document."""
    return of_text((FIELD / name).read_text(encoding="utf-8"), name, **reading)


def of_lines(text: str, name: str = "rows.jsonl", **reading: Any) -> EngineFile:
    """The file of JSON lines."""

    def values() -> Iterator[tuple[int, Any]]:
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield number, parse(line, name, first_line=number)

    form = lines_format(next(values())[1])
    assert form is not None, "no format recognises these lines"
    return form.read(values, name, ReadingSettings(**reading))


def recognised(value: Any) -> str | None:
    """The name of the format that claims a document."""
    form = answer_format(parse(json.dumps(value), "answer.json"))
    return None if form is None else form.name


def rows_of(file: EngineFile) -> list[EngineRow]:
    return list(file.rows())


def listed(row: EngineRow) -> dict[int, float]:
    """What a row lists, complete or not."""
    if isinstance(row.values, FloatValues):
        return dict(enumerate(row.values.array.tolist()))
    assert isinstance(row.values, ListedValues), row.refused
    assert isinstance(row.values.values, FloatValues)
    ids = [int(x) for x in row.values.ids]
    assert ids == sorted(set(ids)), "ids rise"
    return dict(zip(ids, row.values.values.array.tolist(), strict=True))


def partial(row: EngineRow) -> ListedValues:
    """The values of a row that is known in part."""
    assert isinstance(row.values, ListedValues), row.refused
    return row.values


def cap(row: EngineRow) -> float | None:
    """The cap of a row that is known in part, as a float."""
    found = partial(row).cap
    return None if found is None else float(found)


def mass(row: EngineRow) -> float:
    """The mass of log-probabilities."""
    return math.fsum(math.exp(value) for value in listed(row).values())


def refuses(action: Callable[[], Any], *words: str) -> SpecdistError:
    """The error of an action, which must say every one of ``words``. Rows that are refused while
    they are read count."""

    def run() -> None:
        found = action()
        if isinstance(found, EngineFile):
            list(found.rows())

    with pytest.raises(SpecdistError) as caught:
        run()
    text = str(caught.value)
    missing = [word for word in words if word not in text]
    assert not missing, text
    assert caught.value.place, "an error says where"
    return caught.value
