"""``specdist audit`` as a user meets it: verdicts, options, bad command lines, bad adapters."""

from __future__ import annotations

import os
import shlex
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from tests.audit_adapters import SMALL, TEXTBOOK, report_of, write
from tests.cli import ROOT, Result, run, run_here


@pytest.fixture
def sampler(tmp_path: Path) -> Path:
    return write(tmp_path)


def refused(*arguments: object, said: str, cwd: Path | None = None) -> Result:
    """Exit 2, nothing on stdout, a message of at most 80 columns, no traceback."""
    result = run_here("audit", *arguments, cwd=ROOT if cwd is None else cwd)
    shown = " ".join(result.stderr.split())
    assert (result.code, result.stdout) == (2, ""), result.stderr
    assert said in shown, result.stderr
    assert "Traceback" not in result.stderr
    return result


def test_a_lossless_sampler_passes(sampler: Path) -> None:
    result = run("audit", f"{sampler}:step", *SMALL)
    assert result.code == 0, result.stderr
    assert "ok: lossless up to float rounding: total variation " in result.stdout
    assert "2 tables audited: 0 equal, 2 within rounding, 0 different" in result.stdout
    report = report_of(f"{sampler}:step", *SMALL)
    assert report["verdict"] == "within-tolerance"
    assert Fraction(report["summary"]["total_variation_max"]["exact"]) < Fraction(1, 2**50)
    assert report["settings"]["framework"] in ("numpy", "torch")
    assert report["line"] == TEXTBOOK.splitlines().index("def step():") + 1


def test_predicted_leaves_are_printed_before_the_run_and_met_ones_reported(sampler: Path) -> None:
    result = run("audit", f"{sampler}:step", *SMALL, "--framework", "numpy")
    found = report_of(f"{sampler}:step", *SMALL)["summary"]
    count = found["predicted"]
    said = f"audit: {count} leaves predicted, V^(g+1) + g V- V+ V^(g-1) a step and table\n"
    assert result.stderr == said
    counts = f"{found['leaves']} leaves ({count} predicted), {found['replays']} replays"
    assert f"  runs      {found['runs']}: {counts}\n" in result.stdout
    assert run("audit", f"{sampler}:step", *SMALL, "-q").stderr == ""


def test_a_wrong_sampler_fails_and_its_line_shows_it_again(sampler: Path) -> None:
    report = report_of(f"{sampler}:from_target", "--steps", "1", code=1)
    assert report["verdict"] == "different"
    finding = report["findings"][0]
    assert (finding["ident"], finding["severity"]) == ("output-mismatch", "error")
    words = shlex.split(finding["reproduce"])
    assert words[:3] == ["specdist", "audit", f"{sampler}:from_target"]
    again = report_of(*words[2:], code=1)
    smallest = report["smallest"]
    shown = [table for table in again["tables"] if table["name"] == smallest["table"]]
    assert shown[0]["total_variation"] == smallest["total_variation"]
    text = run_here("audit", "sampler.py:from_target", "--steps", "1", cwd=sampler.parent).stdout
    for words_ in (
        "error[output-mismatch]: ",
        "  --> sampler.py:from_target, table ",
        "tokens  reference",
        "smallest case: 2 tokens, 1 draft token, 1 step",
        "   = reproduce: specdist audit ",
        "   = explain: specdist explain audit",
        "not lossless: total variation ",
    ):
        assert words_ in text


def test_a_reference_is_plain_decoding_of_the_same_engine(sampler: Path) -> None:
    right = report_of(f"{sampler}:two", *SMALL, "--reference", "two_plain")
    assert right["settings"]["reference"] == "two_plain"
    assert right["verdict"] == "within-tolerance"
    assert report_of(f"{sampler}:two_plain", *SMALL)["verdict"] == "equal"
    report_of(f"{sampler}:two_wrong", *SMALL, "--reference", f"{sampler}:two_plain", code=1)
    result = run("audit", f"{sampler}:two_wrong", *SMALL, "--reference", "two_plain")
    assert "compared  with the reference two_plain, joint law of 2 tokens" in result.stdout
    assert "--reference two_plain" in result.stdout.split("reproduce:")[1]
    refused(f"{sampler}:two", *SMALL, "--reference", "raises", said="the reference raises")


