"""Steps over models, batches and rules of the user's own with what cannot be meant: exit 2, said
with its place, at once, and with an empty stdout."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from specdist.verify import listing_size
from tests.cli import Result, run, run_process

T, D = ["1/2", "3/10", "1/5"], ["1/5", "1/2", "3/10"]
TYPED = ("what-if", "--target", ",".join(T), "--draft", ",".join(D))
ONE_TARGET_TOKEN = "for x, m in enumerate(models.law('accept_target', ())): yield m, (), x"


def step(**changes: Any) -> dict[str, Any]:
    return {"models": {"target": T, "draft": D}, "draft_length": 2, **changes}


def batch(requests: int = 2, **changes: Any) -> dict[str, Any]:
    return {"requests": [step(draft_length=1)] * requests, "schedule": "fixed:1", **changes}


def check(tmp_path: Path, document: Any, *options: object) -> Result:
    file = tmp_path / "capture.json"
    file.write_text(json.dumps(document))
    return run("check", file, *options)


def refused(done: Result, *said: str) -> None:
    text = " ".join(done.stderr.split())
    assert (done.code, done.stdout) == (2, ""), done.stderr
    assert " --> " in text
    for words in said:
        assert words in text, done.stderr


def in_time(started: float, seconds: float = 10) -> None:
    assert time.monotonic() - started < seconds


@pytest.mark.parametrize("length", ["40", "128"])
def test_a_chain_too_long_to_enumerate_is_refused_at_once(length: str) -> None:
    started = time.monotonic()
    done = run(*TYPED, "--draft-length", length)
    refused(done, "the step has up to", "about 10^" if length == "128" else "outcomes")
    in_time(started)


def test_a_count_that_no_machine_lists_is_no_advice(tmp_path: Path) -> None:
    refused(run(*TYPED, "--tree", "128", "--rule", "rrs"), "up to about 10^61 outcomes")
    done = check(tmp_path, batch(64))
    refused(done, "up to about 10^61 outcomes", "help: fewer requests")
    assert "--max-outcomes 1" not in done.stderr + run(*TYPED, "--tree", "128").stderr


def test_proposals_of_a_wide_tree_are_counted_quickly(tmp_path: Path) -> None:
    file = tmp_path / "wide.json"
    wide = {"models": {"target": T, "draft": D}, "tree": {"children": [128]}}
    file.write_text(json.dumps(wide))
    started = time.monotonic()
    assert run("inspect", file).code == 0
    in_time(started)


@pytest.mark.parametrize("horizon", ["1001", "1000000", "100000000000000000"])
def test_horizons_beyond_any_output_are_refused(tmp_path: Path, horizon: str) -> None:
    refused(check(tmp_path, batch(), "--horizon", horizon), "horizon=", "from 1 to 1,000")


def test_a_large_batch_is_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing_size, "WORTH_SAYING", 81)
    done = check(tmp_path, batch())
    assert "listing up to 81 outcomes request with request" in " ".join(done.stderr.split())
    assert done.code == 0


@pytest.mark.parametrize(
    "option",
    [
        ("--uniform", "2^8"),
        ("--ratio-epsilon", "1/100"),
        ("--residual-floor", "1/100"),
        ("--unnormalised",),
        ("--keep", "own-probability:1/4"),
    ],
)
def test_rules_over_proposals_never_drop_an_option_silently(option: tuple[str, ...]) -> None:
    shape = ("--tree", "2", "--rule", "rrs")
    refused(run(*TYPED, *shape, *option), "rule rrs tests every draft token in real arithmetic")
    assert run(*TYPED, *shape, "--inequality", "inclusive").code == 0


@pytest.mark.parametrize(
    ("length", "said"),
    [
        ({"profile": {"0": 1}, "blocks": {"": 1}}, "no rule says which of them decides"),
        ({"profile": {"": "1/2", "0": 1, "1": 1, "2": 1}}, 'the profile is 1/2 for the prefix ""'),
        ({"blocks": {"": {"0": "1/2", "00": "1/2", "1": "1/2"}}}, "a length cannot be 00"),
        (
            {"rule": "scheduler:global", "throughput": {"1": 1, "01": 2}},
            "a number of tokens cannot be 01",
        ),
        ({"rule": "scheduler:global", "throughput": {"1": -(10**400)}}, "a throughput of -1000"),
    ],
)
def test_length_tables_that_contradict_themselves(
    tmp_path: Path, length: dict[str, Any], said: str
) -> None:
    refused(check(tmp_path, step(length=length)), said, "capture.json, length")


def test_a_role_with_a_table_and_a_recipe(tmp_path: Path) -> None:
    models = {"target": T, "draft": D, "accept_draft": T}
    done = check(tmp_path, step(models=models, roles={"accept-draft": "top-p:1/2"}))
    refused(done, "the role accept_draft has a table in models, and a recipe")


def test_an_error_of_one_step_names_it(tmp_path: Path) -> None:
    tree = {"models": {"target": T, "draft": D}, "tree": {"children": [2]}}
    steps = {"schema": "specdist.capture/1", "steps": [step(), tree]}
    refused(check(tmp_path, steps), "rule token tests one draft token", "capture.json, steps[1]")
    requests = {"requests": [step(), tree], "schedule": "fixed:1"}
    refused(check(tmp_path, requests), "capture.json, requests[1]")
    named = batch(settings={"rule": "my_rule.py:R"})
    refused(check(tmp_path, named), "is a Python file", "capture.json")


def user_rule(tmp_path: Path, body: str, head: str = "", around: str = "") -> str:
    file = tmp_path / "own.py"
    method = f"    def outcomes(self, proposal, models):\n        {body}\n"
    file.write_text(f"from fractions import Fraction as F\n{head}\nclass R:\n{around}\n{method}")
    return f"{file}:R"


UNREADABLE = "class E(Exception):\n def __str__(self): 1 / 0"
LOSSLESS_EXITS = "    @property\n    def lossless(self): raise SystemExit(0)"
TITLE_RAISES = "    @property\n    def title(self): raise ValueError('t')"
USERS: list[tuple[dict[str, str], str]] = [
    ({"body": "raise GeneratorExit; yield"}, "raised GeneratorExit for the proposal"),
    ({"body": ONE_TARGET_TOKEN, "head": "raise BaseException('b')"}, "raised BaseException while"),
    ({"body": "raise E; yield", "head": UNREADABLE}, "raised E for the proposal"),
    ({"body": "raise ValueError('\\x1b[31m'); yield"}, "\\x1b[31m"),
    ({"body": "yield 10**5000, (), 0"}, "sum to at least about 10^5000"),
    ({"body": "yield 1, (), 10**5000"}, "the next token about 10^5000 is outside"),
    ({"body": "yield 1, (10**5000,), 0"}, "(about 10^5000) are no path"),
    ({"body": "yield 1, (0.5,), 0"}, "the accepted tokens are no path: one is a float"),
    ({"body": "models.law('accept_target', '0'); yield"}, "after tokens that do not exist"),
    ({"body": "models.law('accept_target', (9,)); yield"}, "after tokens that do not exist"),
    ({"body": "models.law('accept_draft', (), -1); yield"}, "the rank is an int"),
    ({"body": "yield", "around": LOSSLESS_EXITS}, "raised SystemExit while it was loaded"),
    ({"body": "yield", "around": TITLE_RAISES}, "raised ValueError while it was loaded"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "said"), USERS, ids=[said for _, said in USERS])
def test_whatever_a_rule_of_the_user_does_is_said_with_its_file(
    tmp_path: Path, rule: dict[str, str], said: str
) -> None:
    done = run(*TYPED, "--draft-length", "2", "--rule", user_rule(tmp_path, **rule))
    refused(done, said, "own.py")


@pytest.mark.parametrize(
    "printing", ["print('said')", "import sys; sys.stdout.close()", "import sys; sys.stdout = None"]
)
def test_standard_output_is_the_reports(tmp_path: Path, printing: str) -> None:
    rule = user_rule(tmp_path, f"{printing}\n        {ONE_TARGET_TOKEN}", head="print('loaded')")
    options = ("--draft-length", "2", "--rule", rule)
    done = run_process(*TYPED, *options, "--format", "json")
    assert (done.code, done.json()["verdict"]) == (0, "equal")
    assert "loaded" in done.stderr
    assert ("said" in done.stderr) is ("said" in printing)
    broken = user_rule(tmp_path, "print('said'); yield 1, (), 9")
    refused(run_process(*TYPED, "--draft-length", "2", "--rule", broken), "next token 9", "said")
