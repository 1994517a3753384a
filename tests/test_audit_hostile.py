"""``specdist audit`` against adapters and options that are wrong, strange or meant to break it."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.audit_adapters import report_of, write
from tests.cli import Result, run_here

TINY = ("--vocab", "2", "--gamma", "1", "--steps", "1", "--tables", "1")
HEAD = """\
import itertools
import os
import random

import numpy as np

from specdist.audit import case, draw


def drawn():
    return draw.categorical(case.target())


def plain():
    return [drawn()]


def two():
    return plain()


class Coloured:
    def __repr__(self):
        return '\\x1b[31m' + 'z' * 500


class Silent(ValueError):
    def __repr__(self):
        raise ValueError

    __str__ = __repr__


"""


def refused(*arguments: object, folder: Path, said: str) -> Result:
    """Exit 2, nothing on stdout, at most 80 columns and no control characters, no traceback."""
    result = run_here("audit", *arguments, cwd=folder)
    assert (result.code, result.stdout) == (2, ""), result.stderr
    assert said in " ".join(result.stderr.split()), result.stderr
    assert all(len(line) <= 80 for line in result.stderr.splitlines()), result.stderr
    assert "\x1b" not in result.stderr
    assert "Traceback" not in result.stderr
    return result


def adapter(folder: Path, body: str, tail: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    write(folder, f"{HEAD}def step():\n{lines}{tail}", "odd.py")
    return "odd.py:step"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return {drawn()}", "returned set, no tokens"),
        ("return frozenset([drawn()])", "returned frozenset, no tokens"),
        ("return bytearray([drawn()])", "returned bytearray, no tokens"),
        ("return [drawn()] if draw.bernoulli(0.5) else None", "returned NoneType, no tokens"),
        ("return [drawn()] if draw.bernoulli(0.5) else [9]", "returned token 9, outside"),
        ("return [[drawn()]]", "return the row of this one sequence, as output[0].tolist()"),
        ("return np.array([[drawn()]])", "return the row of this one sequence"),
        ("drawn()\nreturn [10**5000]", "returned token int that cannot be written, outside"),
        ("drawn()\nreturn [Coloured()]", "returned \\x1b[31mzzz"),
        ("drawn()\nreturn [Silent()]", "returned Silent that cannot be written for a token"),
        ("drawn()\nreturn itertools.repeat(0)", "more than 100000 tokens for one step"),
        ("drawn()\nreturn list", "returned type, no tokens"),
    ],
)
def test_answers_that_are_no_tokens_name_the_adapter(body: str, said: str, tmp_path: Path) -> None:
    result = refused(adapter(tmp_path, body), *TINY, folder=tmp_path, said=said)
    assert "\n  --> odd.py:step\n" in result.stderr


def test_what_an_exception_says_is_no_terminal_code_and_fits(tmp_path: Path) -> None:
    raises = "drawn()\nraise ValueError('\\x1b[31m' + 'x' * 300)"
    refused(adapter(tmp_path, raises), *TINY, folder=tmp_path, said="ValueError: \\x1b[31mxxx")
    silent = "drawn()\nraise Silent()"
    said = "Silent: its text cannot be made"
    refused(adapter(tmp_path, silent), *TINY, folder=tmp_path, said=said)
    write(tmp_path, "class Odd(BaseException): pass\nraise Odd('y' * 199)\n", "long.py")
    refused("long.py:step", *TINY, folder=tmp_path, said="raised Odd while it was loaded: yyy")


@pytest.mark.parametrize("name", ["step", "again", "odd.py:step", "odd:step"])
def test_a_reference_that_is_the_adapter_checks_nothing(name: str, tmp_path: Path) -> None:
    path = adapter(tmp_path, "return plain()", "\n\nagain = step\n")
    refused(path, *TINY, "--reference", name, folder=tmp_path, said="is the adapter itself")
    sys.modules.pop("odd", None)
    assert run_here("audit", path, *TINY, "--reference", "two", cwd=tmp_path).code == 0


def test_ending_the_process_is_never_a_pass(tmp_path: Path) -> None:
    write(tmp_path, "import os\nos._exit(0)\n", "ends.py")
    refused("ends.py:step", folder=tmp_path, said="raised SystemExit while it was loaded: 0")
    body = "if draw.bernoulli(0.25):\n    os._exit(0)\nreturn plain()"
    path = tmp_path / adapter(tmp_path, body)
    report = report_of(path, *TINY, code=1)
    assert report["summary"]["raised_max"]["exact"] == "1/4"
    body = "if os.fork() == 0:\n    os._exit(0)\nos.wait()\nreturn plain()"
    assert report_of(tmp_path / adapter(tmp_path, body), *TINY)["verdict"] == "equal"


@pytest.mark.parametrize(
    "top",
    [
        "import sys\nsys.path.clear()\nsys.meta_path.clear()\n",
        "import sys\nsys.setrecursionlimit(len(__import__('inspect').stack()) + 40)\n",
    ],
)
def test_a_file_that_takes_away_what_python_needs(top: str, tmp_path: Path) -> None:
    write(tmp_path, f"{HEAD}\n{top}", "odd.py")
    before = sys.getrecursionlimit(), list(sys.meta_path), list(sys.path)
    assert run_here("audit", "odd.py:plain", *TINY, cwd=tmp_path).code == 0
    assert (sys.getrecursionlimit(), sys.meta_path, sys.path) == before


@pytest.mark.parametrize("name", ["random.random", "np.random.rand"])
def test_a_function_that_the_file_replaced_is_its_own(name: str, tmp_path: Path) -> None:
    """It is constant: the answer of a draw in its place would accuse a right sampler."""
    body = f"return plain() if {name}() < 0.7 else [0]"
    path = adapter(tmp_path, body, f"\n\n{name} = lambda: 0.5\n")
    library = {"random.random": (random, "random"), "np.random.rand": (np.random, "rand")}[name]
    kept = getattr(*library)
    try:
        result = run_here("audit", path, *TINY, cwd=tmp_path)
    finally:
        setattr(*library, kept)
    assert result.code == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--vocab", "1"), "expected: a whole number, 2 to 32"),
        (("--vocab", "x"), "expected: a whole number, 2 to 32"),
        (("--gamma", "9" * 30), f"gamma={'9' * 30} is out of range"),
        (("--mode", "probe", "--confidence", "1e-400"), "confidence=1e-400 is out of range"),
        (("--mode", "probe", "--confidence", f"0.{'9' * 400}"), "is out of range"),
    ],
)
def test_numbers_that_are_out_of_range(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    path = adapter(tmp_path, "return plain()")
    result = refused(path, *options, folder=tmp_path, said=said)
    assert "\n  --> command line\n" in result.stderr


def test_draws_at_the_top_of_a_file_have_a_place(tmp_path: Path) -> None:
    write(tmp_path, "from specdist.audit import draw\n\nx = draw.uniform()\n", "top.py")
    result = refused("top.py:step", *TINY, folder=tmp_path, said="used outside of an audit")
    assert "\n  --> top.py, line 3\n" in result.stderr


def test_a_part_that_a_package_does_not_have_is_nothing_to_install(tmp_path: Path) -> None:
    said = "there is json, without this part"
    refused("json.no_such:step", *TINY, folder=tmp_path, said=said)
