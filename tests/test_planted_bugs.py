"""Our tests see planted bugs: with each one the comparison with the oracle must fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import battery
from tests.planted_bugs import PLANTED_BUGS, PlantedBug


def test_nothing_differs_without_a_bug(tmp_path: Path) -> None:
    assert list(battery.differences(tmp_path)) == []
    names = [case.name for case in battery.cases()]
    assert len(names) > 70


@pytest.mark.parametrize("bug", PLANTED_BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_seen(
    bug: PlantedBug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = getattr(bug.owner, bug.key)
    monkeypatch.setattr(bug.owner, bug.key, bug.make(original))
    assert next(battery.differences(tmp_path, floats_first="float" in bug.attribute), None)


def test_every_name_is_used_once() -> None:
    assert len({bug.name for bug in PLANTED_BUGS}) == len(PLANTED_BUGS)
