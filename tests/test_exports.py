"""``--export FORM=PATH``: refused early, written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from specdist.cli import exports
from specdist.errors import SettingsError
from specdist.reports.forms.registry import FORMS
from tests.cli import run

SAMPLES = Path(__file__).parent.parent / "sample_inputs"
PASSES = SAMPLES / "three_tokens.json"
FAILS = SAMPLES / "draft_top_p_untested.json"
TRACE = SAMPLES / "traces" / "recovered_from_target"


@pytest.mark.parametrize("form", [form.name for form in FORMS])
def test_every_form_is_written_beside_the_printed_report(form: str, tmp_path: Path) -> None:
    path = tmp_path / "report"
    result = run("check", FAILS, "--export", f"{form}={path}")
    assert result.code == 1
    assert result.stdout == run("check", FAILS).stdout
    assert "drafted-mismatch" in path.read_text("utf-8") or form == "csv"
    assert [item.name for item in tmp_path.iterdir()] == ["report"]


def test_what_is_printed_and_what_is_exported_agree(tmp_path: Path) -> None:
    for form in [form.name for form in FORMS if form.printed]:
        path = tmp_path / form
        printed = run("check", PASSES, "--format", form, "--export", f"{form}={path}")
        assert printed.code == 0, printed.stderr
        assert without_export(path.read_text("utf-8")) == without_export(printed.stdout)


def without_export(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if "three_tokens" in line or "ok" in line)


def test_several_exports_of_one_run(tmp_path: Path) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.txt"
    result = run("check", PASSES, FAILS, "--export", f"json={a}", "--export", f"text={b}", "-q")
    assert result.code == 1
    report = json.loads(a.read_text("utf-8"))
    assert [step["verdict"] for step in report["steps"]] == ["equal", "different"]
    assert all(step["positions"][0]["tokens"] for step in report["steps"])
    assert b.read_text("utf-8") == run("check", PASSES, FAILS).stdout


def test_steps_of_json_lines_are_exported_too(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    result = run("check", PASSES, FAILS, "--format", "jsonl", "--export", f"json={path}")
    assert len(result.stdout.splitlines()) == 3
    assert len(json.loads(path.read_text("utf-8"))["steps"]) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("junt=x", "did you mean junit"),
        ("json", "FORM=PATH"),
        ("json=", "FORM=PATH"),
        ("=x", "unknown form ''"),
        ("json=-", "--format writes to standard output"),
        ("json=nowhere/x", "cannot be written"),
        ("json=.", "it is a directory"),
        ("json=a\0b", "FORM=PATH"),
        (f"json={PASSES}", "an input of this run"),
    ],
)
def test_exports_that_cannot_be_are_refused(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = PASSES.read_bytes()
    result = run("check", PASSES, "--export", text)
    assert (result.code, result.stdout) == (2, "")
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []
    assert PASSES.read_bytes() == before


def test_two_forms_to_one_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    other = tmp_path / "folder" / ".." / "x"
    (tmp_path / "folder").mkdir()
    result = run("check", PASSES, "--export", f"json={path}", "--export", f"text={other}")
    assert result.code == 2
    assert "the same file" in result.stderr


def test_a_run_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("before", "utf-8")
    broken = tmp_path / "broken.json"
    broken.write_text('{"target": [1, 2', "utf-8")
    result = run("check", broken, "--export", f"json={path}")
    assert (result.code, result.stdout) == (2, "")
    assert path.read_text("utf-8") == "before"
    assert {item.name for item in tmp_path.iterdir()} == {"report.json", "broken.json"}


def test_a_form_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All texts are made before the first file is, and all files before the first is renamed."""
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("before", "utf-8")
    wanted = {exports.Export("json", str(first)): "new", exports.Export("text", str(second)): "new"}

    def refuse(self: Path, data: bytes) -> int:
        if self.name.startswith(".b."):
            raise OSError(28, "No space left on device")
        return original(self, data)

    original = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(SettingsError, match="no space left on device"):
        exports.write_texts(wanted)
    assert first.read_text("utf-8") == "before"
    assert [item.name for item in tmp_path.iterdir()] == ["a"]


def test_a_file_that_is_replaced_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "report.json", tmp_path / "latest"
    path.write_text("before", "utf-8")
    path.chmod(0o600)
    link.symlink_to(path)
    assert run("check", PASSES, "--export", f"json={link}").code == 0
    assert link.is_symlink()
    assert json.loads(path.read_text("utf-8"))["verdict"] == "equal"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_device_is_written_to() -> None:
    assert run("check", PASSES, "--export", f"json={os.devnull}").code == 0
    assert Path(os.devnull).is_char_device()


def test_a_replay_is_exported(tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    result = run("replay", TRACE, "--export", f"json={path}")
    assert result.code == 1
    assert json.loads(path.read_text("utf-8"))["schema"] == "specdist.replay/1"
    refused = run("replay", TRACE, "--export", f"html={path}")
    assert refused.code == 2
    assert "a replay is not written as html" in refused.stderr


def test_a_cost_report_is_only_printed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    options = ("--acceptance", "0.8", "--draft-length", "4", "--draft-cost", "0.1")
    result = run("what-if", *options, "--export", f"json={path}")
    assert result.code == 2
    assert not path.exists()
    assert run("what-if", *options, "--format", "junit").code == 2


def test_exports_of_the_config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = f'captures = ["{SAMPLES.as_posix()}/draft_*.json"]\n[export]\njson = "r.json"\n'
    Path("specdist.toml").write_text(config, "utf-8")
    result = run("check", "-q")
    assert result.code == 1
    steps = json.loads(Path("r.json").read_text("utf-8"))["steps"]
    assert [Path(step["source"].split(",")[0]).name for step in steps] == [
        "draft_top_p.json",
        "draft_top_p_untested.json",
    ]
    given = run("check", PASSES, "--export", "text=t.txt")
    assert given.code == 0
    assert "three_tokens" in Path("t.txt").read_text("utf-8")


@pytest.mark.parametrize("captures", ['["none*.json"]', "[]", '["none.json"]', "7", '[{"a" = 1}]'])
def test_captures_that_are_nothing_are_no_pass(
    captures: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("specdist.toml").write_text(f"captures = {captures}\n", "utf-8")
    result = run("check")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[")


def test_the_job_summary_is_appended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.md"
    path.write_text("# earlier\n", "utf-8")
    monkeypatch.setenv(exports.SUMMARY_VARIABLE, str(path))
    assert run("check", FAILS).code == 1
    assert path.read_text("utf-8") == "# earlier\n"
    assert run("check", FAILS, "--format", "github").code == 1
    assert run("check", PASSES, "--export", f"github={os.devnull}").code == 0
    text = path.read_text("utf-8")
    assert text.startswith("# earlier\n")
    assert text.index("different") < text.rindex("equal")
