"""Acceptance rules, keep rules and finite precision at one position, straight from the papers.

Independent on purpose: nothing here imports specdist. Fraction only (softmax recovery and drafts
kept by entropy need a logarithm and use 60 digits). Most rules are a `Channel`: for every drafted
token x the probability a(x) of accepting it and the law r(. | x) of the token that is emitted in
its place. Then

    accepted(x) = D(x) a(x)        recovered(y) = sum over x of D(x) (1 - a(x)) r(y | x).

Letters: P accept_target, S residual_target, D drafted_from, Q accept_draft, U residual_draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import ceil, floor, isqrt, lcm

Row = Sequence[Fraction]
Channel = list[tuple[Fraction, list[Fraction]]]
ZERO, ONE = Fraction(0), Fraction(1)


class NoAnswerError(Exception):
    """The engine described has no law here: 0/0, an empty residual that nobody settled."""


def total(row: Iterable[Fraction]) -> Fraction:
    return sum(row, ZERO)


def normalise(weights: Row) -> list[Fraction]:
    mass = total(weights)
    if not mass:
        raise NoAnswerError("nothing to normalise")
    return [weight / mass for weight in weights]


def point(token: int, size: int) -> list[Fraction]:
    return [Fraction(int(y == token)) for y in range(size)]


def minus(left: Row, right: Row, scale: Fraction = ONE) -> list[Fraction]:
    """[left - scale right]_+"""
    return [max(a - scale * b, ZERO) for a, b in zip(left, right, strict=True)]


def overlap(left: Row, right: Row) -> Fraction:
    return total(map(min, left, right))


def total_variation(left: Row, right: Row) -> Fraction:
    return total(abs(a - b) for a, b in zip(left, right, strict=True)) / 2


def argmax(row: Row) -> int:
    return list(row).index(max(row))


def only(row: Row, kept: Iterable[int]) -> list[Fraction]:
    chosen = set(kept)
    return normalise([v if y in chosen else ZERO for y, v in enumerate(row)])


def without(row: Row, token: int) -> list[Fraction]:
    """row without one token, renormalised; the row itself where nothing else is possible (a
    rejection then has probability 0, or no answer)."""
    return list(row) if row[token] == total(row) else only(row, set(range(len(row))) - {token})


@dataclass(frozen=True)
class Numerics:
    """How an engine computes the same rule in finite precision (theory section 8).

    ``grid`` N: u = k/N with k from ``ends``: zero 0..N-1, one 1..N, both 0..N, neither 1..N-1;
    None is a real uniform. ``inclusive``: u <= a. ``capped``: a = min(1, ratio) is compared, else
    the ratio. ``epsilon``: P / (Q + epsilon). ``floor``: max(S - U, floor). ``zero_draft``: what
    P/0 is. ``empty``: what is emitted where nothing is left after a rejection.
    """

    grid: int | None = None
    ends: str = "zero"
    inclusive: bool = False
    capped: bool = True
    epsilon: Fraction = ZERO
    floor: Fraction = ZERO
    zero_draft: str = "error"
    empty: str = "ask"

    def coin(self, a: Fraction | None) -> Fraction:
        """Probability of u < a (or u <= a); None is infinite."""
        if self.grid is None:
            return ONE if a is None else min(a, ONE)
        first = 0 if self.ends in ("zero", "both") else 1
        last = self.grid if self.ends in ("one", "both") else self.grid - 1
        if a is None or (self.capped and a > 1):
            a = ONE if self.capped else Fraction(2)
        edge = floor(a * self.grid) if self.inclusive else ceil(a * self.grid) - 1
        return Fraction(max(0, min(edge, last) - first + 1), last - first + 1)

    def ratio(self, target: Fraction, tested: Fraction) -> Fraction | None:
        if tested + self.epsilon > 0:
            return target / (tested + self.epsilon)
        if self.zero_draft == "error":
            raise NoAnswerError("drafted outside the tested support")
        if self.zero_draft == "accept-all" or (self.zero_draft == "accept" and target > 0):
            return None
        return ZERO


REAL = Numerics()


@dataclass(frozen=True)
class Roles:
    """One position. Q and U are None where they are one-hot at the drafted token."""

    P: Row
    S: Row
    D: Row
    Q: Row | None
    U: Row | None
    numerics: Numerics = REAL

    @property
    def size(self) -> int:
        return len(self.P)

    def tested(self, x: int) -> Row:
        return point(x, self.size) if self.Q is None else self.Q

    def subtracted(self, x: int) -> Row:
        return point(x, self.size) if self.U is None else self.U


def correct(target: Row, draft: Row, numerics: Numerics = REAL) -> Roles:
    return Roles(target, target, draft, draft, draft, numerics)


@dataclass
class Law:
    """Masses a token; ``unassigned`` is rejected mass for which no token is emitted."""

    accepted: list[Fraction]
    recovered: list[Fraction]
    unassigned: Fraction = ZERO
    output: list[Fraction] = field(init=False)

    def __post_init__(self) -> None:
        self.output = [a + r for a, r in zip(self.accepted, self.recovered, strict=True)]
        assert total(self.output) + self.unassigned == 1

    @property
    def acceptance(self) -> Fraction:
        return total(self.accepted)

    @property
    def residual(self) -> list[Fraction] | None:
        return normalise(self.recovered) if any(self.recovered) else None


def law(drafted: Row, channel: Channel) -> Law:
    size = len(drafted)
    accepted, recovered, lost = [ZERO] * size, [ZERO] * size, ZERO
    for x, (a, r) in enumerate(channel):
        accepted[x] += drafted[x] * a
        for y in range(size):
            recovered[y] += drafted[x] * (1 - a) * r[y]
        lost += drafted[x] * (1 - a) * (1 - total(r))
    return Law(accepted, recovered, lost)


def channel(
    roles: Roles, ratio: Callable[[int], Fraction | None], recover: Callable[[int], list[Fraction]]
) -> Channel:
    """Accept x when the uniform is below ratio(x); what is never drafted needs no answer, nor
    does the recovery where a rejection is impossible."""
    found = []
    for x in range(roles.size):
        a = roles.numerics.coin(ratio(x)) if roles.D[x] else ZERO
        rejects = roles.D[x] > 0 and a < 1
        found.append((a, recover(x) if rejects else point(x, roles.size)))
    return found


def residual(
    roles: Roles, x: int, start: Row | None = None, scale: Fraction = ONE
) -> list[Fraction]:
    """norm[S - scale U]_+ after rejecting x, with the engine's floor and its last resort."""
    start = roles.S if start is None else start
    parts = [
        max(a - scale * b, roles.numerics.floor)
        for a, b in zip(start, roles.subtracted(x), strict=True)
    ]
    if any(parts):
        return normalise(parts)
    empty, size = roles.numerics.empty, roles.size
    if empty == "none":
        return [ZERO] * size
    if empty == "target":
        return normalise(roles.S)
    if empty == "last":
        return point(size - 1, size)
    if empty.startswith("token:"):
        return point(int(empty.removeprefix("token:")), size)
    raise NoAnswerError("empty residual")


