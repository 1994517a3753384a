"""What a module draws while it is imported in the middle of a run is no draw of that run."""

from __future__ import annotations

import random
import sys
from importlib import import_module
from pathlib import Path

import pytest

from specdist.audit import case
from specdist.audit.context import Context, Setup, running
from specdist.audit.measure import measure
from specdist.audit.program import Program
from specdist.audit.refusals import AdapterError
from specdist.audit.tables import tables
from specdist.audit.tree import Session

SETUP = Setup(vocab=3, gamma=1, steps=1, framework="numpy")


def test_a_module_that_draws_at_its_top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import random\nNUMBER = random.Random().randint(10**6, 9 * 10**6) + random.random()\n"
    (tmp_path / "draws_at_its_top.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    def step() -> list[int]:
        import_module("draws_at_its_top")
        return [int(random.random() < 0.25)]

    found = measure(Program(step, SETUP, tables(3, 1)[0]), 10)
    del sys.modules["draws_at_its_top"]
    assert found.leaves == 2
    assert float(found.emitted[(1,)]) == 0.25


def test_a_model_for_transformers_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "specdist.audit.transformers_model", raising=False)
    run = Context(SETUP, tables(3, 1)[0], Session([]))
    with running(run), monkeypatch.context() as without:
        without.setitem(sys.modules, "transformers", None)
        without.setitem(sys.modules, "torch", None)
        with pytest.raises(AdapterError) as refused:
            case.model("target").for_transformers()
    assert "pip install 'specdist-verifier[engines]'" in str(refused.value)
