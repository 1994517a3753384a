"""The recorded contexts under other settings: acceptance and lengths by a second route."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from specdist.errors import SettingsError
from specdist.model.figure import Figure
from specdist.model.options import ProcessingOptions
from specdist.model.settings import CheckSettings, ReadingSettings
from specdist.readers.traces.opening import open_trace
from specdist.verify.replay.counterfactual import CONDITION, counterfactual
from tests import oracle_replay_laws as oracle
from tests.cli import ROOT
from tests.oracle_replay_engines import PLAIN, TEMPERATURE, TOP_P, Engine, processed
from tests.replay_traces import Recorded, recorded, trace_of

F = Fraction
DECLARED = CheckSettings()
STEPS = recorded(3, Engine(), 12)


def _other(**options: object) -> CheckSettings:
    return CheckSettings(overrides=ProcessingOptions(**options))  # type: ignore[arg-type]


ONE = F(1)


def _exact(figure: Figure) -> Fraction:
    assert figure.exact is not None
    return figure.exact


def _agrees(figure: Figure | None, value: Fraction) -> bool:
    """Exactly, or within the bound where a mean is kept in fixed point."""
    assert figure is not None
    if figure.exact is not None:
        return figure.exact == value
    assert figure.bound is not None
    assert figure.bound < F(1, 2**200)
    return abs(F(figure.approx) - value) < F(1, 2**50)


def _by_hand(
    step: Recorded, target: Sequence[str], draft: Sequence[str], lenience: Fraction = ONE
) -> tuple[list[Fraction], Fraction | None]:
    """Acceptance of every position, and the expected length given the drafted tokens."""
    rows, values = step
    rates, reached, length = [], F(1), F(1)
    possible = True
    for index, token in enumerate(values["drafted"]):
        p = processed(rows.target[index], target)
        q = processed(rows.draft[index], draft)
        tests = [min(F(1), a / (lenience * b)) if b else F(0) for a, b in zip(p, q, strict=True)]
        rates.append(sum(b * test for b, test in zip(q, tests, strict=True)))
        possible = possible and q[token] > 0
        reached *= tests[token]
        length += reached
    return rates, length if possible else None


CASES = {
    "as declared": (_other(), PLAIN, PLAIN, F(1)),
    "temperature 1": (_other(target={"temperature": "1"}), (TOP_P,), (TOP_P,), F(1)),
    "top-p off": (_other(target={"top-p": "off"}), (TEMPERATURE,), (TEMPERATURE,), F(1)),
    "draft hotter": (_other(draft={"temperature": "1"}), PLAIN, (TOP_P,), F(1)),
    "draft colder": (
        _other(draft_recipe="temperature:1/2,temperature:1/2,top-p:9/10"),
        PLAIN,
        (TEMPERATURE, TEMPERATURE, TOP_P),
        F(1),
    ),
    "lenience": (_other(rule="lenience:1/2"), PLAIN, PLAIN, F(1, 2)),
}


@pytest.mark.parametrize("name", CASES)
def test_rates_and_lengths_are_those_by_hand(name: str) -> None:
    settings, target, draft, lenience = CASES[name]
    found = counterfactual(trace_of(STEPS), DECLARED, settings, name)
    mine = [_by_hand(step, PLAIN, PLAIN) for step in STEPS]
    theirs = [_by_hand(step, target, draft, lenience) for step in STEPS]
    assert [_exact(x.declared) for x in found.positions] == [r for rates, _ in mine for r in rates]
    assert [_exact(x.other) for x in found.positions] == [r for rates, _ in theirs for r in rates]
    both = [(a, b) for (_, a), (_, b) in zip(mine, theirs, strict=True) if a and b]
    assert found.impossible == len(STEPS) - len(both)
    assert found.steps == len(STEPS)
    for figure, side in ((found.declared_length, 0), (found.other_length, 1)):
        assert _agrees(figure, sum(pair[side] for pair in both) / len(both))
    rates = [rate for step_rates, _ in theirs for rate in step_rates]
    assert _agrees(found.other_rate, sum(rates) / len(rates))
    assert found.label == name
    assert found.condition == CONDITION


def test_nothing_changes_under_the_same_settings() -> None:
    found = counterfactual(trace_of(STEPS), DECLARED, DECLARED, "same")
    assert found.declared_rate == found.other_rate
    assert found.declared_length == found.other_length
    assert found.impossible == 0


def test_a_token_that_cannot_be_drafted_is_counted() -> None:
    found = counterfactual(trace_of(STEPS), DECLARED, CASES["draft colder"][0], "colder")
    assert found.impossible > 0
    assert any(position.other_chance is None for position in found.positions)
    assert all(position.declared_chance is not None for position in found.positions)


def test_block_verification_along_the_path() -> None:
    """The longest prefix whose coin shows heads, for the coins of the recorded path."""
    found = counterfactual(trace_of(STEPS), DECLARED, _other(rule="block"), "block")
    lengths = [1 + _block_length(step) for step in STEPS]
    assert _agrees(found.other_length, sum(lengths) / len(lengths))
    assert all(position.other_chance is None for position in found.positions)


def _block_length(step: Recorded) -> Fraction:
    """``E[max i with heads]`` with ``h_i = Z_i / (Z_i + 1 - r_i)``, ``h_g = r_g``."""
    rows, values = step
    laws = [
        (processed(rows.target[i], PLAIN), processed(rows.draft[i], PLAIN))
        for i in range(len(values["drafted"]))
    ]
    ratio, heads = F(1), []
    for index, token in enumerate(values["drafted"]):
        p, q = laws[index]
        ratio = min(F(1), ratio * p[token] / q[token])
        if index + 1 == len(laws):
            heads.append(ratio)
            continue
        left = sum(max(ratio * a - b, F(0)) for a, b in zip(*laws[index + 1], strict=True))
        below = left + 1 - ratio
        heads.append(left / below if below else F(1))
    length, none = F(0), F(1)
    for head in reversed(heads):
        none *= 1 - head
        length += 1 - none
    return length


def test_other_rules_over_proposals_are_refused() -> None:
    with pytest.raises(SettingsError):
        counterfactual(trace_of(STEPS), DECLARED, _other(rule="traversal"), "traversal")


def test_steps_without_rows_are_counted_apart() -> None:
    trace = trace_of(STEPS)
    bare = [
        replace(step, draft_rows=()) if number % 2 else step
        for number, step in enumerate(trace.steps())
    ]
    found = counterfactual(replace(trace, steps=lambda: iter(bare)), DECLARED, DECLARED, "same")
    assert (found.steps, found.without_rows) == (6, 6)
    empty = replace(trace, steps=lambda: iter(bare[1::2]))
    found = counterfactual(empty, DECLARED, DECLARED, "same")
    assert found.declared_rate is None
    assert found.positions == ()


@pytest.mark.parametrize("name", ["good/a", "faulty/m8"])
def test_a_captured_trace_by_plain_floats(name: str) -> None:
    folder = ROOT / "tests/data/captures" / name
    trace = open_trace(str(folder), ReadingSettings())
    found = counterfactual(trace, DECLARED, _other(target={"top-p": "off"}), "top-p off")
    capture = oracle.read(folder)
    rates: tuple[list[float], list[float]] = ([], [])
    lengths: list[float] = []
    for step in capture.steps:
        reached, length = 1.0, 1.0
        for index, token in enumerate(step.get("proposed", step["drafted"])):
            for cut, listed in zip((True, False), rates, strict=True):
                p = capture.law("target", step["target_rows"][index], cut)
                q = capture.law("draft", step["draft_rows"][index], cut)
                listed.append(float(p.clip(max=q).sum()))
                if cut:
                    reached *= min(1.0, p[token] / q[token])
            length += reached
        lengths.append(length)
    assert len(found.positions) == len(rates[0])
    for position, mine, theirs in zip(found.positions, *rates, strict=True):
        assert position.declared.approx == pytest.approx(mine, abs=1e-12)
        assert position.other.approx == pytest.approx(theirs, abs=1e-12)
    assert found.declared_length is not None
    assert found.declared_length.approx == pytest.approx(sum(lengths) / len(lengths), abs=1e-9)
    assert (found.declared_length.bound or 0) < F(1, 10**6)
