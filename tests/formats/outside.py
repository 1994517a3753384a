"""Where `make test-formats` puts the software from outside. What is missing fails."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from specdist.reports.forms.form import FormOptions
from specdist.reports.forms.registry import BY_NAME
from tests.cli import SAMPLES as INPUTS
from tests.cli import run
from tests.form_samples import SAMPLES, code_of, steps_of

ENVIRONMENT = Path(sys.prefix)
NODE_MODULES = ENVIRONMENT / "npm" / "node_modules"

#: Runs of the command line on shipped files, beside the reports made by hand.
RUNS = {
    "run equal": ("check", INPUTS / "three_tokens.json"),
    "run different": ("check", INPUTS / "draft_top_p_untested.json"),
    "run undecided": ("check", INPUTS / "top_two_listed.json"),
    "run models": ("check", INPUTS / "chain_models_stale_target.json"),
    "run typed": ("what-if", "--target", "1/2,1/4,1/4", "--draft", "3/5,1/5,1/5", "-T", "0"),
    "run replay": ("replay", INPUTS / "traces" / "recovered_from_target"),
    "run several": (
        "check",
        *(INPUTS / f"{name}.json" for name in ("equal_rows", "draft_top_p_untested")),
        *("--min-acceptance", "99/100"),
    ),
}


def found(path: Path) -> Path:
    """The path, which has to be there."""
    if not path.exists():
        pytest.fail(f"{path} is missing: make test-formats installs it", pytrace=False)
    return path


def node(script: Path, *arguments: Path, cwd: Path | None = None) -> str:
    """What a script of node prints."""
    done = subprocess.run(
        ["node", str(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def documents(form: str, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Every sample in a form, by name: reports made by hand, runs, and a long report."""
    for name, (report, outcome) in SAMPLES.items():
        yield name, BY_NAME[form].render(report, FormOptions(code=code_of(outcome)))
    for name, arguments in RUNS.items():
        path = tmp_path / f"{form}-{name.replace(' ', '-')}"
        result = run(*arguments, "--export", f"{form}={path}")
        assert result.code in (0, 1, 4), result.stderr
        yield name, path.read_text("utf-8")
    long = steps_of(600, failing=lambda number: number % 3 == 0)
    yield "long", BY_NAME[form].render(long, FormOptions(code=1))
