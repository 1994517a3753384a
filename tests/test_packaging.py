"""The built wheel, installed in an empty environment elsewhere, is complete and works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from tests.cli import ROOT, SAMPLES, scrubbed

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]


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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    _call(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    assert list(folder.glob("specdist_verifier-*.tar.gz"))
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    _call(python, "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return folder


def test_the_wheel_holds_everything(wheel: Path) -> None:
    assert wheel.name.startswith("specdist_verifier-")
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT).as_posix()
        for pattern in ("**/*.py", "py.typed", "findings/pages/*.md", "schemas/*.json")
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


def test_it_needs_four_libraries_and_nothing_else() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {item.split(">")[0].split("=")[0] for item in project["dependencies"]}
    assert names == {"typer", "rich", "numpy", "sympy"}
    assert project["name"] == "specdist-verifier"
    assert project["requires-python"] == ">=3.11"


def test_the_command_runs_elsewhere(environment: Path) -> None:
    binary = environment / "venv" / "bin" / "specdist"
    version = _call(binary, "--version", cwd=environment)
    assert version.split()[0] == "specdist"
    assert version.split()[1][0].isdigit()
    out = _call(binary, "check", SAMPLES / "three_tokens.json", "--format", "json", cwd=environment)
    report = json.loads(out)
    assert report["verdict"] == "equal"
    assert report["summary"]["acceptance_rate"]["exact"] == "7/10"
    assert report["specdist"] == version.split()[1]


def test_float_rows_run_elsewhere(environment: Path) -> None:
    binary = environment / "venv" / "bin" / "specdist"
    captures = SAMPLES / "captures"
    options = ("--draft-lengths", "4x2", "--kind", "logits", "-T", "0.8", "--top-p", "0.95")
    archive = captures / "bfloat16.safetensors"
    sides = ("--target", f"{archive}::target", "--draft", f"{archive}::draft")
    out = _call(binary, "check", *sides, *options, "--format", "json", cwd=environment)
    assert json.loads(out)["verdict"] == "equal"


def test_pages_and_schemas_are_found_elsewhere(environment: Path) -> None:
    binary = environment / "venv" / "bin" / "specdist"
    page = _call(binary, "explain", "drafted-mismatch", cwd=environment)
    assert "drafted-mismatch" in page
    for name in ("report", "capture"):
        schema = json.loads(_call(binary, "config", "--schema", name, cwd=environment))
        assert schema["$schema"]


def test_the_types_are_found_elsewhere(environment: Path, tmp_path: Path) -> None:
    """A user's mypy sees the annotations (py.typed) and accepts the documented call."""
    user = tmp_path / "user.py"
    user.write_text(
        "import specdist\n"
        "report = specdist.check(['1/2', '3/10', '1/5'], ['1/5', '1/2', '3/10'])\n"
        "reveal_type(report)\n",
        encoding="utf-8",
    )
    python = environment / "venv" / "bin" / "python"
    out = _call(
        sys.executable, "-m", "mypy", "--strict", "--python-executable", python, user,
        cwd=tmp_path,
    )  # fmt: skip
    assert "specdist.model.report.Report" in out
