"""Steps changed at random end in a verdict or in an error that names its line, never in a crash."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli import run
from tests.oracle_replay import exact_trace, load_steps
from tests.replay_runs import CAPTURES, write_steps

ODD = (None, 0, -1, 1.5, "1/3", "x", [], {}, True, [1], [0.5], [[1]], 10**30)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every number, text and truth value, with its path."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        yield path, value
    for key, item in items:
        yield from leaves(item, (*path, key))


def other(rng: random.Random, value: Any) -> Any:
    """Another value, mostly of the same type."""
    if rng.random() < 0.1:
        return rng.choice(ODD)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.randrange(3)
    if isinstance(value, float):
        return rng.choice((rng.random(), 0.0, 0.5))
    return value


@pytest.mark.parametrize("seed", range(40))
def test_no_change_of_a_step_is_a_crash(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    steps: list[dict[str, Any]] = exact_trace(seed, 4, 3, 2)
    if seed % 4 == 0:
        steps = load_steps(CAPTURES / "hf/end_token")[:4]
    for _ in range(rng.randint(1, 3)):
        step = rng.choice(steps)
        path, value = rng.choice(list(leaves(step)))
        inside: Any = step
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = other(rng, value)
    trace = write_steps(tmp_path / "steps.jsonl", steps)
    result = run("replay", trace)
    assert result.code in (0, 1, 2, 3, 4), result.stderr
    if result.code == 2:
        assert result.stdout == ""
        assert "steps.jsonl" in result.stderr.replace("\n", "").replace(" ", "")
    else:
        assert result.stderr == ""
        assert json.loads(run("replay", trace, "--format", "json").stdout)["verdict"]


@pytest.mark.parametrize("cut", [1, 40, 200, 900])
def test_a_file_that_ends_too_early_names_its_line(cut: int, tmp_path: Path) -> None:
    text = (CAPTURES / "hf/end_token/steps.jsonl").read_text("utf-8")
    trace = tmp_path / "steps.jsonl"
    kept = text[: len(text) - cut]
    trace.write_text(kept, encoding="utf-8")
    result = run("replay", trace)
    assert result.code == (0 if cut == 1 else 2)  # the last line break only
    if result.code == 2:
        assert f"line {len(kept.splitlines())}," in " ".join(result.stderr.split())


def test_rows_that_end_too_early_are_named(tmp_path: Path) -> None:
    for name in ("config.json", "steps.jsonl", "draft.npy"):
        (tmp_path / name).write_bytes((CAPTURES / "good/a" / name).read_bytes())
    whole = (CAPTURES / "good/a/target.npy").read_bytes()
    (tmp_path / "target.npy").write_bytes(whole[:-4])
    result = run("replay", tmp_path)
    assert (result.code, result.stdout) == (2, "")
    assert "the file ends too early" in result.stderr
    assert "target.npy" in result.stderr.replace("\n", "").replace(" ", "")
