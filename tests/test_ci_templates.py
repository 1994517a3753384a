"""The templates of ``docs/ci``: what is in them runs, and leaves the files that it names."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import specdist
from tests.action_runs import ACTION, run_step
from tests.cli import ROOT, SAMPLES, run
from tests.page_examples import in_shell

CI = ROOT / "docs" / "ci"
GITHUB: dict[str, Any] = yaml.safe_load((CI / "github.yml").read_text("utf-8"))
GITLAB: dict[str, Any] = yaml.safe_load((CI / "gitlab-ci.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = GITHUB["jobs"]["gate"]["steps"]
JOB: dict[str, Any] = GITLAB["specdist"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout with captures, under the names that the templates use."""
    made = tmp_path / "checkout"
    (made / "captures").mkdir(parents=True)
    for name in ("three_tokens.json", "equal_rows.json"):
        shutil.copy(SAMPLES / name, made / "captures" / name)
    return made


def accept(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.chdir(folder)
    report = run("check", "captures", "--format", "json", *options)
    (folder / "accepted.json").write_text(report.stdout, encoding="utf-8")


def specdist_step() -> dict[str, Any]:
    (step,) = (step for step in STEPS if "/specdist@" in step.get("uses", ""))
    return step


def test_the_workflow_gives_the_action_what_it_takes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = specdist_step()
    assert set(step["with"]) <= set(ACTION["inputs"])
    accept(folder, monkeypatch, *step["with"]["args"].split())
    done = run_step("Check", folder, step["with"])
    assert (done.code, done.outputs["verdict"]) == (0, "equal"), done.stderr
    uploaded = [s["with"]["sarif_file"] for s in STEPS if "upload-sarif" in s.get("uses", "")]
    (kept,) = (s["with"]["path"] for s in STEPS if "upload-artifact" in s.get("uses", ""))
    kept = kept.replace("${{ steps.specdist.outputs.report }}", done.outputs["report"])
    assert all((folder / name).is_file() for name in [*uploaded, *kept.split()])


def test_the_workflow_has_no_more_rights_than_it_needs() -> None:
    assert GITHUB["permissions"] == {"contents": "read"}
    assert GITHUB["jobs"]["gate"]["permissions"] == {
        "contents": "read",
        "security-events": "write",
    }
    for step in STEPS:
        assert "run" not in step


def scripts() -> str:
    return "\n".join(JOB["script"])


@pytest.mark.parametrize("code", [0, 1])
def test_the_job_leaves_its_reports_whether_it_passes_or_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    accept(folder, monkeypatch)
    if code:
        shutil.copy(SAMPLES / "draft_top_p_untested.json", folder / "captures" / "new.json")
    done = in_shell(scripts(), folder)
    assert done.code == code, done.stderr
    artifacts = JOB["artifacts"]
    assert artifacts["when"] == "always", "reports of a job that fails are the ones to read"
    for name in [*artifacts["paths"], *artifacts["reports"].values()]:
        assert (folder / name).read_text("utf-8").strip(), name


def test_the_templates_name_this_version() -> None:
    assert JOB["variables"]["SPECDIST"] == f"specdist-verifier=={specdist.__version__}"
    assert specdist_step()["uses"] == f"OWNER/specdist@v{specdist.__version__}"
