"""Code quality under the published types of the Code Climate format, by the TypeScript compiler.

GitLab takes a subset of that format: these members, and no others are needed.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.formats.outside import NODE_MODULES, documents, found

HEAD = """import {Issue} from 'codeclimate-types'
type Members = 'description' | 'check_name' | 'fingerprint' | 'severity' | 'location'
type Report = Required<Pick<Issue, Members>>[]
"""


def compiled(reports: list[str], folder: Path) -> str:
    """What the compiler complains of."""
    compiler = found(NODE_MODULES / "typescript" / "bin" / "tsc")
    found(NODE_MODULES / "codeclimate-types")
    (folder / "node_modules").symlink_to(NODE_MODULES)
    lines = [f"export const report{i}: Report = {text}" for i, text in enumerate(reports)]
    (folder / "reports.ts").write_text("\n".join([HEAD, *lines]), "utf-8")
    done = subprocess.run(
        ["node", compiler, "--noEmit", "--strict", "reports.ts"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode == 0) is (not done.stdout)
    return done.stdout


def test_every_report_has_the_published_types(tmp_path: Path) -> None:
    reports = [text for _, text in documents("gitlab", tmp_path)]
    assert sum(len(json.loads(text)) for text in reports) > 200
    assert compiled(reports, tmp_path) == ""


def test_the_compiler_sees_what_is_wrong(tmp_path: Path) -> None:
    reports = [text for name, text in documents("gitlab", tmp_path) if name == "mixed"]
    assert "'\"bad\"' is not assignable" in compiled(
        [reports[0].replace('"critical"', '"bad"')], tmp_path
    )
