"""Faulty engines: each takes any pair of rows and describes an engine that gets them wrong.

A mutant is a capture and options of the command line, the ident that the report must hold, and the
repairs of which one must be named as a proven cause. Rows come from `rows`: three tokens or more,
none impossible, the target above the draft at two tokens at least, no two tokens with the same
ratio, a draft that no grid holds, so that no fault hides.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Row = list[Fraction]
BOTH_DRAFTS = ("accept_draft", "residual_draft")
BOTH_TARGETS = ("accept_target", "residual_target")
HALVED = "temperature:1/2"
CUT = "top-p:3/5"


@dataclass(frozen=True)
class Engine:
    """What the command line is told."""

    position: dict[str, Any]
    options: tuple[str, ...] = ()
    capture: dict[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        step = {"positions": [self.position], **(self.capture or {})}
        kind = step.pop("kind", "probabilities")
        return {"schema": "specdist.capture/1", "kind": kind, "steps": [step]}


@dataclass(frozen=True)
class Mutant:
    """``finds``: an ident of the report. ``causes``: sets of repairs, each of them named, unless a
    part of it is enough for the rows at hand. Rules that are lossy by design claim no cause."""

    name: str
    make: Callable[[Row, Row], Engine]
    finds: str
    causes: tuple[tuple[str, ...], ...]


def rows(chance: random.Random) -> tuple[Row, Row]:
    """Target and draft over three to six tokens."""
    while True:
        size = chance.randint(3, 6)
        target, draft = (_row([chance.randint(1, 13) for _ in range(size)]) for _ in range(2))
        above = sum(p > q for p, q in zip(target, draft, strict=True))
        below = sum(p < q for p, q in zip(target, draft, strict=True))
        ratios = {p / q for p, q in zip(target, draft, strict=True)}
        distinct = len(set(target)) == len(set(draft)) == len(ratios) == size
        if above >= 2 and below and distinct and max(q.denominator for q in draft) % 2:
            return target, draft


def _row(weights: Sequence[int]) -> Row:
    return [Fraction(weight, sum(weights)) for weight in weights]


def _written(row: Row) -> list[str]:
    return [str(value) for value in row]


def _other(row: Row) -> Row:
    """Another law over the same tokens: the row turned by one."""
    return [*row[1:], row[0]]


def _turn(size: int) -> str:
    """The wrong map of ids: every draft id is taken for its neighbour."""
    return "vocab-map:" + "+".join(str((x + 1) % size) for x in range(size))


def _position(target: Row, draft: Row, **more: Any) -> dict[str, Any]:
    return {"target": _written(target), "draft": _written(draft), **more}


def options(*words: str) -> Callable[[Row, Row], Engine]:
    """The right rows under options that describe a wrong engine."""
    return lambda target, draft: Engine(_position(target, draft), words)


def roles(recipes: dict[str, str], *words: str) -> Callable[[Row, Row], Engine]:
    """Some roles have recipes of their own."""
    return lambda target, draft: Engine(_position(target, draft, roles=recipes), words)


def _swapped_ratio(target: Row, draft: Row) -> Engine:
    swapped = {
        "accept_target": _written(draft),
        "accept_draft": _written(target),
        "residual_draft": _written(draft),
    }
    return Engine(_position(target, draft, roles=swapped))


def _another_row(*names: str) -> Callable[[Row, Row], Engine]:
    """Rows of another context in some roles."""

    def make(target: Row, draft: Row) -> Engine:
        side = draft if "draft" in names[0] else target
        return Engine(_position(target, draft, roles=dict.fromkeys(names, _written(_other(side)))))

    return make


def _wrong_map(target: Row, draft: Row) -> Engine:
    turned = dict.fromkeys(BOTH_DRAFTS, _turn(len(draft)))
    return Engine(_position(target, draft, roles=turned))


def _masked(target: Row, draft: Row) -> Engine:
    """The target forbids the last token; u = 0 accepts it."""
    masked = _row([*(int(p * 10**6) for p in target[:-1]), 0])
    return Engine(_position(masked, draft), ("--uniform", "2^24", "--inequality", "inclusive"))


def _pruned(*words: str) -> Callable[[Row, Row], Engine]:
    """Tokens below the second largest draft probability are not verified."""

    def make(target: Row, draft: Row) -> Engine:
        edge = sorted(draft)[-2]
        return Engine(_position(target, draft), ("--keep", f"own-probability:{edge}", *words))

    return make


def _captured_shares(target: Row, draft: Row) -> Engine:
    """The chance to be verified falls with the token's id."""
    keep = [str(Fraction(1, x + 1)) for x in range(len(draft))]
    return Engine(_position(target, draft, keep=keep))