def recovery(
    roles: Roles, kind: str, kept: Iterable[int] | None = None
) -> Callable[[int], list[Fraction]]:
    """residual: norm[S - U]_+; target: S; argmax: its lowest argmax; set: S on ``kept``;
    softmax: exp of [S - U]_+, normalised."""
    if kind == "residual":
        return lambda x: residual(roles, x)
    if kind == "target":
        return lambda x: normalise(roles.S)
    if kind == "argmax":
        return lambda x: point(argmax(roles.S), roles.size)
    if kind == "set":
        return lambda x: only(roles.S, kept or ())
    assert kind == "softmax"
    return lambda x: normalise([_exp(v) for v in minus(roles.S, roles.subtracted(x))])


def _exp(value: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).exp())


# ---- rules -----------------------------------------------------------------------------------


def token(roles: Roles, kind: str = "residual") -> Channel:
    """Leviathan 2211.17192, Chen 2302.01318: a = min(1, P/Q)."""
    ratio = lambda x: roles.numerics.ratio(roles.P[x], roles.tested(x)[x])  # noqa: E731
    return channel(roles, ratio, recovery(roles, kind))


def swapped(roles: Roles) -> Channel:
    """The ratio upside down, min(1, Q/P), with the right residual."""
    ratio = lambda x: roles.numerics.ratio(roles.tested(x)[x], roles.P[x])  # noqa: E731
    return channel(roles, ratio, recovery(roles, "residual"))


