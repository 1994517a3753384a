"""An independent replayer of recorded steps: plain numpy and fractions, nothing of the package.

It reads a folder of ``tests/data/captures``, makes every law from the stored rows in float64 as the
README there says, and lists what does not agree. A comparison closer than `CLOSE` is left open.
"""

from __future__ import annotations

import json
import random
import struct
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

CLOSE = 1e-9
Law = Any
Place = tuple[str, int, int, int]
"""Kind, sequence, step, position."""


def load_steps(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "steps.jsonl").read_text().splitlines()]


def load_rows(folder: Path) -> tuple[Any, Any]:
    """Target and draft rows, widened to float64."""
    if (folder / "target.npy").exists():
        return tuple(np.load(folder / f"{side}.npy").astype(float) for side in ("target", "draft"))
    if (folder / "logits.npz").exists():
        archive = np.load(folder / "logits.npz")
        return archive["target"].astype(float), archive["draft"].astype(float)
    tensors = safetensors(folder / "logits.safetensors")
    return tensors["target"], tensors["draft"]


def safetensors(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        if entry["dtype"] == "BF16":
            bits = np.frombuffer(data[start:end], "<u2").astype(np.uint32) << 16
            values = bits.view(np.float32)
        else:
            values = np.frombuffer(data[start:end], "<f4")
        found[name] = values.reshape(entry["shape"]).astype(float)
    return found


def nucleus(row: Law, temperature: float = 0.8, top_p: float = 0.95) -> Law:
    """softmax(row / T), cut to the shortest prefix of mass at least P, ties by rising id."""
    scores = row / temperature
    law = np.exp(scores - scores.max())
    law /= law.sum()
    if top_p < 1:
        order = np.lexsort((np.arange(len(row)), -row))
        reached = np.cumsum(law[order])
        kept = order[: int(np.searchsorted(reached, top_p)) + 1]
        cut = np.zeros_like(law)
        cut[kept] = law[kept]
        law = cut / cut.sum()
    return law


def inverse_cdf(law: Law, uniform: float) -> int | None:
    """The smallest x with u * total < F(x); None where u lies close to an edge."""
    sums = np.cumsum(law)
    point = uniform * sums[-1]
    if np.abs(sums - point).min() < CLOSE * sums[-1]:
        return None
    return int(np.searchsorted(sums, point, side="right"))


@dataclass
class Seen:
    """Places that agree and places that do not."""

    agree: set[Place] = field(default_factory=set)
    differ: set[Place] = field(default_factory=set)

    def take(self, place: Place, holds: bool | None) -> None:
        if holds is not None:
            (self.agree if holds else self.differ).add(place)

    def of(self, kind: str) -> set[Place]:
        return {place for place in self.differ if place[0] == kind}

    def count(self, kind: str) -> tuple[int, int]:
        return (
            sum(place[0] == kind for place in self.agree),
            sum(place[0] == kind for place in self.differ),
        )


def replay(folder: Path) -> Seen:
    """Every decision, draw and context of a capture of `good` or `faulty`."""
    target, draft = load_rows(folder)
    laws: dict[tuple[str, int], Law] = {}

    def law(side: str, number: int) -> Law:
        if (side, number) not in laws:
            laws[side, number] = nucleus((target if side == "target" else draft)[number])
        return laws[side, number]

    seen, last = Seen(), {}
    for step in load_steps(folder):
        where = (step["sequence"], step["step"])
        _draws(step, where, law, seen)
        _decisions(step, where, law, seen)
        _final(step, where, law, seen)
        due = step["context"] + step["emitted"]
        seen.take(("context", *where, -1), step["next_context"] == due)
        if step["sequence"] in last:
            seen.take(("handed", *where, -1), last[step["sequence"]] == step["context"])
        last[step["sequence"]] = step["next_context"]
    return seen


def _draws(step: dict[str, Any], where: tuple[int, int], law: Any, seen: Seen) -> None:
    for i, token in enumerate(step.get("proposed", step["drafted"])):
        drawn = inverse_cdf(law("draft", step["draft_rows"][i]), step["u_draft"][i])
        seen.take(("draft", *where, i), None if drawn is None else drawn == token)


def _decisions(step: dict[str, Any], where: tuple[int, int], law: Any, seen: Seen) -> None:
    for i, accepted in enumerate(step["accepted"]):
        token, u = step["drafted"][i], step["u_accept"][i]
        p = law("target", step["target_rows"][i])[token]
        q = law("draft", step["draft_rows"][i])[token]
        close = abs(u * q - p) < CLOSE * max(p, u * q)
        seen.take(("accept", *where, i), None if close else (u * q < p) == accepted)
        if accepted:
            seen.take(("possible", *where, i), p > 0)


def _final(step: dict[str, Any], where: tuple[int, int], law: Any, seen: Seen) -> None:
    n = sum(step["accepted"])
    p = law("target", step["target_rows"][n])
    kind = "bonus"
    if False in step["accepted"]:
        kind, p = "recovered", np.maximum(p - law("draft", step["draft_rows"][n]), 0)
    token = step["final_token"]
    if p[token] == 0:
        seen.take((f"{kind} outside", *where, n), False)
        return
    drawn = inverse_cdf(p, step["u_final"])
    seen.take((kind, *where, n), None if drawn is None else drawn == token)


# Small engines in fractions, for traces whose rows stand in their lines.


def exact_draw(law: list[Fraction], u: Fraction) -> int:
    """The smallest x with u < F(x), exactly."""
    total, reached = sum(law), Fraction(0)
    for token, mass in enumerate(law):
        reached += mass
        if u * total < reached:
            return token
    raise AssertionError("a uniform below one draws a token")


def random_law(rng: random.Random, size: int, zeros: bool = True) -> list[Fraction]:
    """A law with small numbers, many zeros and ties."""
    while True:
        weights = [rng.choice((0, 0, 1, 1, 2, 5) if zeros else (1, 1, 2, 5)) for _ in range(size)]
        if sum(weights):
            return [Fraction(w, sum(weights)) for w in weights]


def exact_step(
    rng: random.Random, context: list[int], gamma: int, size: int, inclusive: bool = False
) -> dict[str, Any]:
    """One step of a correct engine on laws of its own, as a line with rows in it."""
    drafts, targets = [], []
    for _ in range(gamma):
        drafts.append(random_law(rng, size))
        targets.append(drafts[-1] if rng.random() < 0.2 else random_law(rng, size))
    targets.append(random_law(rng, size))
    u_draft = [Fraction(rng.random()) for _ in range(gamma)]
    u_accept = [Fraction(rng.random()) for _ in range(gamma)]
    u_final = Fraction(rng.random())
    drafted = [exact_draw(law, u) for law, u in zip(drafts, u_draft, strict=True)]
    accepted: list[bool] = []
    for i, token in enumerate(drafted):
        left, right = u_accept[i] * drafts[i][token], targets[i][token]
        accepted.append(left <= right if inclusive else left < right)
        if not accepted[-1]:
            break
    n = sum(accepted)
    final = targets[n]
    if n < gamma:
        final = [max(p - q, Fraction(0)) for p, q in zip(targets[n], drafts[n], strict=True)]
    token = exact_draw(final, u_final)
    emitted = [*drafted[:n], token]
    return {
        "context": list(context),
        "drafted": drafted,
        "u_draft": [float(u) for u in u_draft],
        "u_accept": [float(u) for u in u_accept],
        "accepted": accepted,
        "n_accepted": n,
        "u_final": float(u_final),
        "final_kind": "recovered" if n < gamma else "bonus",
        "final_token": token,
        "emitted": emitted,
        "next_context": [*context, *emitted],
        "target": [[str(value) for value in law] for law in targets],
        "draft": [[str(value) for value in law] for law in drafts],
    }


def exact_trace(seed: int, steps: int, size: int, gamma: int = 3) -> list[dict[str, Any]]:
    """Steps of one sequence of a correct engine."""
    rng = random.Random(seed)
    context = [rng.randrange(size) for _ in range(3)]
    found = []
    for number in range(steps):
        step = exact_step(rng, context, rng.randint(0, gamma), size)
        context = step["next_context"]
        found.append({"sequence": 0, "step": number, **step})
    return found
