"""``.pre-commit-hooks.yaml`` as pre-commit uses it: a clone, an environment, a commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import ROOT, SAMPLES

CONFIG = """\
repos:
  - repo: {repository}
    rev: {commit}
    hooks:
      - id: specdist-check
        args: [--min-acceptance, 1/10]
      - id: specdist-gate
"""


def called(folder: Path, *words: str, home: Path) -> subprocess.CompletedProcess[str]:
    """A command with a git that knows no settings of the machine."""
    env = {
        **os.environ,
        "PRE_COMMIT_HOME": str(home / "pre-commit"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "NO_COLOR": "1",
    }
    for name in ("author", "committer"):
        env |= {f"GIT_{name.upper()}_NAME": name, f"GIT_{name.upper()}_EMAIL": f"{name}@test"}
    return subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False
    )


def committed(folder: Path, home: Path) -> str:
    """The commit of everything in ``folder``."""
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        done = called(folder, "git", *words, home=home)
        assert done.returncode == 0, done.stderr
    return called(folder, "git", "rev-parse", "HEAD", home=home).stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A repository of this package as it is here, and its commit."""
    folder = tmp_path_factory.mktemp("specdist")
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "specdist", folder / "specdist", ignore=skipped)
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder / name)
    return folder, committed(folder, folder.parent)


def test_the_hooks_pass_and_fail_as_the_command_does(
    repository: tuple[Path, str], tmp_path: Path
) -> None:
    source, commit = repository
    project = tmp_path / "project"
    project.mkdir()
    (project / ".pre-commit-config.yaml").write_text(
        CONFIG.format(repository=source, commit=commit), encoding="utf-8"
    )
    (project / "specdist.toml").write_text('captures = ["all"]\n', encoding="utf-8")
    (project / "all").mkdir()
    shutil.copy(SAMPLES / "three_tokens.json", project / "all" / "three_tokens.json")
    shutil.copy(SAMPLES / "three_tokens.json", project / "step.specdist.json")
    committed(project, tmp_path)

    def hooks() -> tuple[int, str]:
        words = (sys.executable, "-m", "pre_commit", "run", "--all-files", "--verbose")
        done = called(project, *words, home=tmp_path)
        return done.returncode, done.stdout + done.stderr

    code, said = hooks()
    assert code == 0, said
    assert said.count("1 step checked: 1 equal") == 2, said

    shutil.copy(SAMPLES / "draft_top_p_untested.json", project / "bad.specdist.json")
    called(project, "git", "add", ".", home=tmp_path)
    code, said = hooks()
    assert code == 1
    assert "error[drafted-mismatch]" in said
    assert "bad.specdist.json" in said
    assert "2 steps checked: 1 equal, 1 different" in said

    (project / "bad.specdist.json").unlink()
    shutil.copy(SAMPLES / "draft_top_p_untested.json", project / "all" / "bad.json")
    called(project, "git", "add", ".", home=tmp_path)
    code, said = hooks()
    assert code == 1
    assert "specdist check (captures of specdist.toml)" in said
    assert said.count("error[drafted-mismatch]") == 1