def exact_match(roles: Roles) -> Channel:
    """y ~ P is drawn anyway: accept iff x == y, emit y. Given a mismatch y follows P without x."""
    return channel(roles, lambda x: roles.P[x], lambda x: without(roles.P, x))


def one_hot(roles: Roles, kind: str = "residual") -> Channel:
    return token(replace(roles, Q=None, U=None), kind)


def classical(roles: Roles) -> Channel:
    """Rejection sampling with envelope M = max P/Q over D's support: accept with P / (M Q)."""
    assert roles.Q is not None
    support = [x for x in range(roles.size) if roles.D[x]]
    if any(roles.P[x] and not roles.Q[x] for x in range(roles.size)):
        raise NoAnswerError("the draft does not cover the target")
    envelope = max(roles.P[x] / roles.Q[x] for x in support)
    ratio = lambda x: roles.P[x] / (envelope * roles.Q[x])  # type: ignore[index]  # noqa: E731
    return channel(roles, ratio, recovery(roles, "target"))


def lenience(roles: Roles, factor: Fraction, kind: str = "residual") -> Channel:
    """2211.17192 appendix A.5: min(1, P / (L Q)); recovery residual, scaled [S - L U]_+, target."""

    def ratio(x: int) -> Fraction | None:
        return roles.numerics.ratio(roles.P[x], factor * roles.tested(x)[x])

    if kind == "scaled":
        return channel(roles, ratio, lambda x: residual(roles, x, scale=factor))
    return channel(roles, ratio, recovery(roles, kind))


def set_rule(roles: Roles, kept: Iterable[int], kind: str) -> Channel:
    """Accept exactly the tokens of a set."""
    chosen = set(kept)
    return channel(roles, lambda x: Fraction(int(x in chosen)), recovery(roles, kind, chosen))


def typical_set(target: Row, epsilon: Fraction, delta: Fraction) -> set[int]:
    """Medusa: P(x) > min(epsilon, delta exp(-H(P))), decided in integers: with every probability
    over one denominator N, exp(-H)^N = prod p^(N p). Where N is large, by 60 digits."""
    return {x for x, p in enumerate(target) if p > epsilon or (p and _typical(p / delta, target))}


def _typical(share: Fraction, target: Row) -> bool:
    """share > exp(-H) = prod p^p"""
    common = lcm(*(p.denominator for p in target))
    if common > 5000:
        return _log(share) > sum(p * _log(p) for p in target if p)
    power = ONE
    for p in target:
        power *= p ** int(common * p) if p else ONE
    return share**common > power


def _log(value: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).ln())


def typical(roles: Roles, epsilon: Fraction, delta: Fraction, kind: str) -> Channel:
    return set_rule(roles, typical_set(roles.P, epsilon, delta), kind)


def cascade(roles: Roles, base: Fraction, kind: str) -> Channel:
    """SpecCascade: P(x) >= base max P."""
    edge = base * max(roles.P)
    return set_rule(roles, {x for x, p in enumerate(roles.P) if p >= edge}, kind)


def _top(row: Row, count: int) -> list[int]:
    return sorted(range(len(row)), key=lambda x: (-row[x], x))[:count]


def relaxed(roles: Roles, count: int, delta: Fraction, kind: str = "argmax") -> Channel:
    """TensorRT-LLM's relaxed acceptance: top-N with P >= max P - delta."""
    edge = max(roles.P) - delta
    return set_rule(roles, {x for x in _top(roles.P, count) if roles.P[x] >= edge}, kind)


def top_beta(roles: Roles, beta: int, factor: Fraction, kind: str = "argmax") -> Channel:
    """SpecDec: top-beta with P >= factor max P."""
    edge = factor * max(roles.P)
    return set_rule(roles, {x for x in _top(roles.P, beta) if roles.P[x] >= edge}, kind)


def judge(roles: Roles, listed: Iterable[int], kind: str) -> Channel:
    return set_rule(roles, listed, kind)


