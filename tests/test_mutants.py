"""Our tests see planted bugs: with each one the comparison with the oracle must fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import battery
from tests.mutants import MUTANTS, Mutant


def test_nothing_differs_without_a_bug(tmp_path: Path) -> None:
    assert list(battery.differences(tmp_path)) == []
    names = [case.name for case in battery.cases()]
    assert len(names) > 70


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_planted_bug_is_seen(
    mutant: Mutant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = getattr(mutant.owner, mutant.key)
    monkeypatch.setattr(mutant.owner, mutant.key, mutant.make(original))
    assert next(battery.differences(tmp_path, floats_first="float" in mutant.attribute), None)


def test_every_name_is_used_once() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
