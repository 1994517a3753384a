"""Adapters as texts, for tests of the command: with `random` and numpy only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from tests.cli import ROOT, run

SCHEMA = json.loads((ROOT / "specdist/schemas/audit.schema.json").read_text("utf-8"))
SMALL = ("--gamma", "1", "--steps", "1", "--tables", "2")


def report_of(*arguments: object, code: int = 0) -> Any:
    """The JSON report, which follows its schema."""
    result = run("audit", *arguments, "--format", "json")
    assert result.code == code, result.stderr
    report = result.json()
    Draft202012Validator(SCHEMA).validate(report)
    return report


TEXTBOOK = """\
import random

import numpy as np

from specdist.audit import case, draw


def drafted():
    return [draw.categorical(case.draft()) for _ in range(case.gamma)]


def one_step(tokens, recovered):
    target, draft = case.target_rows(tokens), case.draft_rows(tokens)
    for i, token in enumerate(tokens):
        if random.random() >= float(target[i][token]) / float(draft[i][token]):
            return [*tokens[:i], draw.categorical(recovered(target[i], draft[i]))]
    return [*tokens, draw.categorical(target[-1])]


def positive_part(target, draft):
    return np.maximum(target - draft, 0)


def step():
    return one_step(drafted(), positive_part)


def from_target():
    return one_step(drafted(), lambda target, draft: target)


def plain():
    return [draw.categorical(case.target())]


def two_plain(tokens=()):
    tokens = [*tokens]
    while len(tokens) < 2:
        tokens.append(draw.categorical(case.target(tokens)))
    return tokens


def two():
    return two_plain(step())


def two_wrong():
    return two_plain(from_target())


def argmax():
    tokens = []
    for _ in range(case.gamma):
        tokens.append(int(np.argmax(case.draft(tokens))))
    case.propose(tokens)
    return one_step(tokens, positive_part)


def raises():
    if draw.bernoulli(0.125):
        raise ValueError("the \\x1b[31mred token\\x1b[0m")
    return step()


class Engine:
    def __call__(self):
        return step()

    @staticmethod
    def decode():
        return step()


class NoStep:
    pass


async def waits():
    return [0]


def needs(x, y, z=1):
    return [0]


stop = 3
"""
"""A lossless sampler, wrong ones, and things that are no samplers."""


def write(folder: Path, text: str = TEXTBOOK, name: str = "sampler.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
