"""The answer by naive enumeration with Fraction, straight from the papers.

Independent on purpose: nothing here imports specdist. Rows are sequences of Fraction, one entry
per token. ``ONE_HOT`` in a draft role means "the point mass at whatever was drafted".

Sources: Leviathan et al. 2211.17192, algorithm 1 and appendix A.1; Chen et al. 2302.01318,
algorithm 2 and theorem 1; truncated sampling as in Holtzman et al. 1904.09751 (top-p) and Fan et
al. 1805.04833 (top-k).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

Row = Sequence[Fraction]
ONE_HOT = "one-hot"


def normalise(weights: Row) -> list[Fraction]:
    total = sum(weights, Fraction(0))
    return [Fraction(weight) / total for weight in weights]


def point_mass(token: int, size: int) -> list[Fraction]:
    return [Fraction(int(y == token)) for y in range(size)]


def total_variation(left: Row, right: Row) -> Fraction:
    return sum((abs(a - b) for a, b in zip(left, right, strict=True)), Fraction(0)) / 2


@dataclass
class Position:
    """Masses per token and their sums. ``residual`` is None where a rejection has probability 0."""

    accepted: list[Fraction]
    recovered: list[Fraction]
    output: list[Fraction]
    residual: list[Fraction] | None
    acceptance: Fraction
    rejected: Fraction
    total_variation: Fraction


def token_rule(
    target: Row,
    draft: Row,
    *,
    reference: Row | None = None,
    accept_target: Row | None = None,
    residual_target: Row | None = None,
    drafted_from: Row | None = None,
    accept_draft: Row | str | None = None,
    residual_draft: Row | str | None = None,
    zero_draft: str = "error",
) -> Position:
    """Token verification of one position, every role on its own.

    out(y) = sum over x of drafted(x) * ( a(x) [x = y] + (1 - a(x)) r(y | x) ), with
    a(x) = min(1, accept_target(x) / accept_draft(x)) and
    r(. | x) = residual_target - residual_draft, positive part, normalised. Where a drafted token
    has accept_draft(x) = 0, ``zero_draft`` says what an engine makes of target/0: "accept"
    (infinite for a target above 0; 0/0 rejects), "reject", or an error.
    """
    size = len(target)
    reference = target if reference is None else reference
    accept_target = target if accept_target is None else accept_target
    residual_target = target if residual_target is None else residual_target
    drafted_from = draft if drafted_from is None else drafted_from
    accepted, recovered = [Fraction(0)] * size, [Fraction(0)] * size
    for x in range(size):
        if drafted_from[x] == 0:
            continue
        tested = _draft_role(accept_draft, draft, x)
        subtracted = _draft_role(residual_draft, draft, x)
        if tested[x] == 0 and zero_draft != "error":
            a = Fraction(int(zero_draft == "accept" and accept_target[x] > 0))
        else:
            a = min(Fraction(1), accept_target[x] / tested[x])
        accepted[x] += drafted_from[x] * a
        if a < 1:
            parts = [max(residual_target[y] - subtracted[y], Fraction(0)) for y in range(size)]
            for y, share in enumerate(normalise(parts)):
                recovered[y] += drafted_from[x] * (1 - a) * share
    output = [a + r for a, r in zip(accepted, recovered, strict=True)]
    rejected = sum(recovered, Fraction(0))
    assert sum(output) == 1
    return Position(
        accepted=accepted,
        recovered=recovered,
        output=output,
        residual=normalise(recovered) if rejected else None,
        acceptance=sum(accepted, Fraction(0)),
        rejected=rejected,
        total_variation=total_variation(output, reference),
    )


def _draft_role(role: Row | str | None, draft: Row, token: int) -> Row:
    if role is None:
        return draft
    return point_mass(token, len(draft)) if role == ONE_HOT else role  # type: ignore[return-value]


@dataclass
class Block:
    """``law`` of whole sequences (accepted tokens, the extra token, target draws to the end)."""

    law: dict[tuple[int, ...], Fraction]
    tokens: Fraction


def block(targets: Sequence[Row], drafts: Sequence[Row], bonus: Row) -> Block:
    """A block whose rows do not depend on the path: positions tested in order until the first
    rejection, the bonus token after the last acceptance. Every draft path is enumerated."""
    rows = [*targets, bonus]
    law: dict[tuple[int, ...], Fraction] = {}
    tokens = Fraction(0)
    for path in product(*(range(len(row)) for row in drafts)):
        mass = Fraction(1)
        for row, x in zip(drafts, path, strict=True):
            mass *= row[x]
        for emitted, share in _walk(targets, drafts, bonus, path):
            tokens += mass * share * len(emitted)
            for tail, rest in _sequences(rows[len(emitted) :]):
                whole = emitted + tail
                law[whole] = law.get(whole, Fraction(0)) + mass * share * rest
    return Block({key: value for key, value in law.items() if value}, tokens)


def _walk(
    targets: Sequence[Row], drafts: Sequence[Row], bonus: Row, path: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    reached = Fraction(1)
    for i, (target, draft, x) in enumerate(zip(targets, drafts, path, strict=True)):
        if draft[x] == 0:
            return
        a = min(Fraction(1), target[x] / draft[x])
        if a < 1:
            parts = [max(p - q, Fraction(0)) for p, q in zip(target, draft, strict=True)]
            for y, share in enumerate(normalise(parts)):
                if share:
                    yield (*path[:i], y), reached * (1 - a) * share
        reached *= a
    for y, share in enumerate(bonus):
        if share and reached:
            yield (*path, y), reached * share


def _sequences(rows: Sequence[Row]) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    for tokens in product(*(range(len(row)) for row in rows)):
        mass = Fraction(1)
        for row, y in zip(rows, tokens, strict=True):
            mass *= row[y]
        yield tokens, mass


def joint(rows: Sequence[Row]) -> dict[tuple[int, ...], Fraction]:
    """Independent draws from every row: what plain decoding emits."""
    return {tokens: mass for tokens, mass in _sequences(rows) if mass}


def _only(row: Row, kept: set[int]) -> list[Fraction]:
    return normalise([value if y in kept else Fraction(0) for y, value in enumerate(row)])


def top_k(row: Row, count: int) -> list[Fraction]:
    """The ``count`` largest and every tie of the last one."""
    edge = sorted(row, reverse=True)[: min(count, len(row))][-1]
    return _only(row, {y for y, value in enumerate(row) if value >= edge})


def top_p(row: Row, mass: Fraction) -> list[Fraction]:
    """Shortest prefix, falling probability and then rising id, that holds at least ``mass``."""
    kept: set[int] = set()
    held = Fraction(0)
    for y in sorted(range(len(row)), key=lambda y: (-row[y], y)):
        if held >= mass:
            break
        kept.add(y)
        held += row[y]
    return _only(row, kept)


def min_p(row: Row, fraction: Fraction) -> list[Fraction]:
    """Tokens with at least ``fraction`` of the largest probability."""
    edge = fraction * max(row)
    return _only(row, {y for y, value in enumerate(row) if value >= edge})


def temperature(row: Row, value: Fraction) -> list[Fraction]:
    """T = 1/n raises probabilities to the n-th power; T = 0 takes the lowest tied argmax."""
    if value == 0:
        return point_mass(list(row).index(max(row)), len(row))
    assert value.numerator == 1, "other temperatures of a probability row are not rational"
    return normalise([p**value.denominator for p in row])


def softmax(logits: Sequence[float], weight: Callable[[float], float]) -> list[Fraction]:
    """Rows of logits: the weights as given, taken as the exact numbers they are."""
    return normalise([Fraction(weight(z)) for z in logits])