def _bonus(target: Row, draft: Row) -> Engine:
    more = {"bonus": _written(target), "roles": {"bonus_from": HALVED}}
    return Engine(_position(target, draft), (), more)


def _not_normalised(target: Row, draft: Row) -> Engine:
    heavier = [target[0] + Fraction(1, 100), *target[1:]]
    return Engine(_position(heavier, draft), ("--unnormalised",))


def _penalty(target: Row, draft: Row) -> Engine:
    """Logits with a penalty on earlier tokens that the test does without."""
    logits = [[str(Fraction(round(value * 64), 8)) for value in row] for row in (target, draft)]
    position = {"target": logits[0], "draft": logits[1], "roles": {"accept_target": "raw"}}
    more = {"kind": "logits", "context": [0, 1]}
    return Engine(position, ("--presence-penalty", "3/2"), more)


def _drawn_in_bfloat16(target: Row, draft: Row) -> Engine:
    """The draft has a prime denominator that no rounding hides."""
    odd = [(96 * q + Fraction(int(x == 0))) / 97 for x, q in enumerate(draft)]
    recipe = {"drafted_from": "cast:bfloat16:of=probabilities"}
    return Engine(_position(target, odd, roles=recipe))


def _undeclared_lenience(target: Row, draft: Row) -> Engine:
    """The captured decisions accept with min(1, 2 p/q)."""
    accept = [min(Fraction(1), 2 * p / q) for p, q in zip(target, draft, strict=True)]
    over = [max(p - q, Fraction(0)) for p, q in zip(target, draft, strict=True)]
    recovery = [value / sum(over) for value in over]
    if all(a == 1 for a in accept):
        accept[-1] = Fraction(1, 2)
    more = {"accept": _written(accept), "recovery": _written(recovery)}
    return Engine(_position(target, draft, **more), ("--rule", "given"))


def _captured_recovery(target: Row, draft: Row) -> Engine:
    """The captured acceptance is right, the recovered tokens follow the target."""
    accept = [min(Fraction(1), p / q) for p, q in zip(target, draft, strict=True)]
    more = {"accept": _written(accept), "recovery": _written(target)}
    return Engine(_position(target, draft, **more), ("--rule", "given"))


