"""``--baseline``: a run against an accepted report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdist.cli.settings import ALL_OPTIONS
from specdist.exact.interval import Interval
from specdist.model.baseline import StepRecord, divided, file_of
from specdist.model.figure import Figure
from specdist.model.verdict import Verdict
from specdist.readers import baseline as baseline_reader
from specdist.verify.baseline.changes import Change, changes, compared
from specdist.verify.baseline.settings import IGNORED
from tests.cli import ROOT, SAMPLES, Result, run

SCHEMA = json.loads((ROOT / "specdist/schemas/report.schema.json").read_text(encoding="utf-8"))

TARGET = ["1/2", "3/10", "1/5"]
DRAFT = ["1/5", "1/2", "3/10"]  # accepts 7/10
WORSE_DRAFT = ["1/10", "3/5", "3/10"]  # accepts 3/5
BETTER_DRAFT = ["2/5", "3/10", "3/10"]  # accepts 9/10


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def step(ident: str = "0", *drafts: list[str], bonus: bool = False, **more: Any) -> dict[str, Any]:
    rows = [{"target": TARGET, "draft": draft} for draft in drafts or (DRAFT,)]
    found = {"id": ident, "positions": rows, **more}
    if len(rows) > 1:
        found["draft_tokens"] = [0] * len(rows)
    return {**found, "bonus": TARGET} if bonus else found


def different(ident: str = "0", untested: str = "top-p:3/5") -> dict[str, Any]:
    """A step that drafts from one law and tests with another."""
    row = {"target": TARGET, "draft": DRAFT, "roles": {"drafted_from": untested}}
    return {"id": ident, "positions": [row]}


def write(*steps: dict[str, Any], name: str = "captured.json") -> None:
    whole = {"schema": "specdist.capture/1", "kind": "probabilities", "steps": list(steps)}
    Path(name).write_text(json.dumps(whole), encoding="utf-8")


def accept(
    *options: str, form: str = "json", captures: tuple[str, ...] = ("captured.json",)
) -> Any:
    """Writes the report of what is there as the baseline."""
    result = run("check", *captures, "--format", form, *options)
    Path("accepted.json").write_text(result.stdout, encoding="utf-8")
    return result.json() if form == "json" else None


def against(*options: str, captures: tuple[str, ...] = ("captured.json",)) -> Result:
    return run("check", *captures, "--baseline", "accepted.json", *options)


def found(*options: str) -> tuple[int, dict[str, Any]]:
    """Exit code and the comparison; the report is valid."""
    result = against("--format", "json", *options)
    report = result.json()
    jsonschema.validate(report, SCHEMA)
    return result.code, report["baseline"]


def messages(changes: list[dict[str, Any]]) -> list[str]:
    return [f"{c['id']}: {reason['message']}" for c in changes for reason in c["reasons"]]


def counts(comparison: dict[str, Any]) -> tuple[int, int, int, int, int, int]:
    return (
        comparison["matched"],
        len(comparison["worse"]),
        len(comparison["undecided"]),
        len(comparison["better"]),
        len(comparison["missing"]),
        comparison["new"],
    )


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_the_same_again_passes(form: str) -> None:
    write(step("0"), step("1", DRAFT, WORSE_DRAFT, bonus=True))
    accept(form=form)
    code, comparison = found()
    assert (code, counts(comparison)) == (0, (2, 0, 0, 0, 0, 0))
    assert comparison["acceptance_rate"]["after"]["exact"] == "2/3"
    shown = against().stdout
    assert "against accepted.json: 2 steps matched, none worse\n" in shown
    assert "acceptance rate over the matched steps 2/3 = 0.6667\n" in shown


SAME_AGAIN = [
    "chain_models.json",
    "tree_models.json",
    "top_two_listed.json",
    "draft_top_p_untested.json",
    "captures/bfloat16.safetensors --draft-lengths 4x2",
    "transformers/pair_f32.safetensors",
    "transformers/assisted_blocks.npz",
]


@pytest.mark.parametrize("words", SAME_AGAIN)
def test_every_kind_of_step_compares_with_itself(words: str) -> None:
    """Joint steps, rows known in part, blocks, float rows with rounding bounds."""
    name, *options = words.split()
    arguments = ("check", SAMPLES / name, "--format", "json", *options)
    first = run(*arguments)
    Path("accepted.json").write_text(first.stdout, encoding="utf-8")
    again = run(*arguments, "--baseline", "accepted.json")
    assert again.code == first.code
    comparison = again.json()["baseline"]
    steps = first.json()["summary"]["steps"]
    assert steps
    assert counts(comparison) == (steps, 0, 0, 0, 0, 0)


def test_a_lower_acceptance_rate_is_an_error_beyond_the_tolerance() -> None:
    write(step())
    accept()
    write(step("0", WORSE_DRAFT))
    code, comparison = found()
    assert code == 1
    (change,) = comparison["worse"]
    (reason,) = change["reasons"]
    assert (reason["what"], reason["position"]) == ("acceptance rate", 0)
    assert (reason["before"]["exact"], reason["after"]["exact"]) == ("7/10", "3/5")
    assert "(lower by 1/10)" in reason["message"]
    assert found("--baseline-tolerance", "1/10")[0] == 0
    assert found("--baseline-tolerance", "0.0999999999999999999999")[0] == 1


def test_what_became_better_and_what_is_new_fails_nothing() -> None:
    write(step("0"), different("1"))
    accept()
    write(step("0", BETTER_DRAFT), step("1"), step("2"))
    code, comparison = found()
    assert (code, counts(comparison)) == (0, (2, 0, 0, 2, 0, 1))
    assert "verdict equal, was different" in " ".join(messages(comparison["better"]))
    shown = against().stdout
    assert "2 steps matched, none worse, 2 better; 1 new" in shown
    assert "better: captured.json, step 0: acceptance rate 9/10" in shown
    assert "... and 1 more better" in against("--show", "1").stdout


VERDICTS = [
    (step(), different(), (), "verdict different, was equal"),
    (different(), different("0", "top-p:1/2"), (), "total variation 3/10"),
    (
        different("0", "temperature:99/100"),
        different(),
        ("--max-tv", "1/50"),
        "verdict different, was within-tolerance",
    ),
    (step(), different("0", "temperature:99/100"), ("--max-tv", "1/50"), "within-tolerance, was"),
]


@pytest.mark.parametrize(("before", "after", "options", "said"), VERDICTS)
def test_a_worse_verdict_or_variation_is_an_error(
    before: dict[str, Any], after: dict[str, Any], options: tuple[str, ...], said: str
) -> None:
    write(before)
    accept(*options)
    write(after)
    code, comparison = found(*options)
    assert code == 1
    assert said in " ".join(messages(comparison["worse"]))
    write(before)
    assert found(*options)[1]["worse"] == []


def test_equal_that_becomes_undecided_is_worse() -> None:
    write(step())
    accept()
    shutil.copy(SAMPLES / "top_two_listed.json", "captured.json")
    code, comparison = found()
    assert code == 1
    assert messages(comparison["worse"])[0] == "0: verdict undecided, was equal"


def test_bad_in_both_is_no_regression_and_still_fails() -> None:
    write(different())
    accept()
    code, comparison = found()
    assert (code, counts(comparison)) == (1, (1, 0, 0, 0, 0, 0))
    assert found("--allow", "drafted-mismatch", "--allow", "support-hole")[0] == 0


def test_a_new_finding_is_an_error_unless_it_is_allowed() -> None:
    write(different())
    accept()
    report = json.loads(Path("accepted.json").read_text(encoding="utf-8"))
    idents = [item["ident"] for item in report["steps"][0]["findings"]]
    assert len(idents) > 1
    report["steps"][0]["findings"] = [
        item for item in report["steps"][0]["findings"] if item["ident"] != "drafted-mismatch"
    ]
    Path("accepted.json").write_text(json.dumps(report), encoding="utf-8")
    assert messages(found()[1]["worse"]) == ["0: new finding drafted-mismatch"]
    assert found("--allow", "drafted-mismatch")[1]["worse"] == []


def test_steps_that_are_not_checked_any_more_are_an_error() -> None:
    write(step("0"), step("1"), step("2"))
    accept()
    write(step("1"))
    code, comparison = found()
    assert (code, counts(comparison)) == (1, (1, 0, 0, 0, 2, 0))
    result = against()
    assert "error[baseline-regression]: 2 steps of accepted.json not checked" in result.stdout
    assert "   = note: captured.json, step 0\n" in result.stdout
    assert "ok: output equals" not in result.stdout
    assert against("--allow", "baseline-regression").code == 0


def test_positions_and_bonus_rows_that_are_not_checked_any_more_are_errors() -> None:
    write(step("0", DRAFT, DRAFT, bonus=True))
    accept()
    write(step("0", DRAFT))
    code, comparison = found()
    assert code == 1
    assert messages(comparison["worse"]) == [
        "0: position 1 is not checked any more",
        "0: the bonus row is not checked any more",
    ]


def test_a_file_that_is_gone_is_lost_coverage() -> None:
    Path("all").mkdir()
    write(step(), name="all/a.json")
    write(step(), name="all/b.json")
    accept(captures=("all",))
    Path("all/b.json").unlink()
    result = against(captures=("all",))
    assert result.code == 1
    assert "note: all/b.json, step 0" in result.stdout


def test_steps_that_the_budget_did_not_reach_leave_the_run_undecided() -> None:
    write(step("0"), step("1"))
    accept()
    result = against("--budget", "0.0000001", "--workers", "1")
    assert result.code == 4
    assert "1 step of accepted.json not reached within the time budget" in " ".join(
        result.stdout.split()
    )


def test_worst_first_and_no_more_than_shown() -> None:
    write(*(step(str(i)) for i in range(6)))
    accept()
    drafts = [["1/2", "1/2", "0"], ["0", "1/2", "1/2"], ["0", "0", "1"]]  # 4/5, 1/2, 1/5
    write(*(step(str(i), drafts[i % 3]) for i in range(5)), different("5"))
    result = against("--show", "2")
    told = [line for line in result.stdout.splitlines() if line.startswith("   = note: captured")]
    assert "step 5: verdict different, was equal" in told[0]
    assert len(told) == 2
    assert "... and " in result.stdout
    everything = messages(found()[1]["worse"])
    sizes = [m for m in everything if "acceptance rate" in m and "lower" in m]
    assert [m.partition(":")[0] for m in sizes if not m.startswith("5")] == ["2", "1", "4"]


def test_the_findings_are_those_of_the_run_in_quiet_and_json_lines() -> None:
    write(step())
    accept()
    write(step("0", WORSE_DRAFT))
    quiet = against("--quiet").stdout.splitlines()
    assert quiet[0].startswith("error[baseline-regression]: 1 of 1 matched steps worse than in")
    last = json.loads(against("--format", "jsonl").stdout.splitlines()[-1])
    assert last["findings"][0]["ident"] == "baseline-regression"
    assert counts(last["baseline"]) == (1, 1, 0, 0, 0, 0)


NAMES = [
    ("captured.json", "./captured.json"),
    ("./captured.json", "captured.json"),
    ("captured.json", "ABSOLUTE"),
    ("ABSOLUTE", "captured.json"),
]


@pytest.mark.parametrize(("before", "after"), NAMES)
def test_a_file_is_the_same_however_it_is_named(before: str, after: str) -> None:
    write(step())
    absolute = str(Path.cwd() / "captured.json")
    accept(captures=(before.replace("ABSOLUTE", absolute),))
    assert against(captures=(after.replace("ABSOLUTE", absolute),)).code == 0


def test_a_source_loses_its_place_and_nothing_else() -> None:
    assert file_of("a/./b.json, steps[3]") == "a/b.json"
    assert file_of("a.npz, rows 0 to 3") == file_of("a.npz, row 7") == "a.npz"
    assert file_of("a.jsonl, line 3") == "a.jsonl"
    assert file_of("a, b.json, steps[0]") == "a, b.json"
    assert file_of("t.npy and d.npy, row 1") == "t.npy and d.npy"


def test_steps_that_share_their_id_are_matched_in_order() -> None:
    write(step("x"), step("x", WORSE_DRAFT), step("y"))
    accept()
    code, comparison = found()
    assert (code, counts(comparison)) == (0, (3, 0, 0, 0, 0, 0))
    assert "2 steps of the baseline share file and id" in comparison["notes"][0]
    write(step("x"), step("y"))
    assert counts(found()[1]) == (2, 0, 0, 0, 1, 0)


def test_what_the_capture_itself_sets_is_noted() -> None:
    write(step())
    accept()
    write(different("0", "top-p:1"))
    code, comparison = found()
    assert code == 0
    (note,) = comparison["notes"]
    assert "1 step was checked under other settings of the capture: role drafted_from" in note
    assert "role drafted_from was draft raw, is draft top-p:1" in note


def test_nothing_matched_is_refused() -> None:
    write(step())
    accept()
    write(step(), name="other.json")
    for form in ("text", "json"):
        result = against("--format", form, captures=("other.json",))
        assert (result.code, result.stdout) == (2, "")
        assert "none of the 1 steps of this run is in the baseline" in result.stderr
        assert "as captured.json, step 0" in result.stderr


DIFFER = [
    (("--temperature", "1/2"), (), "temperature was 1/2, is not given"),
    ((), ("--top-p", "9/10"), "top-p was not given, is 9/10"),
    ((), ("--rule", "block"), "rule was token, is block"),
    ((), ("--engine", "vllm"), "engine was not given, is vllm"),
    ((), ("--role", "drafted_from=top-p:9/10"), "is drafted_from=top-p:9/10"),
    ((), ("--select", "0*"), "select was not given, is 0*"),
    ((), ("--max-tv", "1/100"), "max-tv was not given, is 1/100"),
    (("--limit", "1"), ("--limit", "2"), "limit was 1, is 2"),
    ((), ("--uniform", "2^24"), "uniform was real, is 2^24"),
]


@pytest.mark.parametrize(("before", "after", "said"), DIFFER)
def test_other_settings_are_refused_by_name(
    before: tuple[str, ...], after: tuple[str, ...], said: str
) -> None:
    write(step())
    accept(*before)
    result = against(*after)
    assert (result.code, result.stdout) == (2, ""), result.stdout
    text = " ".join(result.stderr.split())
    assert "error[invalid-settings]: the baseline was made under other settings: " in text
    assert said in text


def test_settings_that_no_verdict_depends_on_may_differ() -> None:
    write(step())
    accept("--temperature", "1/2", "--show", "3", "--budget", "100")
    result = against(
        *("--temperature", "0.5", "--exact", "--workers", "1", "--verbose", "--color", "never"),
        *("--min-acceptance", "1/10", "--allow", "near-cut", "--draft-cost", "1/10"),
        *("--export", "jsonl=lines.jsonl"),
    )
    assert (result.code, result.stderr) == (0, "")


def test_every_setting_that_may_differ_is_an_option() -> None:
    """An option counts unless it is listed; a listed name that is none would hide a misspelling."""
    names = {option.name for option in ALL_OPTIONS}
    assert IGNORED - names <= {"captures"}
    assert names & set(baseline_reader._FORGET) == set(), "the value of an option would be lost"


def test_another_version_is_compared_with_a_note() -> None:
    write(step())
    report = accept()
    report["specdist"] = "0.0.1"
    del report["settings"]["uniform"]  # an option that the earlier version did not have
    Path("accepted.json").write_text(json.dumps(report), encoding="utf-8")
    code, comparison = found()
    assert code == 0
    assert comparison["specdist"] == "0.0.1"
    assert comparison["notes"] == ["the baseline was written by specdist 0.0.1"]
    report["settings"]["of-another-version"] = "1"
    Path("accepted.json").write_text(json.dumps(report), encoding="utf-8")
    assert "of-another-version was 1, is not given" in " ".join(against().stderr.split())


def test_the_config_file_names_a_baseline_and_only_check_reads_it() -> None:
    write(step())
    accept()
    config = Path("specdist.toml")
    config.write_text('baseline = "accepted.json"\nbaseline-tolerance = "1/20"\n', "utf-8")
    write(step("0", WORSE_DRAFT))
    assert run("check", "captured.json").code == 1
    assert run("check", "captured.json", "--baseline-tolerance", "1/10").code == 0
    Path("accepted.json").unlink()
    result = run("check", "captured.json")
    assert (result.code, result.stdout) == (2, "")
    assert "accepted.json" in result.stderr
    assert run("what-if", "--target", "1,0,0", "--draft", "1,0,0").code == 0


def test_a_baseline_is_not_overwritten_by_the_run_that_reads_it() -> None:
    write(step())
    accept()
    before = Path("accepted.json").read_bytes()
    result = against("--export", "json=./accepted.json")
    assert result.code == 2
    assert "the file is an input of this run" in result.stderr
    assert Path("accepted.json").read_bytes() == before


def test_a_tolerance_without_a_baseline_is_refused() -> None:
    write(step())
    result = run("check", "captured.json", "--baseline-tolerance", "1/10")
    assert result.code == 2
    assert "without a baseline" in result.stderr


def changed(path: str, value: Any) -> Callable[[dict[str, Any]], str]:
    """The report with one member replaced, as text."""

    def edit(report: dict[str, Any]) -> str:
        holder: Any = report
        *keys, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        for key in keys:
            holder = holder[key]
        if value is ...:
            del holder[last]
        else:
            holder[last] = value
        return json.dumps(report)

    return edit


RATE = "steps.0.positions.0.acceptance_rate"
DAMAGED: list[tuple[str, Callable[[dict[str, Any]], str], str]] = [
    ("nothing", lambda _: "", "no JSON report"),
    ("no JSON", lambda _: "accepted", "no JSON report"),
    ("a list", lambda _: "[]", "no JSON report"),
    ("cut", lambda r: json.dumps(r)[:-200], "ends too early"),
    ("cut lines", lambda r: json.dumps(r, indent=1)[:-200], "ends too early"),
    ("deep", lambda _: '{"a":' + "[" * 100_000, "nested too deeply"),
    ("NaN", lambda r: json.dumps(r).replace("0.7}", "NaN}", 1), "NaN"),
    ("huge number", lambda r: json.dumps(r).replace("0.7}", "1" * 5000 + "}", 1), "5000 char"),
    ("huge exponent", lambda r: json.dumps(r).replace("0.7}", "1e999999}"), "1e999999"),
    ("repeated key", lambda r: json.dumps(r).replace("{", '{"schema": "a", ', 1), "twice"),
    ("schema", changed("schema", "specdist.replay/1"), "of schema specdist.replay/1"),
    ("schema type", changed("schema", [1]), "of schema"),
    ("no schema", changed("schema", ...), "names no schema"),
    ("no steps", changed("steps", []), "holds no step"),
    ("steps type", changed("steps", {"0": 1}), "steps"),
    ("step type", changed("steps.0", 5), "steps[0]"),
    ("no settings", changed("settings", ...), "lacks 'settings'"),
    ("settings type", changed("settings", "all"), "settings"),
    ("version type", changed("specdist", 3), "specdist"),
    ("id type", changed("steps.0.id", 7), "steps[0].id"),
    ("id number", changed("steps.0.id", 0.5), "steps[0].id"),
    ("verdict", changed("steps.0.verdict", "fine"), "equal or within-tolerance"),
    ("verdict type", changed("steps.0.verdict", ["equal"]), "steps[0].verdict"),
    ("no source", changed("steps.0.source", ...), "lacks 'source'"),
    ("positions type", changed("steps.0.positions", 3), "steps[0].positions"),
    ("index", changed("steps.0.positions.0.index", -1), "index"),
    ("rate type", changed(RATE, 0.7), "acceptance_rate"),
    ("rate range", changed(RATE, {"exact": "3/2", "approx": 1.5}), "from 0 to 1"),
    ("rate negative", changed(RATE, {"exact": "-1/2", "approx": -0.5}), "from 0 to 1"),
    ("rate changed", changed(f"{RATE}.exact", "1/10"), "one number"),
    ("rate text", changed(f"{RATE}.exact", "1/0"), "fraction"),
    ("rate long", changed(f"{RATE}.exact", "9" * 3000), "one number"),
    ("approx text", changed(f"{RATE}.approx", "0.7"), "approx"),
    ("approx true", changed(f"{RATE}.approx", True), "approx"),
    ("interval", changed(RATE, {"least": 0, "most": 1}), "an object"),
    (
        "interval reversed",
        changed(RATE, {"least": {"exact": "1", "approx": 1}, "most": {"exact": "0", "approx": 0}}),
        "least number first",
    ),
    ("finding type", changed("steps.0.findings", [3]), "findings"),
    ("role type", changed("steps.0.positions.0.roles", [3]), "roles"),
    ("options type", changed("steps.0.options", 3), "options"),
    ("joint", changed("steps.0.joint", {"depth": 1}), "joint"),
]


@pytest.mark.parametrize(("edit", "said"), [d[1:] for d in DAMAGED], ids=[d[0] for d in DAMAGED])
def test_a_damaged_baseline_is_a_clean_error(
    edit: Callable[[dict[str, Any]], str], said: str
) -> None:
    write(step())
    report = accept()
    Path("accepted.json").write_text(edit(report), encoding="utf-8")
    result = against()
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[invalid-settings]: ")
    assert "accepted.json" in result.stderr
    assert said in " ".join(result.stderr.split())
    assert "a JSON capture" not in result.stderr


def test_json_lines_without_their_end_are_refused() -> None:
    write(step("0"), step("1"), step("2"))
    accept(form="jsonl")
    lines = Path("accepted.json").read_text(encoding="utf-8").splitlines()
    Path("accepted.json").write_text("\n".join(lines[:2]), encoding="utf-8")
    assert "ends before its last line" in " ".join(against().stderr.split())
    Path("accepted.json").write_text("\n".join([*lines[:2], '{"error": {}}']), encoding="utf-8")
    assert "ended with an error" in " ".join(against().stderr.split())


def test_files_that_cannot_be_read_are_refused() -> None:
    write(step())
    shutil.copy("captured.json", "accepted.json")
    assert "of schema specdist.capture/1" in " ".join(against().stderr.split())
    Path("accepted.json").unlink()
    assert "no such file" in against().stderr
    Path("accepted.json").mkdir()
    assert "this is a folder" in against().stderr


def test_rounding_is_a_doubt_and_not_a_regression() -> None:
    """A rate that falls within its rounding bound is neither worse nor as it was."""
    write(step())
    report = accept()
    rate = report["steps"][0]["positions"][0]["acceptance_rate"]
    rate.update(exact="70000000000001/100000000000000", approx=0.70000000000001, bound=1e-12)
    Path("accepted.json").write_text(json.dumps(report), encoding="utf-8")
    result = against("--format", "json")
    assert (result.code, result.json()["verdict"]) == (4, "undecided")
    comparison = result.json()["baseline"]
    assert counts(comparison) == (1, 0, 1, 0, 0, 0)
    assert found("--baseline-tolerance", "1e-9")[0] == 0
    assert found("--allow", "baseline-regression")[0] == 0
    shown = " ".join(against().stdout.split())
    assert "warning[baseline-regression]: 1 of 1 matched steps perhaps worse" in shown
    rate["bound"] = 1e-15
    Path("accepted.json").write_text(json.dumps(report), encoding="utf-8")
    assert found()[0] == 1


def test_a_number_of_which_only_the_float_is_known_compares_with_its_rounding() -> None:
    write(step())
    report = accept()
    rate = report["steps"][0]["positions"][0]["acceptance_rate"]
    rate.update(exact=None, approx=0.7)
    Path("accepted.json").write_text(json.dumps(report), encoding="utf-8")
    assert counts(found()[1]) == (1, 0, 0, 0, 0, 0)
    rate.update(exact=None, approx=0.7000000001)
    Path("accepted.json").write_text(json.dumps(report), encoding="utf-8")
    assert counts(found()[1]) == (1, 1, 0, 0, 0, 0)


@given(st.fractions(0, 1), st.integers(1, 7))
def test_a_rate_of_which_the_report_has_a_float_is_no_loss(rate: Fraction, depth: int) -> None:
    """Accepted tokens of a chain, rounded to float64 in the report, divided by its length."""
    before = divided(Figure(float(rate * depth), None), depth)
    for rising in (True, False):
        assert compared(before, Figure.of(rate), Fraction(0), rising)[0] is Change.NONE
        shift = Fraction(1, 2**40) * (-1 if rising else 1)
        moved = Figure.of(rate + shift)
        assert compared(before, moved, Fraction(0), rising)[0] is Change.WORSE


def test_different_that_becomes_undecided_is_no_improvement() -> None:
    was, now = (
        StepRecord("0", "a.json", verdict, (), frozenset(), frozenset())
        for verdict in (Verdict.DIFFERENT, Verdict.UNDECIDED)
    )
    assert changes(was, now, Fraction(0)) == []
    (back,) = changes(now, was, Fraction(0))
    assert back.change is Change.WORSE


SHARES = st.fractions(0, 1, max_denominator=20)
INTERVALS = st.tuples(SHARES, SHARES).map(lambda ends: Interval(min(ends), max(ends)))


@given(INTERVALS, INTERVALS, st.fractions(0, 1, max_denominator=10), st.booleans())
def test_the_comparison_is_that_of_every_number_in_the_intervals(
    before: Interval, after: Interval, tolerance: Fraction, rising: bool
) -> None:
    change, size = compared(before, after, tolerance, rising)
    corners = [
        (was - now if rising else now - was)
        for was in (before.least, before.most)
        for now in (after.least, after.most)
    ]
    assert (change is Change.WORSE) == all(loss > tolerance for loss in corners)
    if change is Change.WORSE:
        assert size == min(corners)
    if change is Change.BETTER:
        assert all(loss < 0 for loss in corners)
        assert size == min(-loss for loss in corners)
    sign = 1 if rising else -1
    ends = (sign * (before.least - after.least), sign * (before.most - after.most))
    if change is Change.OPEN:
        assert any(loss > tolerance for loss in ends)
    if change in (Change.BETTER, Change.NONE):
        assert all(loss <= tolerance for loss in ends)
    if before == after:
        assert change is Change.NONE


@given(SHARES, SHARES, st.fractions(0, 1, max_denominator=10), st.booleans())
def test_exact_numbers_are_never_in_doubt(
    before: Fraction, after: Fraction, tolerance: Fraction, rising: bool
) -> None:
    loss = before - after if rising else after - before
    expected = Change.WORSE if loss > tolerance else Change.BETTER if loss < 0 else Change.NONE
    assert compared(Figure.of(before), Figure.of(after), tolerance, rising)[0] is expected
