"""The built wheel, installed in an empty environment elsewhere, is complete and works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from tests.cli import ROOT, SAMPLES, scrubbed


def _call(*command: object, cwd: Path, codes: tuple[int, ...] = (0,)) -> str:
    environment = {**os.environ, **scrubbed()}
    del environment["PYTHONPATH"], environment["PYTHONWARNINGS"]
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode in codes, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_the_wheel_is_complete_and_works_elsewhere(tmp_path: Path) -> None:
    """One test, so that parallel workers do not each build and install."""
    wheel = build(tmp_path)
    holds_everything(wheel)
    bin_folder = install(wheel, tmp_path / "elsewhere")
    hand_written_rows_run(bin_folder / "specdist", tmp_path)
    float_rows_run(bin_folder / "specdist", tmp_path)
    pages_and_schemas_are_found(bin_folder / "specdist", tmp_path)
    types_are_found(bin_folder / "python", tmp_path)
    the_plugin_is_announced(bin_folder / "python", tmp_path)


def build(folder: Path) -> Path:
    """The wheel, built through the source archive from a copy of the project."""
    project = folder / "project"
    project.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project)
    shutil.copytree(ROOT / "specdist", project / "specdist")
    _call(sys.executable, "-m", "build", "--outdir", folder / "dist", project, cwd=folder)
    assert list((folder / "dist").glob("specdist_verifier-*.tar.gz"))
    (wheel,) = (folder / "dist").glob("specdist_verifier-*.whl")
    return wheel


def holds_everything(wheel: Path) -> None:
    assert wheel.name.startswith("specdist_verifier-")
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT).as_posix()
        for pattern in (
            "**/*.py",
            "py.typed",
            "**/pages/*.md",
            "**/topic_pages/*.txt",
            "schemas/*.json",
        )
        for path in (ROOT / "specdist").glob(pattern)
    }
    assert "specdist/py.typed" in wanted
    assert "specdist/schemas/report.schema.json" in wanted
    assert "specdist/schemas/capture.schema.json" in wanted
    assert any(name.startswith("specdist/findings/pages/") for name in wanted)
    assert wanted <= held
    packages = {name.split("/")[0] for name in held}
    assert {name for name in packages if not name.endswith(".dist-info")} == {"specdist"}
    assert any(name.endswith("licenses/LICENSE") for name in held)


def install(wheel: Path, folder: Path) -> Path:
    """An empty environment with the wheel in it; its folder of programs."""
    venv.create(folder, with_pip=True)
    _call(folder / "bin" / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return folder / "bin"


def test_it_needs_four_libraries_and_nothing_else() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {item.split(">")[0].split("=")[0] for item in project["dependencies"]}
    assert names == {"typer", "rich", "numpy", "sympy"}
    assert project["name"] == "specdist-verifier"
    assert project["requires-python"] == ">=3.11"


def hand_written_rows_run(binary: Path, folder: Path) -> None:
    version = _call(binary, "--version", cwd=folder)
    assert version.split()[0] == "specdist"
    assert version.split()[1][0].isdigit()
    out = _call(binary, "check", SAMPLES / "three_tokens.json", "--format", "json", cwd=folder)
    report = json.loads(out)
    assert report["verdict"] == "equal"
    assert report["summary"]["acceptance_rate"]["exact"] == "7/10"
    assert report["specdist"] == version.split()[1]


def float_rows_run(binary: Path, folder: Path) -> None:
    captures = SAMPLES / "captures"
    options = ("--draft-lengths", "4x2", "--kind", "logits", "-T", "0.8", "--top-p", "0.95")
    archive = captures / "bfloat16.safetensors"
    sides = ("--target", f"{archive}::target", "--draft", f"{archive}::draft")
    out = _call(binary, "check", *sides, *options, "--format", "json", cwd=folder)
    assert json.loads(out)["verdict"] == "equal"


def pages_and_schemas_are_found(binary: Path, folder: Path) -> None:
    page = _call(binary, "explain", "drafted-mismatch", cwd=folder)
    assert "drafted-mismatch" in page
    for name in ("report", "capture"):
        schema = json.loads(_call(binary, "config", "--schema", name, cwd=folder))
        assert schema["$schema"]


def types_are_found(python: Path, folder: Path) -> None:
    """A user's mypy sees the annotations (py.typed) and accepts the documented call."""
    user = folder / "user.py"
    user.write_text(
        "import specdist\n"
        "report = specdist.check(['1/2', '3/10', '1/5'], ['1/5', '1/2', '3/10'])\n"
        "reveal_type(report)\n",
        encoding="utf-8",
    )
    out = _call(
        sys.executable, "-m", "mypy", "--strict", "--python-executable", python, user,
        cwd=folder,
    )  # fmt: skip
    assert "specdist.model.report.Report" in out


def the_plugin_is_announced(python: Path, folder: Path) -> None:
    """pytest finds the plugin by its entry point; without pytest nothing is missed."""
    out = _call(
        python, "-c",
        "from importlib.metadata import entry_points\n"
        "print([point.value for point in entry_points(group='pytest11')])\n"
        "from specdist.testing import assert_lossless\n"
        "print(assert_lossless(['1/2', '1/2'], 0, rule='one-hot').verdict)",
        cwd=folder,
    )  # fmt: skip
    assert out.splitlines() == ["['specdist.pytest_plugin']", "equal"]
