"""The tree is the architecture: imports go down only, heavy libraries stay where they belong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import floors
from tests.cli import ROOT, run_process

PACKAGE = ROOT / "specdist"
FILE_LINES, FUNCTION_LINES = 250, 40
#: Longer than the guide, with the length they may have. Entries shrink or go; none is added.
LONG: dict[str, int] = {}


def test_imports_go_down_only() -> None:
    assert len(list(floors.modules(PACKAGE))) > 20
    assert floors.violations(PACKAGE) == []


def test_files_and_functions_stay_short() -> None:
    sizes = floors.lengths(PACKAGE)
    over = {
        name: lines
        for name, lines in sizes.items()
        if lines > LONG.get(name, FUNCTION_LINES if "::" in name else FILE_LINES)
    }
    assert over == {}
    for name, allowed in LONG.items():
        assert sizes.get(name) == allowed, f"{name}: lower its entry to {sizes.get(name)}"


def test_every_listed_numpy_module_exists() -> None:
    assert set(floors.NUMPY_AT_THE_TOP) <= {name for name, _ in floors.modules(PACKAGE)}


PLANTED = {
    "an upward import": ("exact/law.py", "import specdist.model.row\n", "floor 1 is not below"),
    "an upward import of a name": (
        "model/row.py",
        "from specdist.verify import run\n",
        "floor 4 is not below",
    ),
    "a relative upward import": ("model/row.py", "from ..verify import run\n", "floor 4"),
    "a lazy upward import": (
        "readers/npy.py",
        "def read():\n    from specdist.cli import app\n",
        "floor 6 is not below",
    ),
    "an upward import for types": (
        "readers/npy.py",
        "import typing\nif typing.TYPE_CHECKING:\n    from specdist.verify import run\n",
        "floor 4 is not below",
    ),
    "siblings": ("processing/top_p.py", "from specdist.readers import npy\n", "floor 2"),
    "siblings by name": ("rules/token_rule.py", "from specdist import readers\n", "floor 2"),
    "two of floor 4": ("verify/run.py", "import specdist.audit.drive\n", "floor 4"),
    "the public names from below": ("reports/html.py", "import specdist\n", "floor 7"),
    "typer outside cli": ("verify/run.py", "import typer\n", "not in this part"),
    "rich in a report": ("reports/html.py", "from rich.text import Text\n", "not in this part"),
    "sympy at the top": ("exact/symbolic.py", "import sympy\n", "only inside functions"),
    "sympy elsewhere": (
        "verify/run.py",
        "def f():\n    import sympy\n",
        "not in this part",
    ),
    "numpy at the top": ("readers/npy.py", "import numpy as np\n", "only inside functions"),
    "numpy in a class body": (
        "readers/npy.py",
        "class A:\n    import numpy\n",
        "only inside functions",
    ),
    "numpy in a try": (
        "readers/npy.py",
        "try:\n    import numpy\nexcept ImportError:\n    pass\n",
        "only inside functions",
    ),
    "a vague name": ("verify/utils.py", "", "says nothing or shadows"),
    "a shadowing folder": ("reports/json/__init__.py", "", "says nothing or shadows"),
    "a part without a floor": ("magic/wand.py", "", "has no floor"),
}  # fmt: skip

ALLOWED = {
    "down": ("verify/run.py", "from specdist.exact.law import Law\nimport specdist.rules\n"),
    "the version": ("reports/html.py", "from specdist import __version__\n"),
    "same part": ("readers/npy.py", "from specdist.readers import npz\nfrom . import pt\n"),
    "lazy sympy": ("exact/symbolic_row.py", "def f():\n    import sympy\n"),
    "lazy numpy": ("readers/npy.py", "def f():\n    import numpy as np\n"),
    "numpy for types": (
        "readers/npy.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy as np\n",
    ),
    "typer in cli": ("cli/app.py", "import typer\n"),
    "rich in the terminal report": ("reports/terminal_table.py", "import rich\n"),
}


def _plant(root: Path, place: str, text: str) -> Path:
    package = root / "specdist"
    path = package / place
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return package


@pytest.mark.parametrize("case", PLANTED)
def test_a_planted_violation_is_caught(case: str, tmp_path: Path) -> None:
    place, text, reason = PLANTED[case]
    found = floors.violations(_plant(tmp_path, place, text))
    assert len(found) == 1, found
    assert reason in found[0]


@pytest.mark.parametrize("case", ALLOWED)
def test_what_is_allowed_passes(case: str, tmp_path: Path) -> None:
    assert floors.violations(_plant(tmp_path, *ALLOWED[case])) == []


def test_a_long_function_is_measured(tmp_path: Path) -> None:
    package = _plant(tmp_path, "exact/long.py", "def f():\n" + "    x = 1\n" * 50)
    assert floors.lengths(package) == {
        "specdist/exact/long.py": 51,
        "specdist/exact/long.py::f": 51,
    }


def _loaded_by(*arguments: str) -> set[str]:
    """Top-level modules that a run of the command line has loaded when it ends."""
    probe = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*sorted({n.split('.')[0] for n in sys.modules}),"
        " file=sys.stderr))\n"
        f"sys.argv = ['specdist', *{list(arguments)!r}]\n"
        "from specdist.__main__ import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, cwd=ROOT, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return set(done.stderr.decode().split())


def test_help_loads_neither_numpy_nor_sympy() -> None:
    loaded = _loaded_by("--help")
    assert "specdist" in loaded
    assert not loaded & {"numpy", "sympy", "mpmath"}


def test_the_rational_path_does_not_load_numpy() -> None:
    loaded = _loaded_by("check", "sample_inputs/three_tokens.json", "--format", "json")
    assert "specdist" in loaded
    assert not loaded & {"numpy", "sympy", "mpmath"}


def test_the_module_runs() -> None:
    assert run_process("--version").code == 0