@pytest.mark.parametrize("steps", ["1", "2"])
def test_a_reference_of_one_token_is_called_for_as_many_as_there_are(
    sampler: Path, steps: str
) -> None:
    small = ("--gamma", "1", "--steps", steps, "--tables", "2")
    for name, code in (("step", 0), ("from_target", 1)):
        against = report_of(f"{sampler}:{name}", *small, "--reference", "plain", code=code)
        alone = report_of(f"{sampler}:{name}", *small, code=code)
        for one, other in zip(against["tables"], alone["tables"], strict=True):
            assert one["total_variation"] == other["total_variation"]
            assert one["outside"] == other["outside"]
            assert one["sequences"] == other["sequences"]


def test_rows_along_no_draft_tokens_are_told_where_they_raise(tmp_path: Path) -> None:
    path = tmp_path / "untold.py"
    path.write_text(
        "import random\n\nfrom specdist.audit import case\n\n\ndef step():\n"
        "    row = case.draft().tolist()\n"
        "    token = random.choices(range(case.vocab), row)[0]\n"
        "    return [int(case.draft_rows()[0][token])]\n"
    )
    refused(f"{path}:step", *SMALL, said="case.propose(tokens)")


def test_outputs_of_other_lengths_than_the_references_are_told(sampler: Path) -> None:
    text = run("audit", f"{sampler}:step", *SMALL, "--reference", "two_plain").stdout
    assert "have other lengths" in text


def test_a_probe_has_a_bound_and_no_exact_number(sampler: Path) -> None:
    probe = ("--mode", "probe", "--replays", "50", "--confidence", "0.9", *SMALL[:4])
    result = run("audit", f"{sampler}:step", *probe, "--tables", "1")
    assert result.code == 0, result.stderr
    assert "a probe" in result.stderr
    assert "ok: no difference found: total variation " in result.stdout
    assert " +- 0.047 at most" in result.stdout  # ln(10)/50 = 0.04605...
    assert "exact" not in result.stdout
    report = report_of(f"{sampler}:from_target", *probe, "--tables", "1", code=1)
    assert report["settings"]["confidence"] == "0.9"
    assert report["tables"][0]["total_variation"]["exact"] is None
    assert report["tables"][0]["bound"]["approx"] > 0.046
    assert "--mode probe" in report["findings"][0]["reproduce"]


def test_exceptions_are_outcomes(sampler: Path) -> None:
    result = run_here("audit", "sampler.py:raises", *SMALL, cwd=sampler.parent)
    assert result.code == 1
    assert "\x1b" not in result.stdout
    assert "1/8 = 0.125  ValueError: the \\x1b[31mred token" in result.stdout
    line = TEXTBOOK.splitlines().index("    if draw.bernoulli(0.125):") + 2
    assert f"at sampler.py, line {line}\n" in result.stdout
    report = report_of(f"{sampler}:raises", *SMALL, code=1)
    assert report["summary"]["raised_max"]["exact"] == "1/8"


def test_drafts_that_do_not_follow_their_row(sampler: Path) -> None:
    report = report_of(f"{sampler}:argmax", *SMALL, code=1)
    assert {"output-mismatch", "drafted-mismatch"} <= {f["ident"] for f in report["findings"]}
    drawn = [float(Fraction(n["exact"])) for n in report["tables"][0]["draft"]["drawn"]]
    assert max(drawn) == 1
    assert "handed to the test" in run("audit", f"{sampler}:argmax", *SMALL).stdout


@pytest.mark.parametrize("name", ["Engine", "Engine.decode"])
def test_classes_and_static_methods_are_adapters(sampler: Path, name: str) -> None:
    assert run("audit", f"{sampler}:{name}", *SMALL).code == 0


