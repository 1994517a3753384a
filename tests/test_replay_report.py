"""What `specdist replay` prints: 80 columns, exit codes, JSON by its schema, lines to paste."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli import ROOT, Result, run, run_process
from tests.oracle_replay import exact_trace
from tests.replay_runs import CAPTURES, changed, write_steps

SCHEMA = json.loads((ROOT / "specdist/schemas/replay.schema.json").read_text("utf-8"))
DATA = "tests/data/captures"


def narrow(result: Result) -> str:
    """The output, whose lines fit; one that holds a temporary path may be longer."""
    wide = [line for line in result.stdout.splitlines() if len(line) > 80]
    assert [line for line in wide if os.sep not in line] == []
    return result.stdout


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of captures are shown as they are written."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_steps(tmp_path / "steps.jsonl", exact_trace(5, 6, 4))


def test_a_pass_says_how_much_was_checked_and_what_not() -> None:
    result = run("replay", f"{DATA}/hf/end_token")
    text = narrow(result)
    assert result.code == 0
    assert "accept decisions                        36       0" in text
    assert "not checked: draft draws, recovered tokens, bonus tokens: no rows" in text
    assert "ok: nothing recorded contradicts token verification" in text
    assert "accepted iff  u <= p(x) / q(x), rounded to float32" in text
    assert "scope: agreement of recorded steps with the rule is no proof" in text


def test_a_fault_says_where_what_was_possible_and_why() -> None:
    result = run("replay", f"{DATA}/faulty/m1")
    text = narrow(result)
    assert result.code == 1
    assert "error[recovered-outside-residual]: 1 of 11 recovered tokens" in text
    assert "steps.jsonl, line 11," in " ".join(text.split())
    assert "= cause (explains every recorded decision and draw):" in text
    assert "total variation 0.173150" in text
    assert "= explain: specdist explain recovered-outside-residual" in text
    assert "contradicted: the recorded steps do not follow the rule" in text


@pytest.mark.parametrize("name", ["m1", "m3", "m8"])
def test_reproduction_lines_show_the_finding_again(name: str) -> None:
    result = run("replay", f"{DATA}/faulty/{name}", "--format", "json")
    report = result.json()
    findings = [each for each in report["findings"] if each["severity"] != "note"]
    assert findings
    for each in findings[:1]:
        words = shlex.split(each["reproduce"])
        assert words[:2] == ["specdist", "replay"]
        again = run(*words[1:], "--format", "json")
        assert again.code == 1
        assert each["ident"] in {other["ident"] for other in again.json()["findings"]}


@pytest.mark.parametrize(
    "name", ["good/c", "hf/end_token", "hf/raw_rows", "faulty/m1", "faulty/m8", "faulty/m10"]
)
def test_json_follows_its_schema(name: str) -> None:
    report = run("replay", f"{DATA}/{name}", "--format", "json").json()
    Draft202012Validator(SCHEMA).validate(report)


def test_the_schema_is_strict_and_printed() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(run("config", "--schema", "replay").stdout) == SCHEMA

    def objects(node: Any) -> Any:
        if isinstance(node, dict):
            if "properties" in node:
                yield node
            for child in node.values():
                yield from objects(child)
        elif isinstance(node, list):
            for child in node:
                yield from objects(child)

    found = list(objects(SCHEMA))
    assert len(found) > 15
    assert all(node["additionalProperties"] is False for node in found)
    assert all(set(node["required"]) <= set(node["properties"]) for node in found)


def test_json_lines_hold_a_step_each_and_the_rest_last(small: Path) -> None:
    lines = run("replay", small, "--format", "jsonl").stdout.splitlines()
    steps, last = [json.loads(line) for line in lines[:-1]], json.loads(lines[-1])
    assert [step["step"] for step in steps] == list(range(6))
    assert last["verdict"] == "consistent"
    assert "steps" not in last
    Draft202012Validator(SCHEMA).validate({**last, "steps": steps})


def test_json_lines_end_with_the_error(tmp_path: Path) -> None:
    result = run("replay", tmp_path / "none", "--format", "jsonl")
    assert result.code == 2
    assert json.loads(result.stdout)["error"]["message"] == "no such file"


def test_exit_codes(small: Path, tmp_path: Path) -> None:
    assert run("replay", small).code == 0
    assert run("replay").code == 2
    assert run("replay", tmp_path / "none").code == 2
    assert run("replay", small, "--select", "none*").code == 3
    bare = {"drafted": [1], "accepted": [True], "emitted": [1, 2], "context": [5]}
    nothing = write_steps(tmp_path / "bare.jsonl", [{**bare, "next_context": [5, 1, 2]}])
    result = run("replay", nothing)
    assert result.code == 3
    assert "nothing checked: no decision and no draw" in narrow(result)
    off = {"draft_ids": [0], "u": [0.3], "n_accepted": 1, "last_token": 1, "emitted": [0, 1]}
    off |= {"p_of_draft": [0.5], "q_of_draft": [0.5]}
    warned = write_steps(tmp_path / "off.jsonl", [off])
    assert run("replay", warned).code == 4
    assert run("replay", warned, "--exit-zero").code == 0
    assert run("replay", warned, "--allow", "off-grid-uniform").code == 0


def test_an_allowed_finding_does_not_fail_the_run() -> None:
    result = run("replay", f"{DATA}/faulty/m10", "--allow", "reused-randomness")
    assert result.code == 0
    assert "ok: nothing recorded contradicts" in result.stdout


def test_quiet_is_a_line_a_finding() -> None:
    result = run("replay", f"{DATA}/faulty/m3", "-q")
    first, second, *rest = result.stdout.splitlines()
    assert first.startswith(f"error[wrong-decision]: {DATA}/faulty/m3/steps.jsonl, line 4, ")
    assert second.startswith("error[impossible-token]: ")
    assert [line.split(" ")[0] for line in rest] == ["contradicted:", "12"]


def test_everything_is_unfolded_with_v_and_n_lines_with_show() -> None:
    few = narrow(run("replay", f"{DATA}/faulty/m1", "--show", "2"))
    assert "... 4 more lines (--show N, -v)" in few
    whole = narrow(run("replay", f"{DATA}/faulty/m1", "-v"))
    assert whole.count("u = ") == 7
    assert "sequence  step  drafted  accepted  emitted  final token" in whole
    assert "more line" not in whole


def test_consequences_of_shifted_rows_are_folded() -> None:
    text = narrow(run("replay", f"{DATA}/faulty/m5"))
    assert text.count(" --> ") == 1
    assert text.count("error[") == 4
    assert narrow(run("replay", f"{DATA}/faulty/m5", "-v")).count(" --> ") == 4


def test_token_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("vocab.json").write_text(json.dumps([f"[/T{i}]" for i in range(4)]))
    step = {"drafted": [2], "u_accept": [0.5], "accepted": [True], "emitted": [2, 1]}
    step |= {"p_drafted": [0.1], "q_drafted": [0.5]}
    write_steps(Path("steps.jsonl"), [step])
    text = narrow(run("replay", "steps.jsonl", "--vocab", "vocab.json"))
    assert "2 '[/T2]'  accepted, u = 1/2  accepted below 0.2" in text


def test_counters_of_a_file_are_compared(tmp_path: Path) -> None:
    counters = tmp_path / "counters.json"
    said = {"num_spec_steps": 12, "num_draft_tokens": 48, "num_accepted_draft_tokens": 14}
    counters.write_text(json.dumps({"metrics": {"speculative_decoding": said}}))
    good = run("replay", f"{DATA}/good/a", "--counters", counters)
    assert good.code == 0
    assert "reported counters of the run             3" in good.stdout
    said["num_accepted_draft_tokens"] = 26
    counters.write_text(json.dumps({"metrics": {"speculative_decoding": said}}))
    bad = run("replay", f"{DATA}/good/a", "--counters", counters)
    assert bad.code == 1
    assert "26 reported, 14 counted" in " ".join(bad.stdout.split())
    assert "it counts recovered and bonus tokens" in " ".join(bad.stdout.split())


def _run_with_an_empty_draft(tmp_path: Path, said: dict[str, Any]) -> tuple[Any, Any]:
    """Three steps, of which one has no draft tokens: 3 of 4 are accepted."""
    drafts = [([0, 1], [True, True]), ([], []), ([1, 0], [True, False])]
    steps = [
        {"drafted": ids, "accepted": taken, "p_drafted": [0.5] * len(taken),
         "q_drafted": [0.5 if yes else 1.0 for yes in taken], "emitted": [*ids[:sum(taken)], 1]}
        for ids, taken in drafts
    ]  # fmt: skip
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    write_steps(folder / "steps.jsonl", steps)
    (tmp_path / "c.json").write_text(json.dumps({"metrics": {"speculative_decoding": said}}))
    result = run("replay", folder, "--counters", tmp_path / "c.json", "--format", "json")
    return result, [each for each in result.json()["findings"] if each["ident"] != "near-cut"]


@pytest.mark.parametrize(
    ("steps", "length", "rate", "wrong"),
    [
        (3, 2.0, 0.75, 0),  # every step: 1 + 3/3
        (2, 2.5, 0.75, 0),  # those that drafted: 1 + 3/2
        (2, 2.0, 0.75, 1),  # no one definition gives both
        (3, 2.5, 0.75, 1),
        (4, 2.0, 0.75, 1),
        (2, 2.5, 0.5, 1),
    ],
)
def test_steps_without_draft_tokens_may_count_or_not(
    tmp_path: Path, steps: int, length: float, rate: float, wrong: int
) -> None:
    said = {"num_spec_steps": steps, "num_draft_tokens": 4, "num_accepted_draft_tokens": 3}
    said |= {"mean_acceptance_length": length, "draft_acceptance_rate": rate}
    _, found = _run_with_an_empty_draft(tmp_path, said)
    mismatches = [each for each in found if each["ident"] == "metric-mismatch"]
    loud = [each for each in mismatches if each["severity"] == "error"]
    assert bool(loud) == bool(wrong)
    notes = [each["message"] for each in mismatches if each["severity"] == "note"]
    assert len(notes) == (steps == 2 and not wrong)
    if notes:
        assert "counts the 2 of 3 steps that drafted" in notes[0]


def test_a_counterfactual_has_both_rates() -> None:
    result = run("replay", f"{DATA}/good/c", "--counterfactual", "top-p=0.8 temperature=1")
    text = narrow(result)
    assert result.code == 0
    assert "under top-p=0.8 temperature=1: 24 recorded contexts" in text
    assert "acceptance rate, mean" in text
    bad = run("replay", f"{DATA}/good/c", "--counterfactual", "top-p")
    assert (bad.code, bad.stdout) == (2, "")
    assert "counterfactual=top-p cannot be read" in bad.stderr


def test_options_that_a_replay_does_not_take(small: Path) -> None:
    for extra, message in (
        (("--rule", "block"), "replayed under token verification"),
        (("--keep", "own-probability:1/5"), "no such option: --keep"),
        (("--rows", str(small)), "the lines hold their rows"),
        (("--allow", "bogus"), "bogus"),
    ):
        result = run("replay", small, *extra)
        assert (result.code, result.stdout) == (2, ""), extra
        assert message in " ".join(result.stderr.split()), result.stderr


def test_an_inequality_on_the_command_line_wins(tmp_path: Path) -> None:
    """u q = p: rejected by the strict rule, accepted by the inclusive one."""
    step = {"drafted": [0], "u_accept": [0.5], "accepted": [True], "emitted": [0, 1]}
    step |= {"p_drafted": [0.25], "q_drafted": [0.5]}
    path = write_steps(tmp_path / "steps.jsonl", [step])
    assert run("replay", path).code == 1
    assert run("replay", path, "--inequality", "inclusive").code == 0


def test_an_engine_brings_its_recipes(tmp_path: Path) -> None:
    """With transformers' preset the raw rows of its draft are warped twice, and agree."""
    result = run("replay", f"{DATA}/hf/raw_rows", "--engine", "transformers", "--format", "json")
    report = result.json()
    checks = {check["name"]: check for check in report["checks"]}
    assert checks["recorded draft probabilities"]["agreed"] == 12
    assert checks["recorded draft probabilities"]["differed"] == 0
    assert report["verdict"] == "consistent"
    assert [each for each in report["findings"] if each["severity"] != "note"] == []


def test_a_process_of_its_own_prints_the_same(tmp_path: Path) -> None:
    folder = changed(CAPTURES / "hf/end_token", tmp_path, lambda steps: None)
    result = run_process("replay", folder.name, cwd=tmp_path)
    assert result.code == 0
    assert result.stderr == ""
    assert result.stdout.startswith("end_token  recorded steps of a transformers verifier: 30 st")
