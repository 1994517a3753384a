"""``action.yml``: its structure, and its scripts run under bash without a network."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.action_runs import ACTION, EXPRESSION, STEPS, Done, run_step
from tests.cli import ROOT, SAMPLES

EQUAL, DIFFERENT, UNDECIDED = (
    "three_tokens.json",
    "draft_top_p_untested.json",
    "top_two_listed.json",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout with three captures."""
    made = tmp_path / "checkout"
    made.mkdir()
    for name in (EQUAL, DIFFERENT, UNDECIDED):
        shutil.copy(SAMPLES / name, made / name)
    return made


def check(folder: Path, **inputs: str) -> Done:
    return run_step("Check", folder, {key.replace("_", "-"): v for key, v in inputs.items()})


def test_it_is_a_composite_action_whose_steps_are_named() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert list(STEPS) == ["Set up Python", "Install specdist", "Check"]
    assert all(step["shell"] == "bash" for step in STEPS.values() if "run" in step)
    assert {"name", "description", "inputs", "outputs", "runs"} <= set(ACTION)
    assert all(entry["description"] for entry in ACTION["inputs"].values())
    assert all(isinstance(entry["default"], str) for entry in ACTION["inputs"].values())


def test_no_expression_stands_in_a_script() -> None:
    """A script with ``${{ inputs.x }}`` in it would run what is in the input."""
    for step in STEPS.values():
        assert "${{" not in step.get("run", "")


def test_every_input_is_used_and_every_use_is_an_input() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    used = {name for kind, name in EXPRESSION.findall(text) if kind == "inputs"}
    assert used == set(ACTION["inputs"])
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.check.outputs.{name} }}}}"
        assert f"{name}=" in STEPS["Check"]["run"]


def test_outside_actions_are_pinned_to_a_commit() -> None:
    (used,) = (step["uses"] for step in STEPS.values() if "uses" in step)
    action, _, commit = used.partition("@")
    assert action == "actions/setup-python"
    assert len(commit) == 40
    assert int(commit, 16)


@pytest.mark.parametrize(
    ("version", "installed"),
    [("path", str(ROOT)), ("0.1.0", "specdist-verifier==0.1.0"), ("1.0rc1", None)],
)
def test_it_installs_its_own_checkout_or_a_version(
    folder: Path, version: str, installed: str | None
) -> None:
    done = run_step("Install specdist", folder, {"version": version})
    assert done.code == 0
    assert done.installed[0] == "install"
    assert done.installed[-1] == (installed or f"specdist-verifier=={version}")


@pytest.mark.parametrize(
    "version", ["", "$(touch pwned)", "0.1 evil", "-rlist.txt", "a\nb", "../x"]
)
def test_no_other_version_reaches_pip(folder: Path, version: str) -> None:
    done = run_step("Install specdist", folder, {"version": version})
    assert (done.code, done.installed) == (2, [])
    assert "::error" in done.stdout
    assert not (folder / "pwned").exists()


CODES = [
    (EQUAL, "undecided", 0, 0),
    (DIFFERENT, "different", 1, 1),
    (DIFFERENT, "never", 1, 0),
    (UNDECIDED, "undecided", 4, 4),
    (UNDECIDED, "different", 4, 0),
]


@pytest.mark.parametrize(("name", "fail_on", "code", "made_of_it"), CODES)
def test_the_exit_code_is_an_output_and_fail_on_decides(
    folder: Path, name: str, fail_on: str, code: int, made_of_it: int
) -> None:
    done = check(folder, captures=name, fail_on=fail_on)
    assert done.code == made_of_it
    verdict = {0: "equal", 1: "different", 4: "undecided"}[code]
    assert (done.outputs["exit-code"], done.outputs["verdict"]) == (str(code), verdict)


def test_a_run_that_cannot_start_fails_whatever_fail_on_says(folder: Path) -> None:
    (folder / "old.json").write_text('{"verdict": "equal"}', encoding="utf-8")
    done = check(folder, captures="missing.json", fail_on="never", report_file="old.json")
    assert done.code == 2
    assert done.outputs == {"exit-code": "2"}, "the report of an earlier run is none of this one"
    done = check(folder, captures=EQUAL, args="--select nothing", fail_on="never")
    assert (done.code, done.outputs["verdict"]) == (3, "nothing-checked")
    done = check(folder)
    assert done.code == 2
    assert "no capture is given" in done.stderr


