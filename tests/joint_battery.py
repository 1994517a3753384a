"""A fixed set of steps over conditional models, compared with the joint oracle: what differs, as
names of cases.

On the real package there are none. `tests/joint_planted_bugs.py` plants bugs that each give one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.cli import exact
from tests.joint_captures import checked, compare, models_of, random_model, random_models, sequences
from tests.oracle_joint import (
    ONE,
    Lengths,
    Models,
    NoAnswerError,
    Outcome,
    Prefix,
    Row,
    Step,
    batch_law,
    best_budget,
    block,
    constant,
    independent,
    joint_overlap,
    plain,
    row,
    step,
    surely,
    threshold,
    token_chain,
    top_slots,
    total_variation,
    verified,
    window,
)
from tests.oracle_optima import best_acceptance, block_optimum
from tests.oracle_trees import (
    Tree,
    depth,
    greedy_drafts,
    k_seq,
    levels,
    rrs,
    sample_and_compare,
    spechub,
    target_only,
    top_down,
    traversal,
)

WOR = "without-replacement"
SIZE = 3


@dataclass(frozen=True)
class Case:
    """Steps of one capture, options, and a check of each step of the report."""

    name: str
    steps: list[dict[str, Any]]
    options: tuple[str, ...]
    checks: list[Callable[[dict[str, Any]], None]]


def differences(folder: Path) -> Iterator[str]:
    for case in cases():
        result = checked(case.steps, folder, *case.options)
        if not result.stdout:
            yield f"{case.name}: {result.stderr[:200]}"
            continue
        found = result.json()["steps"]
        for one, check in zip(found, case.checks, strict=True):
            try:
                check(one)
            except AssertionError as error:
                yield f"{case.name}: {str(error)[:200]}"


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    return (*_chains(), *_trees(), *_lengths(), *_batches(), *_optima(), *_tables())


def _same(wanted: Step) -> Callable[[dict[str, Any]], None]:
    return lambda found: compare(found, wanted, SIZE)


def _case(
    name: str,
    shape: Mapping[str, Any],
    options: tuple[str, ...],
    outcomes: Callable[[Models], list[Outcome]],
    make: Callable[[random.Random], Models],
    deep: int,
    horizon: int | None = None,
    count: int = 4,
) -> Case:
    chance, steps, checks = random.Random(name), [], []
    while len(steps) < count:
        models = make(chance)
        try:
            found = outcomes(models)
        except NoAnswerError:
            continue
        steps.append({**models_of(models), **shape})
        checks.append(_same(step(found, models.target, deep, horizon)))
    return Case(name, steps, options, checks)


def _free(deep: int, **more: Any) -> Callable[[random.Random], Models]:
    """Every token possible now and then, zeros otherwise; the bonus row has a law of its own."""

    def make(chance: random.Random) -> Models:
        models = random_models(chance, SIZE, deep, full=chance.random() < 0.6, **more)
        if chance.random() < 0.5:
            return models
        return replace(models, roles={"bonus_from": random_model(chance, SIZE, deep, full=True)})

    return make


def _supported(make: Callable[[random.Random], Models]) -> Callable[[random.Random], Models]:
    """Targets that make every token possible, so that no output is forbidden."""

    def found(chance: random.Random) -> Models:
        models = make(chance)
        deep = max(map(len, models.target))
        return replace(models, target=random_model(chance, SIZE, deep, full=True))

    return found


def _same_rows(target: Row, draft: Row) -> Models:
    return Models(constant(target, 2), (constant(draft, 1),))


def _chains() -> Iterator[Case]:
    two, three = {"draft_length": 2}, {"draft_length": 3}
    free = _supported(_free(3))
    rules: dict[str, Callable[[Models], list[Outcome]]] = {
        "token": lambda m: token_chain(m, 2),
        "token-chain": lambda m: token_chain(m, 2),
        "block": lambda m: block(m, 2),
        "block:coins=shared": lambda m: block(m, 2, coins="shared"),
        "block:coins=contiguous": lambda m: block(m, 2, coins="contiguous"),
        "block:thresholds=ratio:residual=token": lambda m: block(
            m, 2, thresholds="ratio", residual="token"
        ),
        "window:1:entropy=0:incomplete=accept": lambda m: window(m, 2, size=1),
        "window:1:entropy=0": lambda m: window(m, 2, size=1, incomplete=False),
    }
    for rule, outcomes in rules.items():
        yield _case(rule, two, ("--rule", rule), outcomes, free, 2)
    yield _case("token, three", three, (), lambda m: token_chain(m, 3), free, 3, count=3)
    yield _case("block, three", three, ("--rule", "block"), lambda m: block(m, 3), free, 3, count=3)
    for horizon in (1, 4):
        words = ("--rule", "block", "--horizon", str(horizon))
        yield _case(
            f"horizon {horizon}", two, words, lambda m: block(m, 2), free, 2, horizon, count=3
        )


def _trees() -> Iterator[Case]:

    def case(
        rule: str, mode: str, tree: Tree, outcomes: Any, ranks: int = 1, merged: bool = False
    ) -> Case:
        make = _supported(_free(depth(tree), ranks=ranks, possible=2))
        shape = {
            "tree": {"parents": list(tree)}, "siblings": mode,
            "duplicates": "merged" if merged else "separate",
        }  # fmt: skip
        name = f"{rule} {mode} {tree} {merged} {ranks}"
        return _case(
            name, shape, ("--rule", rule), lambda m: outcomes(m, tree), make, depth(tree), count=3
        )

    def down(rule: Any, mode: str, merged: bool = False) -> Any:
        return lambda m, tree: top_down(m, tree, rule, mode, merged=merged)

    pairs, uneven = levels(2, 1), (-1, -1, 0, 2)
    tied = _same_rows(row("1/10", "1/5", "7/10"), row("1/4", "3/8", "3/8"))
    for rule, mode, known in (
        ("target-only", "top", target_only()),
        ("greedy-drafts", "top-then-sampled", greedy_drafts),
        ("spechub", "hub", spechub),
    ):
        shape = {"tree": {"children": [2]}, "siblings": mode}
        yield _case(
            f"{rule}, ties", shape, ("--rule", rule),
            lambda m, known=known, mode=mode: top_down(m, levels(2), known, mode),
            lambda chance: tied, 1, count=1,
        )  # fmt: skip
    yield case("rrs", "iid", pairs, down(rrs(), "iid"))
    yield case("rrs", "iid", uneven, down(rrs(), "iid"))
    yield case("rrs", "iid", levels(2, 2), down(rrs(), "iid", True), merged=True)
    yield case("rrs", "iid", pairs, down(rrs(), "iid"), 2)
    yield case("rrs", WOR, pairs, down(rrs(), WOR))
    yield case("rrs:tested=raw", WOR, pairs, down(rrs("raw"), WOR))
    yield case("k-seq:2", "iid", pairs, down(k_seq(Fraction(2)), "iid"))
    yield case("sample-and-compare", "iid", pairs, down(sample_and_compare(), "iid"))
    own = down(sample_and_compare("own"), "iid")
    yield case("sample-and-compare:samples=own", "iid", pairs, own)
    yield case("target-only", "iid", pairs, down(target_only(), "iid"))
    yield case("target-only", "top", pairs, down(target_only(), "top"))
    half = down(target_only(Fraction(2, 3), Fraction(3, 4)), WOR)
    yield case("target-only:accumulated=2/3:single=3/4", WOR, pairs, half)
    greedy = down(greedy_drafts, "top-then-sampled")
    yield case("greedy-drafts", "top-then-sampled", pairs, greedy)
    yield case("spechub", "hub", levels(2), down(spechub, "hub"))
    yield case("traversal", "iid", pairs, traversal)
    yield case("traversal", "iid", pairs, traversal, 2)
    yield case("traversal", WOR, pairs, lambda m, tree: traversal(m, tree, WOR))
    merged = lambda m, tree: traversal(m, tree, merged=True)  # noqa: E731
    yield case("traversal", "iid", levels(2, 2), merged, merged=True)


def _lengths() -> Iterator[Case]:
    edge = Fraction(1, 3)
    confidence = {(): Fraction(4, 5), (0,): ONE, (1,): Fraction(0), (2,): Fraction(1, 2)}
    speed = {1: ONE, 2: Fraction(1, 2), 3: Fraction(9, 20)}
    written = {
        "confidence": {",".join(map(str, z)): str(c) for z, c in confidence.items()},
        "throughput": {str(n): str(s) for n, s in speed.items()},
    }

    def scores(x: Prefix) -> list[Fraction]:
        return [confidence[()], confidence[()] * confidence[x[:1]]]

    rules: list[tuple[Any, Callable[[Models], Lengths]]] = [
        ("fixed:1", lambda m: lambda x: surely(1)),
        ("stop-after:1/3", lambda m: threshold(m, edge, "keep")),
        ("own-probability:1/3", lambda m: threshold(m, edge, "drop")),
        ("top-probability:1/2", lambda m: threshold(m, Fraction(1, 2), "top")),
        (
            {"rule": "scheduler:global", **written},
            lambda m: lambda x: surely(best_budget([scores(x)], speed)),
        ),
    ]
    for length, lengths in rules:
        yield _case(
            f"length {length}", {"draft_length": 2, "length": length}, (),
            lambda m, lengths=lengths: verified(m, 2, lengths(m)), _supported(_free(2)), 2,
        )  # fmt: skip


def _batches() -> Iterator[Case]:
    confidence = {(): Fraction(4, 5), (0,): ONE, (1,): Fraction(0), (2,): ONE}
    table = {",".join(map(str, z)): str(c) for z, c in confidence.items()}
    for ties in ("position", "reverse"):
        chance, steps, checks = random.Random(ties), [], []
        for _ in range(3):
            models = [random_models(chance, SIZE, 2, full=True) for _ in range(2)]
            requests = [
                {**models_of(one), "draft_length": 2, "confidence": table} for one in models
            ]
            schedule = "scheduler:fixed:budget=1" + ":ties=reverse" * (ties == "reverse")
            steps.append({"requests": requests, "schedule": schedule})

            def split(xs: tuple[Prefix, ...], ties: str = ties) -> dict[tuple[int, ...], Fraction]:
                scores = [[confidence[()], confidence[()] * confidence[x[:1]]] for x in xs]
                return {top_slots(scores, 1, ties): ONE}

            law, _ = batch_law(models, 2, split, 1)
            right = independent([plain(one.target, 1) for one in models])
            checks.append(_batch(law, total_variation(law, right)))
        yield Case(f"batch, ties {ties}", steps, ("--horizon", "1"), checks)


def _batch(law: Any, variation: Fraction) -> Callable[[dict[str, Any]], None]:
    def check(found: dict[str, Any]) -> None:
        assert exact(found["joint"]["total_variation"]) == variation
        assert sequences(found["joint"], "output") == law

    return check


def _optima() -> Iterator[Case]:
    chance = random.Random("optima")
    models = [random_models(chance, SIZE, 2, possible=2) for _ in range(4)]
    chains = [{**models_of(one), "draft_length": 2} for one in models]
    yield Case(
        "optima of chains", chains, (),
        [_best({"block": block_optimum(one, 2), "overlap bound": joint_overlap(one, 2)})
         for one in models],
    )  # fmt: skip
    for mode in ("iid", WOR, "top-then-sampled"):
        steps = [{**models_of(one), "tree": {"children": [2]}, "siblings": mode} for one in models]
        rule = "greedy-drafts" if mode == "top-then-sampled" else "rrs"
        best = [best_acceptance(one.target[()], mode, [one.D(())] * 2) for one in models]
        checks = [_best({"2 drafts": value}) for value in best]
        yield Case(f"optima of {mode}", steps, ("--rule", rule), checks)


def _best(wanted: dict[str, Fraction]) -> Callable[[dict[str, Any]], None]:
    def check(found: dict[str, Any]) -> None:
        optima = {one["name"]: exact(one["expected_accepted"]) for one in found["joint"]["optima"]}
        assert optima == wanted

    return check


def _tables() -> Iterator[Case]:
    """Rows by whole prefix win over rows by last token, and these over the default."""
    chance = random.Random("tables")
    first, after, whole, rest = (random_model(chance, SIZE, 0, full=True)[()] for _ in range(4))
    target = {(): first, **{(x,): rest for x in range(SIZE)}}
    target[0,], target[1,] = whole, after
    target |= {(x, y): after if y in (0, 1) else rest for x in range(SIZE) for y in range(SIZE)}
    draft = {z: target[z] if z else rest for z in target if len(z) < 2}
    written = {
        "target": {
            "rows": {"": _texts(first), "0": _texts(whole)},
            "after": {"0": _texts(after), "1": _texts(after)},
            "default": _texts(rest),
        },
        "draft": {
            "rows": {"0": _texts(whole)}, "after": {"1": _texts(after)}, "default": _texts(rest),
        },
    }  # fmt: skip
    models = Models(target, (draft,))
    wanted = step(token_chain(models, 2), target, 2)
    yield Case("tables", [{"models": written, "draft_length": 2}], (), [_same(wanted)])


def _texts(law: Any) -> list[str]:
    return [str(value) for value in law]