def test_a_module_is_named_by_its_dotted_name(tmp_path: Path) -> None:
    package = tmp_path / "audited_package"
    package.mkdir()
    write(package, "")
    write(package, TEXTBOOK, "sampling.py")
    result = run_here("audit", "audited_package.sampling:step", *SMALL, cwd=tmp_path)
    assert result.code == 0, result.stderr
    assert "audited_package.sampling:step  2 tables" in result.stdout
    assert str(tmp_path) not in sys.path


def test_modules_beside_the_file_are_found_after_installed_ones(tmp_path: Path) -> None:
    write(tmp_path, TEXTBOOK, "beside_the_adapter.py")
    write(tmp_path, "raise SystemExit('the wrong numpy')\n", "numpy.py")
    text = "import numpy\nfrom beside_the_adapter import step\nassert numpy.maximum\n"
    path = write(tmp_path, text, "random.py")
    before = list(sys.path)
    assert run("audit", f"{path}:step", *SMALL).code == 0
    assert sys.path == before


def test_a_file_is_executed_once_and_anew_each_time(tmp_path: Path) -> None:
    path = write(tmp_path, f"print('loaded')\n{TEXTBOOK}")
    result = run("audit", f"{path}:step", *SMALL, "-q")
    assert (result.code, result.stderr) == (0, "loaded\n")
    write(tmp_path, TEXTBOOK.replace("def step", "def stop"))
    assert run("audit", f"{path}:step", *SMALL).code == 2
    assert not any(name.startswith("specdist_adapter_") for name in sys.modules)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no adapter is given"),
        (("{file}",), "no function is named"),
        (("{file}",), "functions there: drafted, one_step"),
        (("{file}:",), "no function is named"),
        (("{file}:2x",), "'2x' is no name of a function"),
        (("{file}:stepp",), "there is no function 'stepp'"),
        (("{file}:stepp",), "did you mean step"),
        (("{file}:zzz",), "functions there: drafted, one_step"),
        (("{file}:stop",), "stop is int, and cannot be called for a step"),
        (("{file}:NoStep",), "NoStep is a class without __call__"),
        (("{file}:waits",), "waits is a coroutine function"),
        (("{file}:needs",), "needs takes arguments: x, y"),
        (("{file}:Engine.none",), "there is no function 'none'"),
        (("{file}:stop.real.none",), "there is no function 'none'"),
        (("{folder}/samplr.py:step",), "the adapter's file cannot be read: no such file"),
        (("{folder}/samplr.py:step",), "did you mean sampler.py?"),
        (("{folder}:step",), "the adapter's file cannot be read: is a directory"),
        (("no_such_module:step",), "raised ModuleNotFoundError while it was imported"),
        (("no such file:step",), "the adapter's file cannot be read"),
        ((":step",), "names no function"),
        (("a\0b.py:step",), "names no function"),
        (("{file}:step", "--reference", "plian"), "did you mean plain"),
        (("{file}:step", "--reference", "none.py:x"), "cannot be read"),
        (("{file}:step", "extra"), "unexpected extra argument"),
        (("{file}:step", "--vocab", "1"), "vocab=1 is out of range"),
        (("{file}:step", "--vocab", "33"), "expected: a whole number, 2 to 32"),
        (("{file}:step", "--vocab", "x"), "vocab=x is not a whole number"),
        (("{file}:step", "--gamma", "0"), "gamma=0 is out of range"),
        (("{file}:step", "--gamma", "100"), "expected: a whole number, 1 to 99"),
        (("{file}:step", "--steps", "0"), "steps=0 is out of range"),
        (("{file}:step", "--tables", "0"), "tables=0 is out of range"),
        (("{file}:step", "--budget", "0"), "budget=0 is out of range"),
        (("{file}:step", "--dtype", "float"), "did you mean float"),
        (("{file}:step", "--framework", "jax"), "framework=jax is not a value"),
        (("{file}:step", "--mode", "prob"), "did you mean probe"),
        (("{file}:step", "--replays", "9"), "--replays says nothing in traced mode"),
        (("{file}:step", "--mode", "probe", "--replays", "0"), "replays=0 is out of range"),
        (("{file}:step", "--mode", "probe", "--confidence", "1"), "confidence=1 is out of range"),
        (("{file}:step", "--format", "html"), "format=html is not a value"),
        (("{file}:step", "--export", "html=x.html"), "an audit is not written as html"),
        (("{file}:step", "--export", "json={file}"), "the file is an input of this run"),
        (("{file}:step", "--export", "json={folder}/no/x"), "the file cannot be written"),
        (("{file}:step", "--framework", "numpy", "--dtype", "bfloat16"), "numpy has no bfloat16"),
        (("{file}:step", "--vocab", "9", "--vocab", "9"), "--vocab is given twice"),
        (("{file}:step", "--allow", "output-mismach"), "did you mean output-mismatch"),
        (("{file}:step", "--top-p", "0.9"), "no such option: --top-p"),
    ],
)
def test_bad_command_lines(arguments: tuple[str, ...], said: str, sampler: Path) -> None:
    places = {"file": sampler, "folder": sampler.parent}
    refused(*(text.format(**places) for text in arguments), said=said)


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("def step(:\n    pass\n", "the adapter's file is not Python: ", 1),
        ("x = 1\n  y = 2\n", "not Python: unexpected indent", 2),
        ("x\0y", "not Python: ", None),
        ("\xff".encode("latin-1"), "not Python: ", None),
        ("x = 1\nimport no_such_library\n", "raised ModuleNotFoundError while it was loaded", 2),
        ("import no_such_library\n", "install no_such_library in the environment", 1),
        ("\n\nraise ValueError('a\\nb')\n", "raised ValueError while it was loaded: a b", 3),
        ("import sys\nsys.exit(0)\n", "raised SystemExit while it was loaded: 0", 2),
        ("def f():\n    1 / 0\nf()\n", "raised ZeroDivisionError while it was loaded", 2),
        ("def f():\n    f()\nf()\n", "raised RecursionError while it was loaded", 2),
        ("def __getattr__(name):\n    1 / 0\n", "ZeroDivisionError when it was looked up", 2),
        ("from specdist.audit import case\ncase.vocab\n", "used outside of an audit", None),
    ],
)
def test_files_that_cannot_be_loaded(
    text: str | bytes, said: str, line: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "bad.py"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    result = refused("bad.py:step", said=said, cwd=tmp_path)
    if line is not None:
        assert f"\n  --> bad.py, line {line}\n" in result.stderr
    assert all(len(each) <= 80 for each in result.stderr.splitlines())


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return [0]", "draws nothing that the audit can see"),
        ("draw.bernoulli(0.5); return []", "returned no token"),
        ("draw.bernoulli(0.5); return [3]", "returned token 3, outside the vocabulary"),
        ("draw.bernoulli(0.5); return 'ab'", "returned str, no tokens"),
        ("draw.bernoulli(0.5); return None", "returned NoneType, no tokens"),
        ("draw.bernoulli(0.5); raise KeyError('k')", "raises whatever is drawn: KeyError: 'k'"),
        ("return [int(random.gauss(0, 1))]", "random.gauss"),
        ("return [int(random.random() < random.random())]", "comparing two uniforms"),
        ("return [draw.categorical([0, 0, 0])]", "weights that are no law"),
        ("seen.append(1); return [draw.categorical([1, *seen])]", "not a function of its"),
        ("return [draw.categorical([1, 1]) for _ in range(40)]", "has 3^40 sequences"),
    ],
)
def test_adapters_that_cannot_be_audited(body: str, said: str, tmp_path: Path) -> None:
    text = f"import random\nfrom specdist.audit import draw\nseen = []\ndef step():\n    {body}\n"
    write(tmp_path, text, "bad.py")
    result = run_here("audit", "bad.py:step", *SMALL, "--budget", "200", cwd=tmp_path)
    shown = " ".join(result.stderr.split()) + " ".join(result.stdout.split())
    assert said in shown
    assert "Traceback" not in result.stderr
    assert (result.code, result.stdout) == (2, "")


