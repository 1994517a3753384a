"""``docs/gate.md`` is executed from top to bottom: its files are written, its sessions run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.action_runs import ACTION
from tests.cli import ROOT, SAMPLES, run
from tests.console import Session, matches, sessions

PAGE = ROOT / "docs" / "gate.md"
TEXT = PAGE.read_text("utf-8")
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
_BLOCK = re.compile(r"^```(toml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def done(command: str) -> tuple[str, int]:
    """What a command prints, both streams, and its exit code."""
    if command.startswith("specdist ") and ">" not in command:
        result = run(*Session(command, None, 0).arguments)
        return result.stdout + result.stderr, result.code
    if command.startswith("specdist "):
        command, _, target = command.partition(" > ")
        printed, code = done(command)
        Path(target).write_text(printed, encoding="utf-8")
        return "", code
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    return ended.stdout + ended.stderr, ended.returncode


def test_the_page_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sample_inputs").symlink_to(SAMPLES, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    count = 0
    for kind, content in _BLOCK.findall(TEXT):
        if kind == "toml":
            name = re.match(r"# (\S+)\n", content)
            assert name, "a config file says what it is called"
            Path(name[1]).write_text(content, encoding="utf-8")
            continue
        block = tmp_path / "block.md"
        block.write_text(f"```console\n{content}```\n", encoding="utf-8")
        for session in sessions(block):
            printed, code = done(session.command)
            assert code == session.code, printed
            if session.output is not None:
                assert matches(session.output, printed), printed
            count += 1
    assert count > 10


def test_the_tables_name_every_input_and_output_of_the_action() -> None:
    section = TEXT.partition("## GitHub Actions\n")[2].partition("\n## ")[0]
    inputs, outputs = section.split("| output |")
    rows = re.findall(r"^\| `([a-z-]+)` \|.*\| (.*?) ?\|$", inputs, re.MULTILINE)
    assert [name for name, _ in rows] == list(ACTION["inputs"])
    for name, default in rows:
        if default != "a temporary file":
            assert default.strip("`") == ACTION["inputs"][name]["default"], name
    assert re.findall(r"^\| `([a-z-]+)` \|", outputs, re.MULTILINE) == list(ACTION["outputs"])


def test_every_yaml_on_the_page_is_yaml_and_names_what_exists() -> None:
    parsed = [yaml.safe_load(block) for block in blocks("yaml")]
    assert len(parsed) == 4
    step = parsed[0][0]
    assert set(step["with"]) <= set(ACTION["inputs"])
    hooks = [hook["id"] for hook in parsed[3]["repos"][0]["hooks"]]
    assert set(hooks) <= {hook["id"] for hook in HOOKS}
    assert all(f"`{hook['id']}`" in TEXT for hook in HOOKS)


def test_the_exit_codes_are_those_of_the_command() -> None:
    from specdist.cli.exit_codes import ExitCode

    table = TEXT.partition("| code | means |")[2].partition("\n\n")[0]
    codes = re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE)
    assert sorted(int(code) for row in codes for code in row.split(",")) == sorted(ExitCode)