def thresholds(roles: Roles, single: Fraction = ONE, acc: Fraction = ONE) -> Channel:
    """SGLang's target-only test of one random draft: accept if P >= single or u <= P/acc; else P
    without the draft."""

    def ratio(x: int) -> Fraction:
        return ONE if roles.P[x] >= single else roles.P[x] / acc

    return channel(roles, ratio, lambda x: without(roles.S, x))


def siblings(
    target: Row, children: Sequence[int], single: Fraction = ONE, acc: Fraction = ONE
) -> Law:
    """One shared coin u scans distinct children: child i is accepted when u <= (P of the first i
    children) / acc or its own P >= single; otherwise P without the children."""
    accepted, reached, held = [ZERO] * len(target), ZERO, ZERO
    for child in children:
        held += target[child]
        level = ONE if target[child] >= single else min(ONE, held / acc)
        accepted[child] += max(level - reached, ZERO)
        reached = max(reached, level)
    rest = [ZERO if y in children else p for y, p in enumerate(target)]
    recovered = (
        [(1 - reached) * p for p in normalise(rest)] if reached < 1 else [ZERO] * len(target)
    )
    return Law(accepted, recovered)


def mixture(roles: Roles, weight: Fraction) -> Channel:
    """The token rule towards h = weight P + (1 - weight) Q."""
    assert roles.Q is not None
    assert roles.U is not None
    tested = [weight * p + (1 - weight) * q for p, q in zip(roles.P, roles.Q, strict=True)]
    start = [weight * s + (1 - weight) * u for s, u in zip(roles.S, roles.U, strict=True)]
    return token(replace(roles, P=tested, S=start))


def cactus(roles: Roles, delta: Fraction) -> Channel:
    """2604.04987: for drafted n, h(n) = min(1, p + sqrt(2 delta p (1 - p))), the rest scaled; only
    rational square roots here."""

    def boosted(n: int) -> list[Fraction]:
        p = roles.P[n]
        high = min(ONE, p + _root(2 * delta * p * (1 - p)))
        rest = ZERO if p == 1 else (1 - high) / (1 - p)
        return [high if y == n else rest * v for y, v in enumerate(roles.P)]

    return channel(
        roles,
        lambda x: roles.numerics.ratio(boosted(x)[x], roles.tested(x)[x]),
        lambda x: residual(roles, x, start=boosted(x)),
    )


def _root(square: Fraction) -> Fraction:
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if Fraction(top, bottom) ** 2 != square:
        raise NoAnswerError("no rational root")
    return Fraction(top, bottom)


def divergence_gate(roles: Roles, threshold: Fraction) -> Channel:
    """Accept everything where TV(P, Q) <= threshold, else the token rule."""
    assert roles.Q is not None
    return always(roles) if total_variation(roles.P, roles.Q) <= threshold else token(roles)


def always(roles: Roles) -> Channel:
    return [(ONE, point(x, roles.size)) for x in range(roles.size)]


def synthetic(roles: Roles, rate: Fraction, kind: str = "residual") -> Channel:
    """Accept with one probability, whatever the rows say."""
    return channel(roles, lambda x: rate, recovery(roles, kind))


def given(roles: Roles, accept: Row, recovered: Row) -> Channel:
    return [(a, list(recovered)) for a in accept]


def optimal_loss(roles: Roles, budget: Fraction) -> Channel:
    """Least total variation for a rejection budget R <= TV(S, U): b = 1 - (R/TV) [U - S]_+ / U,
    recovery [S - b U]_+ (2411.00841, theory section 4)."""
    assert roles.U is not None
    distance = total_variation(roles.S, roles.U)
    over = minus(roles.U, roles.S)
    b = [1 - budget / distance * o / u if u else ONE for o, u in zip(over, roles.U, strict=True)]
    shaved = [share * u for share, u in zip(b, roles.U, strict=True)]
    return channel(roles, lambda x: b[x], lambda x: normalise(minus(roles.S, shaved)))