def test_more_leaves_than_the_budget_are_refused_before_the_run(tmp_path: Path) -> None:
    path = write(tmp_path, f"{TEXTBOOK}\n\ndef loud():\n    print('runs')\n    return step()\n")
    result = refused(f"{path}:loud", "--vocab", "9", "--gamma", "9", said="leaves")
    assert result.stderr.startswith("error[undecided-budget]: ")
    assert "V^(g+1)" in result.stderr
    assert "runs" not in result.stderr
    refused(f"{path}:loud", "--vocab", "32", "--gamma", "99", "--steps", "99", said="leaves")
    refused(f"{path}:step", *SMALL, "--budget", "3", said="leaves")


def test_a_budget_that_is_met_in_the_run_leaves_it_undecided(tmp_path: Path) -> None:
    text = """from specdist.audit import case, draw
def step():
    tokens = []
    for _ in range(6):
        tokens.append(draw.categorical(case.target(tokens)))
    return tokens
"""
    path = write(tmp_path, text, "long.py")
    result = run("audit", f"{path}:step", *SMALL, "--budget", "30")
    assert result.code == 4, result.stderr
    assert "warning[undecided-budget]: " in result.stdout
    assert "undecided: total variation at least 0 over 2 tables" in result.stdout
    report = report_of(f"{path}:step", *SMALL, "--budget", "30", code=4)
    assert report["summary"]["undecided"] == 2
    assert 0 < report["summary"]["unexplored_max"]["approx"] < 1
    assert run("audit", f"{path}:step", *SMALL, "--budget", "30", "--exit-zero").code == 0


