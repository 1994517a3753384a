"""``specdist what-if --sweep``: every point against an independent computation; refusals."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest

from specdist.cli.commands.config import schema
from specdist.cli.sweep_options import read_sweeps, spelled
from tests import oracle
from tests.cli import ROOT, run

TARGET = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
DRAFT = [Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)]
ROWS = ("--target", "1/2,3/10,1/5", "--draft", "1/5,1/2,3/10")
DUMPS = ROOT / "sample_inputs" / "captures"
PAIR = (
    *("--target", DUMPS / "target.npy", "--draft", DUMPS / "draft.npy"),
    *("--draft-lengths", "4x4", "--kind", "logits", "--limit", "2"),
)


def sweep(*options: object, code: int = 0) -> dict:
    result = run("what-if", *options, "--format", "json")
    assert result.code == code, result.stderr
    report = result.json()
    jsonschema.validate(report, json.loads(schema("sweep")))
    return report


def rate(point: dict) -> Fraction:
    return Fraction(point["acceptance_rate"]["exact"])


def overlap(one: list[Fraction], other: list[Fraction]) -> Fraction:
    return sum(map(min, one, other), Fraction(0))


def test_a_range_has_both_ends_and_exact_steps() -> None:
    (axis,) = read_sweeps(["temperature=0:2:0.1"], {})
    assert axis.numbers == tuple(Fraction(i, 10) for i in range(21))
    assert axis.values[1] == "0.1"
    assert axis.values[-1] == "2"
    (whole,) = read_sweeps(["top-k=1:4"], {})
    assert whole.values == ("1", "2", "3", "4")
    assert spelled(Fraction(1, 3)) == "1/3"


def test_top_p_is_that_of_the_oracle_at_every_value() -> None:
    report = sweep(*ROWS, "--sweep", "top-p=0.05:1:0.05")
    assert len(report["points"]) == 20
    for point in report["points"]:
        share = Fraction(point["setting"]["top-p"])
        expected = overlap(oracle.top_p(TARGET, share), oracle.top_p(DRAFT, share))
        assert rate(point) == expected
        assert point["verdict"] == "equal"
        assert Fraction(point["expected_tokens"]["exact"]) == 1 + expected


def test_a_grid_runs_its_last_axis_fastest_and_agrees_with_single_runs() -> None:
    report = sweep(*ROWS, "--sweep", "temperature=1/2,1,0", "--sweep", "min-p=0:1:0.5")
    settings = [tuple(point["setting"].values()) for point in report["points"]]
    assert settings[:4] == [("0.5", "0"), ("0.5", "0.5"), ("0.5", "1"), ("1", "0")]
    for (temperature, min_p), point in zip(settings, report["points"], strict=True):
        alone = run(
            "what-if", *ROWS, "-T", temperature, "--min-p", min_p, "--format", "json"
        ).json()
        for name in ("acceptance_rate", "total_variation_max"):
            assert point[name] == alone["summary"][name]
        assert point["verdict"] == alone["verdict"]


def test_a_change_of_one_side_that_the_test_does_not_know_is_different() -> None:
    """Drafted at another temperature than tested."""
    role = ("--role", "accept_draft=raw", "--role", "residual_draft=raw")
    report = sweep(*ROWS, *role, "--sweep", "draft-temperature=0.5,1", code=1)
    assert [point["verdict"] for point in report["points"]] == ["different", "equal"]
    drafted = oracle.temperature(DRAFT, Fraction(1, 2))
    law = oracle.token_rule(TARGET, drafted, accept_draft=DRAFT, residual_draft=DRAFT)
    assert Fraction(report["points"][0]["total_variation_max"]["exact"]) == law.total_variation
    again = report["reproduce"]
    assert again.startswith("specdist what-if --target")
    import shlex

    assert run(*shlex.split(again)[1:]).code == 1


def test_rules_and_engines_are_axes() -> None:
    report = sweep(*ROWS, "--sweep", "rule=token,one-hot,lenience:4/5:recovery=target", code=1)
    assert [point["verdict"] for point in report["points"]] == ["equal", "equal", "different"]


def test_the_floor_of_top_p_is_exact() -> None:
    """Kept sets change where P passes a cumulative mass: 1/2 and 4/5."""
    report = sweep(*ROWS, "--sweep", "top-p=0.1:1:0.1", "--min-acceptance", "0.5", code=1)
    floor = report["floor"]
    assert floor["complete"]
    rates = {Fraction(p["setting"]["top-p"]): rate(p) for p in report["points"]}
    below = [value for value, found in rates.items() if found < Fraction(1, 2)]
    (crossing,) = floor["crossings"]
    assert max(below) <= Fraction(crossing["high"]["exact"]) <= min(set(rates) - set(below))


def test_the_temperature_that_loses_the_floor_lies_between_proven_ends() -> None:
    report = sweep(*ROWS, "--sweep", "temperature=0.5:2:0.5", "--min-acceptance", "0.8", code=1)
    (crossing,) = report["floor"]["crossings"]
    low, high = (Fraction(crossing[end]["exact"]) for end in ("low", "high"))
    assert 0 < high - low <= Fraction(1, 10**8)
    for value, reached in ((low, False), (high, True)):
        alone = run("what-if", *ROWS, "-T", value, "--min-acceptance", "0.8", "-q")
        assert (alone.code == 0) is reached


def test_draft_lengths_over_rows_state_their_model() -> None:
    report = sweep(*ROWS, "--sweep", "draft-length=1:6", "--draft-cost", "1/10")
    assert report["assumes"]
    a = Fraction(7, 10)
    for point in report["points"]:
        length = int(point["setting"]["draft-length"])
        tokens = sum(a**i for i in range(length + 1))
        assert Fraction(point["expected_tokens"]["exact"]) == tokens
        factor = Fraction(point["walltime_factor"]["exact"])
        assert factor == tokens / (1 + length * Fraction(1, 10))
    best = max(report["points"], key=lambda p: Fraction(p["walltime_factor"]["exact"]))
    assert report["points"][report["best"]["point"]] == best


def test_dumps_are_swept_and_agree_with_check() -> None:
    report = sweep(*PAIR, "--sweep", "temperature=0.7,1", "--sweep", "top-p=0.9,1")
    for point in report["points"]:
        words = [w for name, value in point["setting"].items() for w in (f"--{name}", value)]
        alone = run("check", *PAIR, *words, "--format", "json").json()
        assert point["acceptance_rate"] == alone["summary"]["acceptance_rate"]
        assert point["verdict"] == alone["verdict"] == "equal"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--sweep", "temprature=0:1:0.1"), "did you mean temperature"),
        (("--sweep", "temperature"), "AXIS=VALUES"),
        (("--sweep", "temperature=2:0:0.1"), "ends before it starts"),
        (("--sweep", "temperature=0:2:0"), "step 0"),
        (("--sweep", "temperature=0:2:-0.1"), "above 0"),
        (("--sweep", "temperature=0:2:1e-9"), "100,000"),
        (("--sweep", "temperature=0:1", "--sweep", "temperature=1:2"), "swept twice"),
        (("--sweep", "temperature=0:1", "-T", "1"), "given as an option"),
        (("--sweep", "top-p=0:2:0.5"), "top-p"),
        (("--sweep", "top-k=0.5:3:1"), "top-k"),
        (("--sweep", "temperature="), "empty value"),
        (("--sweep", "rule=token,blok"), "blok"),
        (("--sweep", "temperature=a:b"), "temperature has no option"),
        (("--sweep", "temperature=0:1:1", "--plot", "x.gif"), "ending of a picture"),
        (("--sweep", "temperature=0:1:1", "--plot", "nowhere/x.html"), "cannot be written"),
        (("--sweep", "temperature=0:1:1", "--format", "sarif"), "sarif"),
        (("--kind", "logits"), "rows are typed"),
    ],
)
def test_what_is_no_sweep_is_refused(
    options: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("what-if", *ROWS, *options)
    assert (result.code, result.stdout) == (2, ""), result.stdout[:300]
    assert said in result.stderr.replace("\n    ", " ")
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_without_rows_is_refused() -> None:
    result = run("what-if", "--sweep", "temperature=0:1:0.5")
    assert (result.code, result.stdout) == (2, "")


def test_csv_has_a_row_a_setting(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    printed = run(
        "what-if", *ROWS, "--sweep", "top-p=0.5:1:0.25", "--format", "csv", "--export",
        f"csv={path}",
    )  # fmt: skip
    assert printed.code == 0, printed.stderr
    rows = list(csv.DictReader(io.StringIO(printed.stdout)))
    assert [row["top-p"] for row in rows] == ["0.5", "0.75", "1"]
    assert path.read_text("utf-8").splitlines() == printed.stdout.splitlines()


@pytest.mark.parametrize("kind", ["png", "svg", "html"])
@pytest.mark.parametrize("options", [(), ("--sweep", "temperature=0.5:1.5:0.5")])
def test_pictures_are_the_same_bytes_twice(
    kind: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "html": b"<!doctype html>"}
    made = []
    for number in range(2):
        path = tmp_path / f"{number}.{kind}"
        result = run("what-if", *ROWS, *options, "--plot", path)
        assert result.code == 0, result.stderr
        made.append(path.read_bytes())
    assert made[0] == made[1]
    assert made[0].startswith(begins[kind])


def test_the_terminal_shows_three_bars() -> None:
    text = run("what-if", *ROWS, "--plot", "-").stdout
    head, first, second, third = text.rstrip().splitlines()[-4:]
    assert "accepted + recovered" in head
    # the longest mass, 1/2, fills its column; recovered mass is drawn lighter than accepted
    assert first.count("█") > third.count("█")
    assert "░" in first
    assert "░" not in second + third


def test_text_fits_and_says_the_same_without_colour() -> None:
    command = ("what-if", *ROWS, "--sweep", "temperature=0.5:2:0.5", "--sweep", "top-p=0.5:1:0.1")
    plain = run(*command)
    assert all(len(line) <= 80 for line in plain.stdout.splitlines())
    assert "\x1b" not in plain.stdout
    assert "24 settings checked" in plain.stdout