def race_after(drafted: Row, weights: Row, winner: int) -> list[Fraction]:
    """Law of argmin E(y)/r(y) given that ``winner`` is argmin E(x)/d(x), same exponentials E.

    The first race ends at T ~ Exp(1); then E(y) = d(y) T + fresh Exp(1) for the others, and
    E(winner) = d(winner) T. So y arrives at c(y) T + Exp(r(y)) with c = d/r, the winner at
    c(winner) T. Between two neighbouring starts the running clocks have rate R and offset
    C = sum r c, and E exp((C - R s) T) = 1 / (1 + R s - C).
    """
    racing = [y for y, r in enumerate(weights) if r and y != winner]
    start = {y: drafted[y] / weights[y] for y in racing}
    end = drafted[winner] / weights[winner] if weights[winner] else None
    edges = sorted({s for s in start.values() if end is None or s < end})
    edges += [] if end is None else [end]
    found = [ZERO] * len(weights)

    def surviving(rate: Fraction, offset: Fraction, at: Fraction) -> Fraction:
        return 1 / (1 + rate * at - offset)

    for i, edge in enumerate(edges):
        running = [y for y in racing if start[y] <= edge]
        rate = total(weights[y] for y in running)
        offset = total(weights[y] * start[y] for y in running)
        if edge == end:
            found[winner] = surviving(rate, offset, edge)
            break
        last = i + 1 == len(edges)
        later = ZERO if last else surviving(rate, offset, edges[i + 1])
        for y in running:
            found[y] += weights[y] / rate * (surviving(rate, offset, edge) - later)
    return found


def reused_noise(roles: Roles) -> Channel:
    """The token test; the recovery race reuses the exponentials of the draft's race."""
    plain = token(roles)
    return [
        (a, race_after(roles.D, r, x) if a < 1 and roles.D[x] else r)
        for x, (a, r) in enumerate(plain)
    ]


# ---- couplings: law P, accepted(x) = probability that both sides choose x --------------------


def both_choose(scheme: str, target: Row, draft: Row) -> list[Fraction]:
    """gumbel: 1 / sum_i max(p_i/p_x, q_i/q_x); minhash-dart: min / sum max; minhash:
    min (1 + |p - q|) / sum max; inverse-cdf: overlap of the intervals of x (theory section 7)."""
    pairs = list(zip(target, draft, strict=True))
    above = total(map(max, target, draft))
    if scheme == "gumbel":
        return [
            1 / total(max(p / px, q / qx) for p, q in pairs) if px and qx else ZERO
            for px, qx in pairs
        ]
    if scheme == "minhash-dart":
        return [min(p, q) / above for p, q in pairs]
    if scheme == "minhash":
        return [min(p, q) * (1 + abs(p - q)) / above for p, q in pairs]
    assert scheme == "inverse-cdf"
    found = []
    for x, (p, q) in enumerate(pairs):
        low, high = (total(target[:x]), total(draft[:x])), (p, q)
        shared = min(low[0] + high[0], low[1] + high[1]) - max(low)
        found.append(max(shared, ZERO))
    return found


def shared_noise(roles: Roles, scheme: str) -> Law:
    accepted = both_choose(scheme, roles.P, roles.D)
    return Law(accepted, [p - a for p, a in zip(roles.P, accepted, strict=True)])


# ---- keep rules ------------------------------------------------------------------------------


def by_own_probability(draft: Row, edge: Fraction, strict: bool = False) -> list[Fraction]:
    return [Fraction(int(q > edge if strict else q >= edge)) for q in draft]


def by_top_probability(draft: Row, edge: Fraction) -> list[Fraction]:
    return [Fraction(int(max(draft) >= edge))] * len(draft)


def by_entropy(draft: Row, edge: Fraction) -> list[Fraction]:
    entropy = -sum(q * _log(q) for q in draft if q)
    return [Fraction(int(entropy <= edge))] * len(draft)


def redrawn(draft: Row, keep: Row, times: int | None = None) -> list[Fraction]:
    """Drawn anew until kept; with ``times``, kept whatever it is after that many redraws."""
    kept = [q * k for q, k in zip(draft, keep, strict=True)]
    if times is None:
        return normalise(kept)
    dropped = 1 - total(kept)
    reached = total(dropped**i for i in range(times))
    return [k * reached + dropped**times * q for k, q in zip(kept, draft, strict=True)]


