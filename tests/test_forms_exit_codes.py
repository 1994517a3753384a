"""What a file of a run shows as failed is what the exit code says, whatever the user allows."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli import SAMPLES, run

RUNS = {
    "equal": ("check", SAMPLES / "three_tokens.json"),
    "different": ("check", SAMPLES / "draft_top_p_untested.json"),
    "undecided": ("check", SAMPLES / "top_two_listed.json"),
    "models": ("check", SAMPLES / "chain_models_stale_target.json"),
    "floor": ("check", SAMPLES / "three_tokens.json", "--min-acceptance", "9/10"),
    "nothing": ("check", SAMPLES / "three_tokens.json", "--select", "none"),
    "replay": ("replay", SAMPLES / "traces" / "recovered_from_target"),
    "audit": (
        *("audit", f"{SAMPLES}/audit/textbook_faulty.py:step"),
        *("--gamma", "1", "--steps", "1", "--tables", "1"),
    ),
    "lossless audit": (
        *("audit", f"{SAMPLES}/audit/textbook_numpy.py:step"),
        *("--gamma", "1", "--steps", "1", "--tables", "1"),
    ),
    "lossy": (
        *("what-if", "--target", "1/2,1/4,1/4", "--draft", "1/4,1/2,1/4"),
        *("--rule", "typical:1/10:delta=1/2:recovery=target"),
    ),
}
IDENTS = {
    "different": "drafted-mismatch",
    "undecided": "truncated-row",
    "models": "target-mismatch",
    "floor": "acceptance-below-floor",
    "replay": "recovered-outside-residual",
    "audit": "output-mismatch",
    "lossless audit": "numeric-rounding",
    "lossy": "lossy-by-design",
}
FORMS = ("junit", "sarif", "github", "gitlab", "markdown")


def shown_as_failed(folder: Path) -> dict[str, bool]:
    """Whether each file shows something that is no pass."""
    suites = ElementTree.fromstring((folder / "junit").read_text("utf-8"))
    (log,) = json.loads((folder / "sarif").read_text("utf-8"))["runs"]
    issues = json.loads((folder / "gitlab").read_text("utf-8"))
    return {
        "junit": suites.get("failures") != "0" or suites.get("errors") != "0",
        "sarif": not log["invocations"][0]["executionSuccessful"]
        or any(r["kind"] == "open" or r["level"] == "error" for r in log["results"]),
        "gitlab": any(issue["severity"] in ("major", "critical", "blocker") for issue in issues),
        "markdown": ": passed\n" not in (folder / "markdown").read_text("utf-8"),
    }


def extras(name: str) -> list[tuple[str, ...]]:
    if name not in IDENTS:
        return [()]
    ident = IDENTS[name]
    levels = [("--severity", f"{ident}={level}") for level in ("error", "warning", "note")]
    return [(), ("--allow", ident), *levels]


@pytest.mark.parametrize(
    ("name", "extra"), [(name, extra) for name in RUNS for extra in extras(name)]
)
def test_files_agree_with_the_exit_code(name: str, extra: tuple[str, ...], tmp_path: Path) -> None:
    written = [part for form in FORMS for part in ("--export", f"{form}={tmp_path / form}")]
    result = run(*RUNS[name], *extra, *written, "-q")
    assert result.code in (0, 1, 3, 4), result.stderr
    failed = shown_as_failed(tmp_path)
    assert failed == dict.fromkeys(failed, result.code != 0)
    github = (tmp_path / "github").read_text("utf-8").splitlines()
    assert any(line.startswith("::error ") for line in github) is (result.code in (1, 3))
    (log,) = json.loads((tmp_path / "sarif").read_text("utf-8"))["runs"]
    assert log["invocations"][0]["exitCode"] == result.code