def test_annotations_summary_reports_and_outputs(folder: Path) -> None:
    done = check(
        folder,
        captures=f"{EQUAL}\n\n{DIFFERENT}\n",
        args="--min-acceptance 99/100",
        sarif_file="found.sarif",
        report_file="report.json",
        exports="junit=found.xml\njsonl=lines.jsonl\n",
    )
    assert done.code == 1
    assert "::error" in done.stdout
    assert done.summary.strip()
    report = json.loads((folder / "report.json").read_text("utf-8"))
    assert report["summary"]["steps"] == 2
    assert done.outputs == {
        "exit-code": "1",
        "verdict": "different",
        "acceptance-rate": str(report["summary"]["acceptance_rate"]["approx"]),
        "report": "report.json",
    }
    sarif = json.loads((folder / "found.sarif").read_text("utf-8"))
    assert sarif["version"] == "2.1.0"
    assert (folder / "found.xml").read_text("utf-8").startswith("<?xml")
    assert len((folder / "lines.jsonl").read_text("utf-8").splitlines()) == 3


def test_the_rate_of_rows_known_in_part_is_an_interval(folder: Path) -> None:
    assert check(folder, captures=UNDECIDED).outputs["acceptance-rate"] == "0.6..0.85"


def test_a_baseline_fails_a_run_that_checks_less(folder: Path) -> None:
    first = check(folder, captures=f"{EQUAL}\n{UNDECIDED}", report_file="accepted.json")
    assert first.code == 4
    done = check(folder, captures=EQUAL, baseline="accepted.json")
    assert done.code == 1
    assert "baseline-regression" in done.stdout


def test_without_captures_the_config_file_names_them(folder: Path) -> None:
    (folder / "specdist.toml").write_text(f'captures = ["{EQUAL}"]\n', encoding="utf-8")
    assert check(folder).outputs["verdict"] == "equal"


HOSTILE = [
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "a' ; touch pwned ; '",
    'a" ; touch pwned ; "',
    "*",
    "-x.json",
    "--exit-zero",
    "with blanks and 'quotes'.json",
]


def test_a_capture_is_a_name_whatever_it_looks_like(folder: Path) -> None:
    for name in HOSTILE:
        shutil.copy(SAMPLES / EQUAL, folder / name)
    done = check(folder, captures="\n".join(HOSTILE), report_file="report.json")
    assert (done.code, done.outputs["verdict"]) == (0, "equal"), done.stderr
    report = json.loads((folder / "report.json").read_text("utf-8"))
    assert [step["source"].split(", steps[")[0] for step in report["steps"]] == HOSTILE
    assert not (folder / "pwned").exists()


def test_hostile_words_stay_words(folder: Path) -> None:
    """Neither options nor files nor outputs run anything or write an output of their own."""
    text = "$(touch pwned) `touch pwned`; touch pwned"
    done = check(folder, captures=EQUAL, args=f"--select '{text}' --engine vllm\n--top-p 9/10")
    assert (done.code, done.outputs["verdict"]) == (3, "nothing-checked"), done.stderr
    done = check(folder, captures=EQUAL, report_file=f"{text}.json", sarif_file=f"{text}.sarif")
    assert (done.code, done.outputs["report"]) == (0, f"{text}.json"), done.stderr
    done = check(folder, captures=EQUAL, args="--select 'open")
    assert (done.code, done.outputs) == (2, {"exit-code": "2"})
    assert "a quotation is not closed" in done.stdout
    assert not (folder / "pwned").exists()


@pytest.mark.parametrize("name", ["baseline", "sarif-file", "report-file"])
def test_a_path_of_two_lines_is_refused(folder: Path, name: str) -> None:
    """A line break in a path would write an output of its own."""
    done = run_step("Check", folder, {"captures": EQUAL, name: "a\nverdict=equal"})
    assert (done.code, done.outputs) == (2, {"exit-code": "2"})
    assert f"{name} must be one line" in done.stdout


def test_fail_on_is_one_of_three(folder: Path) -> None:
    done = check(folder, captures=EQUAL, fail_on="sometimes")
    assert (done.code, done.outputs) == (2, {"exit-code": "2"})
