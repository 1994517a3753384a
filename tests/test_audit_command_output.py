"""What ``specdist audit`` writes: streams, files, forms, widths; signals and closed pipes."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from specdist.cli import console
from specdist.cli.progress import Meter
from specdist.reports.forms.registry import FORMS
from tests.audit_adapters import SCHEMA, SMALL, TEXTBOOK, report_of, write
from tests.cli import run, run_here, run_process, scrubbed


@pytest.fixture
def sampler(tmp_path: Path) -> Path:
    return write(tmp_path)


def test_what_an_adapter_prints_goes_to_stderr(tmp_path: Path) -> None:
    noisy = (
        "import os, subprocess, sys\nprint('at import')\nos.write(1, b'by the descriptor\\n')\n"
        "sys.__stdout__.write('by the old name\\n')\n"
        "subprocess.run([sys.executable, '-c', 'print(\"by a child\")'], check=True)\n"
        "import ctypes\nctypes.CDLL(None).puts(b'by the C library')\n"
    )
    body = "def noisy():\n    print('in a step')\n    return step()\n"
    write(tmp_path, f"{noisy}{TEXTBOOK}\n\n{body}", "noisy.py")
    result = run_process("audit", "noisy.py:noisy", *SMALL, "--format", "json", cwd=tmp_path)
    assert result.code == 0, result.stderr
    assert result.json()["verdict"] == "within-tolerance"
    for words in ("at import", "descriptor", "old name", "a child", "the C library", "in a step"):
        assert words in result.stderr, words


def test_warnings_of_an_adapter_go_to_stderr(tmp_path: Path) -> None:
    body = "def warns():\n    warnings.warn('an old call')\n    return step()\n"
    write(tmp_path, f"import warnings\n{TEXTBOOK}\n\n{body}", "warns.py")
    result = run_process(
        *("audit", "warns.py:warns", *SMALL, "--format", "json"),
        cwd=tmp_path,
        env={"PYTHONWARNINGS": "default"},
    )
    assert result.json()["verdict"] == "within-tolerance"
    assert "warns.py" in result.stderr
    assert "UserWarning: an old call" in result.stderr


def test_exits_inside_a_step_are_none_of_specdist(tmp_path: Path) -> None:
    text = (
        f"{TEXTBOOK}\n\ndef leaves():\n    if draw.bernoulli(0.5):\n        raise SystemExit(0)\n"
    )
    path = write(tmp_path, f"{text}    return step()\n")
    result = run("audit", f"{path}:leaves", *SMALL)
    assert result.code == 1, result.stderr
    assert "1/2 = 0.5    SystemExit: 0" in result.stdout


def test_an_interrupt_ends_the_run(tmp_path: Path) -> None:
    body = "def slow():\n    print('waits')\n    time.sleep(30)\n    return step()\n"
    write(tmp_path, f"import time\n{TEXTBOOK}\n\n{body}", "slow.py")
    command = [sys.executable, "-m", "specdist", "audit", "slow.py:slow"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=scrubbed()
    )
    assert process.stderr is not None
    assert b"leaves predicted" in process.stderr.readline()
    assert process.stderr.readline() == b"waits\n"
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (130, b"")
    assert stderr == b"interrupted\n"


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_closed_pipe_ends_quietly(form: str, sampler: Path) -> None:
    command = [sys.executable, "-m", "specdist", "audit", f"{sampler}:from_target", *SMALL]
    process = subprocess.Popen(
        [*command, "-q", "--format", form],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=scrubbed(),
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 1


def test_exit_zero_changes_the_verdict_only(sampler: Path) -> None:
    wrong = (f"{sampler}:from_target", *SMALL)
    failing, forgiven = run("audit", *wrong), run("audit", *wrong, "--exit-zero")
    assert (failing.code, forgiven.code) == (1, 0)
    assert forgiven.stdout == failing.stdout
    assert run("audit", f"{sampler}:none", "--exit-zero").code == 2


def test_allow_and_severity(sampler: Path) -> None:
    wrong = (f"{sampler}:from_target", *SMALL)
    result = run("audit", *wrong, "--allow", "output-mismatch")
    assert result.code == 0
    assert "allowed[output-mismatch]" in result.stdout
    assert "not lossless, allowed: " in result.stdout
    assert run("audit", *wrong, "--severity", "output-mismatch=warning").code == 0
    raised = ("--severity", "numeric-rounding=error")
    report = report_of(f"{sampler}:step", *SMALL, *raised, code=1)
    text = run("audit", f"{sampler}:step", *SMALL, *raised).stdout
    assert "failed by a finding: lossless up to float rounding" in text
    assert "ok:" not in text
    assert report["raised"] == ["numeric-rounding"]


def test_output_options(sampler: Path) -> None:
    wrong = (f"{sampler}:from_target", *SMALL, "--framework", "numpy")
    assert "more sequences" in run("audit", *wrong, "--show", "1").stdout
    assert "more sequences" not in run("audit", *wrong, "-v").stdout
    quiet = run("audit", *wrong, "-q").stdout.splitlines()
    assert quiet[0].startswith(f"error[output-mismatch]: {sampler}:from_target: ")
    assert quiet[-1] == "2 tables audited: 0 equal, 2 different, 0 undecided"
    assert "\x1b[1;31m" in run("audit", *wrong, "--color", "always").stdout
    assert "/" in run("audit", *wrong, "--exact").stdout.split("tokens  reference")[1]


def test_every_form_is_written(sampler: Path, tmp_path: Path) -> None:
    names = [form.name for form in FORMS if form.audits]
    exported = [part for n in names for part in ("--export", f"{n}={tmp_path / n}")]
    result = run("audit", f"{sampler}:from_target", *SMALL, *exported, "-q")
    assert result.code == 1, result.stderr
    written = {name: (tmp_path / name).read_bytes().decode() for name in names}
    Draft202012Validator(SCHEMA).validate(json.loads(written["json"]))
    (log,) = json.loads(written["sarif"])["runs"]
    assert log["invocations"][0]["exitCode"] == 1
    assert ElementTree.fromstring(written["junit"]).get("failures") != "0"
    assert written["github"].startswith("::error ")
    assert json.loads(written["gitlab"])[0]["location"]["path"] == sampler.as_posix()
    assert written["markdown"].startswith("## specdist audit: failed\n")
    assert written["csv"].count("\r\n") == 3
    printed = run("audit", f"{sampler}:from_target", *SMALL, "--format", "markdown")
    assert printed.code == 1
    assert printed.stdout.startswith("## specdist audit: failed\n")


def test_json_lines_end_with_the_error(sampler: Path) -> None:
    *tables, rest = run("audit", f"{sampler}:step", *SMALL, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["verdict"] for line in tables] == ["within-tolerance"] * 2
    assert json.loads(rest)["schema"] == "specdist.audit/1"
    result = run("audit", f"{sampler}:none", "--format", "jsonl")
    assert result.code == 2
    assert json.loads(result.stdout)["error"]["ident"] == "invalid-input"
    assert run("audit", f"{sampler}:none", "--format", "json").stdout == ""


@pytest.mark.parametrize("name", ["[INST] [b]x a.py", "'; x $(y) \".py", "ü 一.py", "-.py"])
def test_hostile_names_of_files(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "[" / "INST]"
    folder.mkdir(parents=True)
    write(folder, TEXTBOOK, name)
    result = run_here("audit", f"./{name}:from_target", *SMALL, cwd=folder)
    assert result.code == 1, result.stderr
    assert f"./{name}:from_target" in " ".join(result.stdout.split())
    report = run_here("audit", f"./{name}:from_target", *SMALL, "--format=json", cwd=folder).json()
    words = shlex.split(report["findings"][0]["reproduce"])
    assert run_here(*words[1:], cwd=folder).code == 1


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("name", ["step", "from_target", "raises", "argmax"])
def test_reports_fit_the_terminal(width: int, name: str, tmp_path: Path) -> None:
    write(tmp_path, TEXTBOOK, "s.py")
    with patch.object(console, "page_width", lambda *_: width):
        results = [
            run_here("audit", f"s.py:{name}", *SMALL, *more, cwd=tmp_path)
            for more in ((), ("-v",), ("--gamma=2",))
        ]
    for result in results:
        lines = (result.stdout + result.stderr).splitlines()
        assert [line for line in lines if len(line) > width] == []


def test_the_progress_bar_is_for_terminals(sampler: Path) -> None:
    meter = Meter(True, "auditing", "leaves")
    assert (meter._doing, meter._unit) == ("auditing", "leaves")
    assert "auditing" not in run("audit", f"{sampler}:step", *SMALL).stderr
