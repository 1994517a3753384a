"""The files that pipelines read, under the schemas that `check-jsonschema` and pre-commit carry."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import ROOT

#: File, schema, and a member whose name is spoilt to see that the schema is strict.
FILES = [
    ("action.yml", "vendor.github-actions", "\ninputs:"),
    ("docs/ci/github.yml", "vendor.github-workflows", "\njobs:"),
    ("docs/ci/gitlab-ci.yml", "vendor.gitlab-ci", "\n  artifacts:"),
]


def called(*arguments: str | Path) -> tuple[int, str]:
    """Exit code and output of a module of this environment."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("name", "schema", "member"), FILES)
def test_a_pipeline_takes_the_file(name: str, schema: str, member: str, tmp_path: Path) -> None:
    code, said = called("check_jsonschema", "--builtin-schema", schema, ROOT / name)
    assert code == 0, said
    broken = tmp_path / "broken.yml"
    text = (ROOT / name).read_text("utf-8")
    assert member in text
    broken.write_text(text.replace(member, member.replace(":", "-spoilt:")))
    assert called("check_jsonschema", "--builtin-schema", schema, broken)[0] == 1


def test_pre_commit_takes_the_hooks(tmp_path: Path) -> None:
    hooks = ROOT / ".pre-commit-hooks.yaml"
    assert called("pre_commit", "validate-manifest", hooks) == (0, "")
    broken = tmp_path / "hooks.yaml"
    broken.write_text(hooks.read_text("utf-8").replace("entry:", "entree:"))
    assert called("pre_commit", "validate-manifest", broken)[0] == 1