def test_the_user_sees_the_traceback_of_their_code_only_when_asked(tmp_path: Path) -> None:
    path = write(tmp_path, "def f():\n    1 / 0\nf()\n", "bad.py")
    assert "Traceback" not in run("audit", f"{path}:f").stderr
    assert "Traceback" in run("audit", f"{path}:f", "-v").stderr


def test_a_config_file_names_no_adapter_and_sets_no_table(tmp_path: Path) -> None:
    write(tmp_path)
    for key in ("adapter", "vocab", "gamma", "reference"):
        (tmp_path / "specdist.toml").write_text(f'{key} = "sampler.py:step"\n', "utf-8")
        result = run_here("audit", "sampler.py:step", *SMALL, cwd=tmp_path)
        assert result.code == 2
        assert f"unknown key '{key}'" in result.stderr
    (tmp_path / "specdist.toml").write_text('show = "1"\nallow = ["output-mismatch"]\n', "utf-8")
    result = run_here("audit", "sampler.py:from_target", *SMALL, cwd=tmp_path)
    assert result.code == 0
    assert "more sequences" in result.stdout


def test_the_page_explains_and_its_adapter_is_lossless(tmp_path: Path) -> None:
    page = run("explain", "audit").stdout
    assert run("explain", "adapters").stdout == page
    lines = page.split("emitted:\n\n")[1].split("\n\n  case ")[0].splitlines()
    path = write(tmp_path, "\n".join(line[2:] for line in lines) + "\n", "shown.py")
    assert len([line for line in lines if line.strip()]) <= 14
    assert run("audit", f"{path}:step", "--steps", "1", "--tables", "6").code == 0


def test_help_names_the_command_and_its_options() -> None:
    assert "audit" in run("--help").stdout
    text = run("audit", "--help").stdout
    for name in ("vocab", "gamma", "tables", "steps", "dtype", "budget", "mode", "reference"):
        assert f"--{name} " in text
    assert "Exit codes" in text


def test_a_run_leaves_nothing_behind(sampler: Path) -> None:
    before, here = set(sys.modules), os.getcwd()
    run("audit", f"{sampler}:step", *SMALL)
    new = {name for name in set(sys.modules) - before if not name.startswith("specdist.")}
    assert "sampler" not in new
    assert os.getcwd() == here
    assert not (sampler.parent / "__pycache__").exists()
