"""What a user of the command line meets: streams, usage errors, help, colour, pipes, start-up."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli import ROOT, SAMPLES, Terminal, help_of, run, run_here, run_process, scrubbed

THREE = SAMPLES / "three_tokens.json"
UNTESTED = SAMPLES / "draft_top_p_untested.json"
ROWS = ("--target", "1/2,1/4,1/4", "--draft", "1/4,1/2,1/4")
COMMANDS = (
    "check", "what-if", "compare", "replay", "audit", "inspect", "capture", "explain", "engines",
    "config",
)  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message", "help_"),
    [
        ((), "no command is given", "specdist --help"),
        (("chek",), "no such command 'chek'", "did you mean 'check'?"),
        (("check", "--topp", "1"), "no such option: --topp", "--top-p"),
        (("check",), "no capture is given", "specdist check --help"),
        (("check", "--target"), "requires an argument", "specdist check --help"),
        (("check", "--target", "a.npy"), "--draft is missing", ""),
        (("check", THREE, "--target", "a.npy"), "captures and a pair", ""),
        (("check", THREE, "--format", "xml"), "format=xml", "text or json or jsonl"),
        (("what-if",), "no target row is given", "specdist what-if --target"),
        (("what-if", "--target", "1/2,1/2"), "no draft row is given", ""),
        (("what-if", "--target", "1,x", "--draft", "1,0"), "target=x is not a number", ""),
        (("what-if", *ROWS, "--draft-logits", "1,2,3"), "--draft and --draft-logits", ""),
        (("what-if", *ROWS, "--accept", "1,1,1"), "--recovery is missing", "zeros"),
        (("what-if", *ROWS, "--keep-row", "1,1"), "keep-row has 2 numbers", "one number a token"),
        (("what-if", *ROWS, "--keep-row", "1,1,2"), "keep-row=2 is out of range", "0 to 1"),
        (
            ("what-if", *ROWS, "--accept", "1,1,1", "--recovery", "1/2,0,0"),
            "recovery sums to 1/2",
            "zeros where nothing",
        ),
        (("what-if", *ROWS, "--draft-map-form", "ids"), "without a map", "--draft-map FILE"),
        (("what-if", THREE, "--target", "1"), "typed rows and files", ""),
        (("what-if", "--target", "1,0", "--draft-token", "2"), "outside the vocabulary", "0 to 1"),
        (("what-if", *ROWS, "--budget", "1"), "no such option: --budget", ""),
        (("inspect",), "no capture is given", ""),
        (("explain", "a", "b"), "unexpected extra argument", "specdist explain --help"),
    ],
)
def test_usage_errors(arguments: tuple[Any, ...], message: str, help_: str) -> None:
    result = run(*arguments)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[invalid-settings]: ")
    assert message in " ".join(result.stderr.split())
    assert help_ in " ".join(result.stderr.split())
    assert all(len(line) <= 80 for line in result.stderr.splitlines())


def test_rows_over_different_vocabularies_need_a_map_or_a_size() -> None:
    result = run("what-if", "--target", "1/2,1/4,1/4", "--draft", "1/2,1/2")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[context-mismatch]: drafted_from is a row of 2, the ref")
    assert "--draft-map" in result.stderr
    assert "--draft-vocab-size 3" in result.stderr


@pytest.mark.parametrize(
    "logits", [("--target-logits=-1,0,-1/2",), ("--target-logits", "-1,0,-1/2")]
)
def test_rows_may_begin_with_a_minus_sign(logits: tuple[str, ...]) -> None:
    result = run("what-if", *logits, "--draft-logits", "0,-inf,-1/2", "--format", "json")
    assert (result.code, result.json()["verdict"]) == (0, "equal")


def test_closed_forms_are_printed() -> None:
    rows = ("--target-logits", "1,0,-1/2", "--draft-logits", "0,1,-1/2", "-T", "1/2")
    text = run("what-if", *rows, "--symbolic").stdout
    assert "acceptance rate (1 + 2e)/(1 + e + e^3) = 0.270400" in text
    assert "(closed forms, no tolerance)" in text


def test_a_drafted_token_is_a_one_hot_draft() -> None:
    report = run("what-if", *ROWS[:2], "--draft-token", "1", "--format", "json").json()
    (position,) = report["steps"][0]["positions"]
    assert [token["drafted"]["exact"] for token in position["tokens"]] == ["0", "1", "0"]
    assert position["acceptance_rate"]["exact"] == "1/4"


def test_a_file_gives_what_check_gives() -> None:
    for options in ((), ("--format", "json"), ("--format", "jsonl")):
        ours, theirs = run("what-if", UNTESTED, *options), run("check", UNTESTED, *options)
        assert ours.code == theirs.code == 1
        assert ours.stdout == theirs.stdout


def test_the_reproduction_line_reproduces() -> None:
    import shlex

    report = run("check", UNTESTED, "--format", "json").json()
    line = report["steps"][0]["findings"][0]["reproduce"]
    again = run(*shlex.split(line)[1:], "--format", "json").json()
    first, second = (r["steps"][0]["positions"][0] for r in (report, again))
    for key in ("acceptance_rate", "total_variation", "rejected_mass", "verdict"):
        assert first[key] == second[key]


@pytest.mark.parametrize("sample", [THREE, UNTESTED, SAMPLES / "captures"])
def test_real_reports_follow_the_schema(sample: Path) -> None:
    schema = json.loads(run("config", "--schema", "report").stdout)
    options = ("--limit", "1", "--draft-lengths", "4x4", "--kind", "logits")
    source: tuple[Any, ...] = (sample,)
    if sample.is_dir():
        source = ("--target", sample / "target.npy", "--draft", sample / "draft.npy", *options)
    report = run("check", *source, "--format", "json").json()
    Draft202012Validator(schema).validate(report)
    assert report["settings"]["format"] == "json"
    line_schema = {**schema["$defs"]["line"], "$defs": schema["$defs"]}
    *steps, summary = map(
        json.loads, run("check", *source, "--format", "jsonl").stdout.splitlines()
    )
    for line in (*steps, summary):
        Draft202012Validator(line_schema).validate(line)
    assert steps == report["steps"]
    assert {**summary, "settings": 0} == {
        key: 0 if key == "settings" else value for key, value in report.items() if key != "steps"
    }


@pytest.mark.parametrize("form", ["text", "json"])
def test_stdout_stays_empty_when_a_later_step_is_malformed(form: str, tmp_path: Path) -> None:
    result = run("check", _broken_in_the_middle(tmp_path), "--format", form)
    assert (result.code, result.stdout) == (2, "")
    assert "error[" in result.stderr


def test_json_lines_keep_finished_steps_and_end_with_the_error(tmp_path: Path) -> None:
    result = run("check", _broken_in_the_middle(tmp_path), "--format", "jsonl")
    *steps, last = map(json.loads, result.stdout.splitlines())
    assert result.code == 2
    assert [step["id"] for step in steps] == ["0"]
    assert last["error"]["ident"] == "row-not-normalised"
    assert result.stderr.startswith("error[row-not-normalised]: ")


def _broken_in_the_middle(folder: Path) -> Path:
    good, bad = ["1/2", "1/4", "1/4"], ["1/2", "1/4", "1/2"]
    steps = [{"target": row, "draft": good} for row in (good, bad)]
    path = folder / "steps.jsonl"
    path.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    return path


def test_exit_zero_changes_the_verdict_only() -> None:
    assert run("check", UNTESTED).code == 1
    forgiven = run("check", UNTESTED, "--exit-zero")
    assert (forgiven.code, forgiven.stdout) == (0, run("check", UNTESTED).stdout)
    assert run("check", THREE, "--select", "none", "--exit-zero").code == 3
    assert run("check", "no_such_file", "--exit-zero").code == 2


def test_show_and_quiet_and_verbose() -> None:
    assert "... 2 more tokens" in run("check", THREE, "--show", "1").stdout
    assert "2 more" not in run("check", THREE, "--show", "1", "-v").stdout
    assert run("check", THREE, "-q").stdout.count("\n") == 1


@pytest.mark.parametrize("arguments", [(), *((command,) for command in COMMANDS)])
def test_help_fits_80_columns(arguments: tuple[str, ...]) -> None:
    text = help_of(*arguments)
    assert "\x1b" not in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "Usage: specdist" in text
    assert "…" not in text


def test_a_process_prints_the_same_help() -> None:
    for arguments in ((), ("what-if",)):
        result = run_process(*arguments, "--help")
        assert (result.code, result.stderr) == (0, "")
        assert result.stdout == help_of(*arguments)


def test_every_option_has_help_and_a_panel() -> None:
    from specdist.cli.settings import ALL_OPTIONS
    from specdist.processing.registry import PROCESSORS

    text = help_of("check")
    for option in ALL_OPTIONS:
        assert f"--{option.name} " in text
        assert option.help.endswith(".")
    for processor in PROCESSORS:
        assert f"--{processor.name} " in text
        assert f"--draft-{processor.name} " in text
    for panel in ("Input", "Engine", "Checking", "Output"):
        assert f"─ {panel} ─" in text


def test_version_and_module_and_script_agree() -> None:
    from specdist import __version__

    assert run("--version").stdout == f"specdist {__version__}\n"
    assert run_process("--version").stdout == f"specdist {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_generated(shell: str) -> None:
    run_it = run_process if shell == "bash" else run_here
    result = run_it(env={"_SPECDIST_COMPLETE": f"source_{shell}"})
    assert result.code == 0
    assert "_SPECDIST_COMPLETE" in result.stdout


def test_completion_knows_commands_options_and_values() -> None:
    def complete(line: str) -> str:
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
        return run_here(env={"_SPECDIST_COMPLETE": "complete_bash", **words}).stdout

    assert set(complete("specdist ").split()) == set(COMMANDS)
    assert "--top-p" in complete("specdist check --top")
    assert complete("specdist check --format j").split() == ["json", "jsonl", "junit"]


def in_terminal(*arguments: object, env: dict[str, str] | None = None) -> str:
    """What a run writes to a terminal."""
    parent, child = pty.openpty()
    environment = {**scrubbed(), "TERM": "xterm", **(env or {})}
    if env is not None and "NO_COLOR" not in env:
        del environment["NO_COLOR"]
    command = [sys.executable, "-m", "specdist", *map(str, arguments)]
    with subprocess.Popen(command, stdout=child, stderr=child, cwd=ROOT, env=environment):
        os.close(child)
        text = b""
        while True:
            try:
                chunk = os.read(parent, 65536)
            except OSError:
                break
            if not chunk:
                break
            text += chunk
    os.close(parent)
    return text.decode()


def test_colour_on_a_terminal_unless_told_otherwise() -> None:
    assert "\x1b[" in in_terminal("check", UNTESTED, env={})
    assert "\x1b[" not in in_terminal("check", UNTESTED, env={"NO_COLOR": "1"})

    def shown(*arguments: object, **env: str) -> bool:
        result = run_here(*arguments, env={"NO_COLOR": "", **env}, stream=Terminal)
        assert result.code
        return "\x1b[" in result.stdout + result.stderr

    assert shown("check", UNTESTED)
    assert shown("check", "no_such_file")
    assert not shown("check", UNTESTED, NO_COLOR="1")
    assert not shown("check", UNTESTED, TERM="dumb")
    assert not shown("check", UNTESTED, "--color", "never")
    assert not shown("check", UNTESTED, SPECDIST_COLOR="never")


def test_colour_into_a_pipe_only_when_asked() -> None:
    assert "\x1b[" not in run_here("check", UNTESTED, env={"NO_COLOR": ""}).stdout
    painted = run_process("check", UNTESTED, "--color", "always")
    assert "\x1b[" in painted.stdout
    assert "\x1b[" in run_here("check", "nothing", "--color=always").stderr


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
def test_a_closed_pipe_ends_quietly(form: str) -> None:
    command = [sys.executable, "-m", "specdist", "check", str(UNTESTED), "--format", form]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=scrubbed()
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    stderr = process.stderr.read()
    process.stderr.close()
    assert stderr == b""
    assert process.wait() == (130 if form == "jsonl" else 1)


def modules_after(*arguments: str) -> set[str]:
    """The modules that a command line leaves loaded."""
    code = (
        "import sys\nfrom specdist.__main__ import main\n"
        f"sys.argv = ['specdist', *{list(arguments)!r}]\nmain()\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=scrubbed(), capture_output=True, text=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [("--help",), ("check", "--help"), ("what-if", "--help")])
def test_help_loads_neither_numpy_nor_sympy(arguments: tuple[str, ...]) -> None:
    assert modules_after(*arguments).isdisjoint({"numpy", "sympy"})


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", str(THREE)),
        ("check", str(UNTESTED), "--format", "json"),
        ("what-if", *ROWS, "-T", "1/2", "--top-p", "9/10"),
        ("explain", "output-mismatch"),
        ("config",),
    ],
)
def test_rational_work_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    loaded = modules_after(*arguments)
    assert "specdist.cli.app" in loaded
    heavy = {"numpy", "sympy", "rich", "pydantic", "multiprocessing", "logging", "asyncio"}
    assert loaded.isdisjoint(heavy)


def test_inspect_gives_facts_and_no_verdict(tmp_path: Path) -> None:
    result = run("inspect", UNTESTED)
    assert result.code == 0
    assert "role drafted_from  top-p:9/10" in result.stdout
    assert "equal" not in result.stdout
    assert "different" not in result.stdout
    (capture,) = run("inspect", UNTESTED, "--format", "json").json()["captures"]
    assert {"name": "role drafted_from", "value": "top-p:9/10"} in capture["would_check"]
    assert {"name": "reader", "value": "json"} in capture["facts"]
    broken = tmp_path / "broken.json"
    broken.write_text('{"steps": [', encoding="utf-8")
    assert run("inspect", broken).code == 2
    assert run("inspect", broken, UNTESTED).code == 1


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (("--target", "2,1,0", "--draft", "1,0,0"), "--target-logits and --draft-logits"),
        (("--target", "-1,2", "--draft", "1,0"), "--target-logits and --draft-logits"),
        (("--target", "1", "--draft-logprobs", "1"), "--target-logits and --draft-logits"),
        (("--target", "1,-inf", "--draft", "1,0"), "--target-logits"),
        ((*ROWS, "--presence-penalty", "1"), "give --history 1,2,3"),
        ((*ROWS, "--presence-penalty", "1:scope=output", "--history", "1"), "--prompt-length N"),
        ((*ROWS, "--min-tokens", "3:eos=0"), "give --history 1,2,3 and --prompt-length 1"),
    ],
)
def test_advice_for_typed_rows_names_options_that_there_are(
    arguments: tuple[str, ...], advice: str
) -> None:
    result = run("what-if", *arguments)
    assert (result.code, result.stdout) == (2, "")
    shown = " ".join(result.stderr.split())
    assert advice in shown
    assert "--kind" not in shown


def test_the_worst_of_many_steps_keeps_its_table(tmp_path: Path) -> None:
    def step(wrong: int) -> str:
        row = [f"{100 + wrong}/200", f"{100 - wrong}/200"]
        roles = {"accept_target": row, "residual_target": row}
        return json.dumps({"target": ["1/2", "1/2"], "draft": ["1/4", "3/4"], "roles": roles})

    path = tmp_path / "steps.jsonl"
    path.write_text("\n".join(map(step, range(1, 41))), encoding="utf-8")
    text = run("check", path, "--show", "2").stdout
    assert text.index(", step 39,") < text.index(", step 38,")
    cells = [line.split() for line in text.splitlines()]
    for worst in (["7/10", "+1/5", "+0.2"], ["139/200", "+39/200", "+0.195"]):
        assert ["|", "0", "1/2", "1/4", "1/4", *worst] in cells
    assert "... 38 more findings" in text
    assert "largest total variation 1/5 = 0.2 (step 39, position 0)" in text
    assert text.endswith("\n40 steps checked: 0 equal, 40 different, 0 undecided\n")


def test_help_shows_how_a_value_carries_options() -> None:
    for command in ("check", "what-if"):
        text = help_of(command)
        assert "--top-p 0.7:boundary=exceed" in text
        assert "VALUE[:option=value...]" in text
