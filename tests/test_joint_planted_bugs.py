"""Our tests of joint laws see planted bugs: with each one the comparison with the oracle fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import joint_battery
from tests.joint_planted_bugs import JOINT_BUGS
from tests.planted_bugs import PlantedBug


def test_nothing_differs_without_a_bug(tmp_path: Path) -> None:
    assert list(joint_battery.differences(tmp_path)) == []
    assert len(joint_battery.cases()) > 35


@pytest.mark.parametrize("bug", JOINT_BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_seen(
    bug: PlantedBug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = getattr(bug.owner, bug.key)
    monkeypatch.setattr(bug.owner, bug.key, bug.make(original))
    seen = next(joint_battery.differences(tmp_path), None)
    assert seen
    assert "stopped on" not in seen, "the plant itself is broken"


def test_every_name_is_used_once() -> None:
    assert len({bug.name for bug in JOINT_BUGS}) == len(JOINT_BUGS)