DRAFTED = (("drafted_from",), BOTH_DRAFTS)
MUTANTS = [
    Mutant("recovery from the target", options("--rule", "token:recovery=target"),
           "residual-mismatch", (("recovery",),)),
    Mutant("recovery is the argmax", options("--rule", "token:recovery=argmax"),
           "residual-mismatch", (("recovery",),)),
    Mutant("softmax of the residual", options("--rule", "token:recovery=softmax"),
           "residual-mismatch", (("recovery",),)),
    Mutant("the ratio upside down", _swapped_ratio,
           "rule-mismatch", (("accept_target", "accept_draft"),)),
    Mutant("argmax drafts tested with the softmax", roles({"drafted_from": "temperature:0"}),
           "drafted-mismatch", DRAFTED),
    Mutant("top-k drafts tested with every token", roles({"drafted_from": "top-k:2"}),
           "drafted-mismatch", DRAFTED),
    Mutant("top-p in drafting only", roles({"drafted_from": CUT}), "drafted-mismatch", DRAFTED),
    Mutant("top-p in the draft's test only",
           roles({"accept_draft": CUT}, "--zero-draft", "accept"),
           "drafted-mismatch", (("accept_draft",),)),
    Mutant("top-p in the draft's residual only", roles({"residual_draft": CUT}),
           "residual-mismatch", (("residual_draft",),)),
    Mutant("top-p missing in verification",
           roles(dict.fromkeys(BOTH_TARGETS, "raw"), "--top-p", "3/5"),
           "lossless-for-another-target", (BOTH_TARGETS,)),
    Mutant("top-p missing in the test", roles({"accept_target": "raw"}, "--top-p", "3/5"),
           "target-mismatch", (("accept_target",),)),
    Mutant("top-p missing in the residual", roles({"residual_target": "raw"}, "--top-p", "3/5"),
           "target-mismatch", (("residual_target",),)),
    Mutant("residual from raw rows",
           roles({"residual_target": "raw", "residual_draft": "raw"}, "-T", "1/2"),
           "target-mismatch", (("residual_target", "residual_draft"),)),
    Mutant("temperature in drafting only", roles({"drafted_from": HALVED}),
           "drafted-mismatch", DRAFTED),
    Mutant("temperature missing in verification",
           roles(dict.fromkeys(BOTH_TARGETS, "raw"), "-T", "1/2"),
           "lossless-for-another-target", (BOTH_TARGETS,)),
    Mutant("temperature twice in verification",
           roles(dict.fromkeys(BOTH_TARGETS, f"{HALVED},{HALVED}"), "-T", "1/2"),
           "lossless-for-another-target", (BOTH_TARGETS,)),
    Mutant("temperature twice in the draft's test",
           roles(dict.fromkeys(BOTH_DRAFTS, f"{HALVED},{HALVED}"), "-T", "1/2"),
           "drafted-mismatch", DRAFTED),
    Mutant("min-p missing on verified rows",
           roles(dict.fromkeys(BOTH_TARGETS, "raw"), "--min-p", "1/2", "--draft-min-p", "off"),
           "lossless-for-another-target", (BOTH_TARGETS,)),
    Mutant("the grammar mask is missing in the test",
           roles({"accept_target": "raw"}, "--allowed", "0+1", "--draft-allowed", "off"),
           "target-mismatch", (("accept_target",),)),
    Mutant("one-hot residual, dense test", roles({"residual_draft": "one-hot"}),
           "residual-mismatch", (("residual_draft",),)),
    Mutant("dense residual, one-hot test", roles({"accept_draft": "one-hot"}),
           "residual-mismatch", (("residual_draft",), ("accept_draft",))),
    Mutant("the residual is floored", options("--residual-floor", "1/50"),
           "numeric-rounding", (("residual_floor",),)),
    Mutant("zero is on the grid and accepts", _masked, "impossible-token", (("uniform",),)),
    Mutant("a coarse grid of uniforms", options("--uniform", "11"),
           "numeric-rounding", (("uniform",),)),
    Mutant("a grid without its zero, the test strict", options("--uniform", "256:ends=one"),
           "numeric-rounding", (("uniform",),)),
    Mutant("an epsilon under the ratio", options("--ratio-epsilon", "1/1000"),
           "numeric-rounding", (("ratio_epsilon",),)),
    Mutant("pruned, then the target", _pruned(), "anticipating-length-rule", (("keep",),)),
    Mutant("pruned and redrawn, tested as declared", _pruned("--dropped", "redraw"),
           "anticipating-length-rule", (("keep",),)),
    Mutant("pruned, redrawn once", _pruned("--dropped", "redraw-1"),
           "anticipating-length-rule", (("keep",),)),
    Mutant("pruned, counted as rejected", _pruned("--dropped", "residual"),
           "anticipating-length-rule", (("keep",),)),
    Mutant("verified by chance that depends on the token", _captured_shares,
           "anticipating-length-rule", (("keep",),)),
    Mutant("cut after acceptance", options("--keep", "share:1/2", "--keep-when", "after"),
           "anticipating-length-rule", (("keep",),)),
    Mutant("accepts everything", options("--rule", "always"), "lossy-by-design", ()),
    Mutant("accepts at a fixed rate", options("--rule", "synthetic:3/4"),
           "lossy-by-design", ()),
    Mutant("lenient", options("--rule", "lenience:1/3"), "lossy-by-design", ()),
    Mutant("lenient without saying so", _undeclared_lenience, "rule-mismatch", (("rule",),)),
    Mutant("recovery from the target, as captured", _captured_recovery,
           "residual-mismatch", (("recovery",),)),
    Mutant("the bonus token has another law", _bonus, "bonus-mismatch", (("bonus_from",),)),
    Mutant("the noise of the draft is used again", options("--rule", "reused-noise"),
           "reused-randomness", ()),
    Mutant("a wrong vocabulary map in the test", _wrong_map, "drafted-mismatch", DRAFTED),
    Mutant("a target that is not normalised", _not_normalised, "row-not-normalised", (("sums",),)),
    Mutant("a penalty missing in the test", _penalty,
           "target-mismatch", (("accept_target",),)),
    Mutant("the target of another context", _another_row(*BOTH_TARGETS),
           "lossless-for-another-target", (BOTH_TARGETS,)),
    Mutant("tested with the draft of another context", _another_row("accept_draft"),
           "drafted-mismatch", (("accept_draft",),)),
    Mutant("drawn in bfloat16, tested exactly",
           _drawn_in_bfloat16,
           "drafted-mismatch", (("drafted_from",),)),
    Mutant("drawn by inverse CDF on a grid", roles({"drafted_from": "inverse-cdf:32"}),
           "drafted-mismatch", DRAFTED),
]  # fmt: skip
