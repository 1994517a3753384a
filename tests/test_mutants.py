"""Every faulty engine is found with its cause; no lossless engine is accused."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.cli import exact, run, run_here, spell
from tests.mutants import MUTANTS, Engine, Mutant, rows

SEEDS = range(6)


def report(engine: Engine, folder: Path) -> dict[str, Any]:
    path = folder / "engine.json"
    path.write_text(json.dumps(engine.document()), encoding="utf-8")
    result = run("check", path, *engine.options, "--format", "json", "--workers", "1")
    assert result.code == 1, result.stderr or result.stdout[-1500:]
    return result.json()  # type: ignore[no-any-return]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_faulty_engine_is_found(mutant: Mutant, tmp_path: Path) -> None:
    whole = [0] * len(mutant.causes)
    for seed in SEEDS:
        found = report(mutant.make(*rows(random.Random(seed))), tmp_path)
        assert found["verdict"] == "different"
        (step,) = found["steps"]
        findings = step["findings"]
        assert mutant.finds in [finding["ident"] for finding in findings]
        named = [set(repair) for finding in findings for repair in finding["repairs"]]
        for i, cause in enumerate(mutant.causes):
            assert any(one <= set(cause) for one in named), (seed, named)
            whole[i] += set(cause) in named
        assert all(not one < other for one in named for other in named), "minimal sets only"
    assert all(2 * count > len(SEEDS) for count in whole), "smaller sets are enough by chance only"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_line_to_paste_shows_it_again(mutant: Mutant, tmp_path: Path) -> None:
    (step,) = report(mutant.make(*rows(random.Random(0))), tmp_path)["steps"]
    lines = [finding["reproduce"] for finding in step["findings"] if finding["reproduce"]]
    assert lines or "penalty" in mutant.name, "a typed line carries no history of tokens"
    for line in lines:
        (again,) = pasted(line)["steps"]
        place = "bonus" if mutant.finds == "bonus-mismatch" else "positions"
        first, second = (found[place] for found in (step, again))
        if place == "positions":
            first, second = first[0], second[0]
        assert second["total_variation"] == first["total_variation"], line


def pasted(line: str) -> Any:
    """The report of a line as a shell runs it: one command, or a capture piped into it."""
    typed, _, command = line.rpartition("specdist ")
    words = [*shlex.split(command.replace("\\\n", " ")), "--format", "json"]
    if typed:
        text = typed.rstrip().removesuffix("|")
        shown = subprocess.run(["sh", "-c", text], capture_output=True, check=True)
        result = run_here(*words, stdin=shown.stdout.decode())
    else:
        result = run(*words)
    assert result.code == 1, (line, result.stderr)
    return result.json()


def test_there_are_many_and_no_name_is_used_twice() -> None:
    assert len(MUTANTS) >= 25
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_the_rows_do_not_hide_a_fault() -> None:
    for seed in range(100):
        target, draft = rows(random.Random(seed))
        assert len(target) >= 3
        assert min(*target, *draft) > 0
        assert sum(target) == sum(draft) == 1


LOSSLESS_RULES = (
    "token",
    "token:recovery=residual",
    "exact-match",
    "one-hot",
    "lenience:1",
    "thresholds",
    "thresholds:single=1:acc=1",
    "mixture:1",
    "cactus:0",
    "divergence-gate:0",
    "shared-noise:gumbel",
    "shared-noise:minhash",
    "shared-noise:minhash-dart",
    "shared-noise:inverse-cdf",
)
#: Rules whose law is the target whatever was drafted.
DRAFT_FREE = ("exact-match", "one-hot")
STEPS = (
    "temperature:1/2",
    "temperature:1/3",
    "temperature:0",
    "top-p:9/10",
    "top-p:1/2",
    "top-k:2",
    "min-p:1/3",
    "epsilon:1/10",
)
CONSTANT_KEEPS = ("share:0", "share:1/3", "share:1", "top-probability:1/2", "draft-entropy:9/10")
KEEPS = ("own-probability:1/4", "only:0+1", "tokens:0=0+1=1/2")
HARMLESS = (
    ("--ratio", "uncapped"),
    ("--inequality", "inclusive"),
    ("--empty-residual", "last"),
    ("--zero-draft", "accept"),
    ("--unnormalised",),
)


@st.composite
def lossless_options(draw: st.DrawFn) -> list[str]:
    """A lossless rule under any processing, with keep rules that cannot bias it."""
    rule = draw(st.sampled_from(LOSSLESS_RULES))
    words = ["--rule", rule, *draw(st.sampled_from([(), *HARMLESS]))]
    steps = st.lists(st.sampled_from(STEPS), min_size=1, max_size=3, unique=True)
    if draw(st.booleans()):
        words += ["--recipe", ",".join(draw(steps))]
    if draw(st.booleans()):
        words += ["--draft-recipe", ",".join(draw(steps))]
    if rule in DRAFT_FREE:
        if draw(st.booleans()):
            words += ["--role", "drafted_from=" + draw(st.sampled_from(STEPS))]
        keeps = (*CONSTANT_KEEPS, *KEEPS)
    else:
        keeps = CONSTANT_KEEPS
    if draw(st.booleans()) and not rule.startswith("shared-noise"):
        keep = draw(st.sampled_from(keeps))
        words += ["--keep", keep]
        if rule == "token" and keep.startswith("share:") and keep != "share:0":
            words += draw(st.sampled_from([
                (), ("--dropped", "residual", "--proposal", "effective"),
                ("--dropped", "redraw"), ("--dropped", "redraw-2", "--proposal", "effective"),
            ]))  # fmt: skip
    return words


@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(pair=strategies.pairs(max_size=5), words=lossless_options())
def test_no_lossless_engine_is_accused(pair: strategies.Pair, words: list[str]) -> None:
    target, draft = map(spell, pair)
    result = run("what-if", "--target", target, "--draft", draft, *words, "--format", "json")
    assert result.code == 0, (words, result.stderr or result.stdout[-1500:])
    (step,) = result.json()["steps"]
    assert exact(step["positions"][0]["total_variation"]) == 0
    loud = [finding for finding in step["findings"] if finding["severity"] != "note"]
    assert loud == []


@given(pair=strategies.pairs(max_size=5), data=st.data())
def test_one_hot_tests_allow_any_drafting_law(
    pair: strategies.Pair, data: st.DataObject, tmp_path_factory: Any
) -> None:
    target, draft = pair
    drafted = data.draw(strategies.rows(size=len(target)))
    position = {
        "target": [str(p) for p in target],
        "draft": [str(q) for q in draft],
        "roles": {"drafted_from": [str(d) for d in drafted]},
    }
    path = tmp_path_factory.mktemp("captures") / "capture.json"
    path.write_text(json.dumps({"steps": [{"positions": [position]}]}), encoding="utf-8")
    result = run("check", path, "--rule", "one-hot", "--format", "json")
    (step,) = result.json()["steps"]
    assert result.code == 0
    rate = exact(step["positions"][0]["acceptance_rate"])
    assert rate == sum(p * d for p, d in zip(target, drafted, strict=True))
    assert [f for f in step["findings"] if f["severity"] != "note"] == []
