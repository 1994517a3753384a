"""The exit code is a function of the report alone; one enum, one table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from specdist.cli.exit_codes import MEANING, ExitCode, exit_code, forgiven, table
from specdist.model.capture import Unreadable
from specdist.model.verdict import Verdict
from tests import report_samples as samples
from tests.cli import help_of, run

IGNORED = Unreadable("notes.txt", "not a capture", counts=False)


def test_every_code_has_a_meaning_and_stands_in_the_table() -> None:
    assert set(MEANING) == set(ExitCode)
    lines = table().splitlines()[1:]
    assert [int(line.split()[0]) for line in lines] == sorted(code.value for code in ExitCode)
    assert all(len(line) <= 78 for line in table().splitlines())


@pytest.mark.parametrize("command", [(), ("check",), ("what-if",)])
def test_the_table_stands_in_help(command: tuple[str, ...]) -> None:
    text = help_of(*command)
    assert all(line.strip() in text for line in table().splitlines())


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ({}, 0),
        ({"equal": 2, "within_tolerance": 1}, 0),
        ({"equal": 2, "different": 1}, 1),
        ({"equal": 2, "different": 1, "allowed": 1}, 0),
        ({"equal": 1, "different": 2, "allowed": 1}, 1),
        ({"equal": 2, "undecided": 1}, 4),
        ({"equal": 1, "different": 1, "undecided": 1}, 1),
        ({"equal": 1, "different": 1, "allowed": 1, "undecided": 1}, 4),
    ],
)
def test_the_code_of_a_finished_run(counts: dict[str, Any], code: int) -> None:
    assert exit_code(samples.counted(**counts)) == code


def test_what_else_fails_a_run() -> None:
    good = samples.counted()
    assert exit_code(replace(good, floors_missed=("below",))) == 1
    assert exit_code(replace(good, unreadable=(samples.BROKEN,))) == 1
    assert exit_code(replace(good, unreadable=(IGNORED,))) == 0
    undecided = samples.counted(equal=2, undecided=1)
    assert exit_code(replace(undecided, unreadable=(samples.BROKEN,))) == 1


def test_a_spent_budget_is_undecided_even_when_all_checked_steps_are_equal() -> None:
    assert exit_code(replace(samples.counted(), verdict=Verdict.UNDECIDED)) == 4


def test_nothing_checked_is_never_a_pass() -> None:
    assert exit_code(samples.nothing()) == 3
    assert exit_code(replace(samples.nothing(), unreadable=(samples.BROKEN,))) == 1
    assert exit_code(replace(samples.nothing(), sources=())) == 2
    assert exit_code(replace(samples.nothing(), sources=(), unreadable=(samples.BROKEN,))) == 2


def test_exit_zero_forgives_verdicts_only() -> None:
    kept = {ExitCode.NOT_STARTED, ExitCode.NOTHING_CHECKED, ExitCode.BUG, ExitCode.INTERRUPTED}
    assert {code for code in ExitCode if forgiven(code) is code} == kept | {ExitCode.PASSED}
    assert {forgiven(code) for code in set(ExitCode) - kept} == {ExitCode.PASSED}


def raising(error: BaseException) -> Any:
    def run_it(*_: object, **__: object) -> int:
        raise error

    return run_it


def test_a_bug_is_code_70_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdist.cli.app.run", raising(ZeroDivisionError("division by zero")))
    result = run("check", "x")
    assert (result.code, result.stdout) == (70, "")
    assert result.stderr.startswith("error[bug]: specdist stopped on ZeroDivisionError")
    assert result.stderr.count("\n") <= 4
    assert "Traceback" not in result.stderr
    assert "Traceback" in run("check", "x", "-v").stderr


def test_an_interruption_is_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdist.cli.app.run", raising(KeyboardInterrupt()))
    result = run("check", "x")
    assert (result.code, result.stdout, result.stderr) == (130, "", "interrupted\n")


def test_an_interruption_inside_a_command_is_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdist.cli.settings.effective", raising(KeyboardInterrupt()))
    result = run("what-if", "--target", "1/2,1/2", "--draft", "1/2,1/2")
    assert (result.code, result.stdout, result.stderr) == (130, "", "interrupted\n")