def pruned(
    roles: Roles,
    rule: Callable[[Roles], Channel],
    keep: Row,
    *,
    dropped: str = "target",
    proposal: str = "declared",
    when: str = "before",
    bonus: Row | None = None,
) -> Law:
    """A drafted token is kept with probability keep(x); see theory section 5.

    ``proposal`` effective: Q and U become q k, or the redraw law, which is the correction.
    """
    fresh = normalise(roles.S if bonus is None else bonus)
    times = int(dropped.removeprefix("redraw-")) if dropped.startswith("redraw-") else None
    redraws = dropped.startswith("redraw")

    def proposed(row: Row | None) -> Row | None:
        if row is None:
            return None
        if redraws:
            return redrawn(row, keep, times)
        return [q * k for q, k in zip(row, keep, strict=True)]

    drawn = replace(roles, D=redrawn(roles.D, keep, times)) if redraws else roles
    if proposal == "effective":
        drawn = replace(drawn, Q=proposed(roles.Q), U=proposed(roles.U))
    # A token that is always dropped is never tested.
    share = [ONE] * roles.size if redraws else list(keep)
    met = [d if k or when == "after" else ZERO for d, k in zip(drawn.D, share, strict=True)]
    verdicts = rule(replace(drawn, D=met))
    accepted, recovered = [ZERO] * roles.size, [ZERO] * roles.size
    for x, (a, r) in enumerate(verdicts):
        if when == "after":
            taken, fails, leaves = a * share[x], 1 - a, a * (1 - share[x])
        else:
            taken, fails, leaves = share[x] * a, share[x] * (1 - a), 1 - share[x]
        if dropped == "residual" and leaves and drawn.D[x]:
            fails, leaves = fails + leaves, ZERO
            r = residual(drawn, x)
        accepted[x] += drawn.D[x] * taken
        for y in range(roles.size):
            recovered[y] += drawn.D[x] * (fails * r[y] + leaves * fresh[y])
    return Law(accepted, recovered)


# ---- probabilities with sums of their own ----------------------------------------------------


def unnormalised(target: Row, draft: Row, numerics: Numerics = REAL) -> Law:
    """Test and residual on the numbers as they are; every draw divides by its sum."""
    drafted = normalise(draft)
    return law(drafted, token(Roles(target, target, drafted, draft, draft, numerics)))


# ---- draws in finite precision ---------------------------------------------------------------


def inverse_cdf(row: Row, points: int) -> list[Fraction]:
    """u = k/N, k = 0..N-1; the smallest x with u < C(x)."""
    below, found = 0, []
    for x in range(len(row)):
        reached = ceil(total(row[: x + 1]) * points)
        found.append(Fraction(reached - below, points))
        below = reached
    return found


def gumbel_race(row: Row, points: int) -> list[Fraction]:
    """Largest u(x)^(1/p(x)) with u = k/N, k = 1..N, ties to the first index, every draw tried."""
    common = lcm(*(p.denominator for p in row))
    possible = [x for x, p in enumerate(row) if p]
    powers = {x: int(row[x] * common) for x in possible}
    found = [ZERO] * len(row)
    for draws in product(range(1, points + 1), repeat=len(possible)):
        u = {x: Fraction(k, points) for x, k in zip(possible, draws, strict=True)}
        best = possible[0]
        for x in possible[1:]:
            if u[x] ** powers[best] > u[best] ** powers[x]:
                best = x
        found[best] += Fraction(1, points ** len(possible))
    return found


# ---- vocabularies ----------------------------------------------------------------------------


def mapped(draft: Row, ids: Sequence[int], size: int) -> list[Fraction]:
    """Draft id i is target id ids[i]."""
    found = [ZERO] * size
    for mass, goal in zip(draft, ids, strict=True):
        found[goal] += mass
    return found


def retokenised(
    draft: Mapping[str, Fraction], target_vocab: Sequence[str], chars: int
) -> dict[str, Fraction]:
    """psi(t): draft tokens are drawn until the text has ``chars`` characters; t is the first token
    of its greedy longest-match split over the target vocabulary."""
    found = dict.fromkeys(target_vocab, ZERO)
    open_texts = {"": ONE}
    while open_texts:
        text, mass = open_texts.popitem()
        if len(text) >= chars:
            found[max((t for t in target_vocab if text.startswith(t)), key=len)] += mass
            continue
        for piece, share in draft.items():
            if share:
                open_texts[text + piece] = open_texts.get(text + piece, ZERO) + mass * share
    return found
