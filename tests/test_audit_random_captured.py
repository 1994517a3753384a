"""What modules took hold of before an audit, generators and functions: followed, or refused."""

from __future__ import annotations

import random
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from specdist.audit.interception import intercepted
from specdist.audit.refusals import AdapterError, AuditError
from tests import audit_captured as captured
from tests.audit_laws import is_close, law


@pytest.mark.parametrize("name", captured.FOLLOWED)
def test_what_modules_hold_is_followed(name: str) -> None:
    assert is_close(law(captured.FOLLOWED[name]), {1: Fraction(1, 4), 0: Fraction(3, 4)})


@pytest.mark.parametrize("name", captured.MISSED)
def test_what_cannot_be_replaced_is_named(name: str) -> None:
    function, library = captured.MISSED[name]
    with pytest.raises(AdapterError, match=f"^{library} is drawn from through a generator"):
        law(function)


def test_a_hidden_maker_of_generators_is_refused() -> None:
    with pytest.raises(AuditError, match="a default_rng that a module hides"):
        law(lambda: captured.HIDDEN_MAKER().random() < 0.25)


def test_generators_in_one_state_draw_the_same() -> None:
    assert law(captured.twins) == {0: Fraction(1, 2), 3: Fraction(1, 2)}


def test_everything_is_as_before_afterwards() -> None:
    held = [*vars(captured).items(), *vars(captured.Holder).items()]
    names = [name for name in dir(np.random) if not name.startswith("_")]
    before = [getattr(np.random, name) for name in names]
    methods = dict(vars(random.Random))
    states = (random.getstate(), repr(np.random.get_state()), captured.MODULE.bit_generator.state)
    with intercepted():
        law(lambda: random.random() < 0.5)
        assert captured.MODULE is not dict(held)["MODULE"]
    assert all(vars(captured).get(k) is v or vars(captured.Holder).get(k) is v for k, v in held)
    assert all(getattr(np.random, n) is v for n, v in zip(names, before, strict=True))
    assert dict(vars(random.Random)) == methods
    after = (random.getstate(), repr(np.random.get_state()), captured.MODULE.bit_generator.state)
    assert after == states
    assert captured.by_default.__defaults__ is not None
    assert isinstance(captured.by_default.__defaults__[0], np.random.Generator)


def test_a_module_that_is_imported_inside_keeps_no_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "from random import random\nfrom numpy.random import default_rng, rand\n"
    (tmp_path / "imported_inside.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def step() -> bool:
        module = import_module("imported_inside")
        return bool(module.random() < 0.25)

    try:
        assert law(step) == {1: Fraction(1, 4), 0: Fraction(3, 4)}
        module = sys.modules["imported_inside"]
        assert module.random is random.random
        assert module.default_rng is np.random.default_rng
        assert module.rand is np.random.rand
    finally:
        sys.modules.pop("imported_inside", None)
