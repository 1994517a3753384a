"""Joint laws of whole steps by naive enumeration with Fraction, straight from the papers.

Independent on purpose: nothing here imports specdist. A conditional model is a dict from prefixes
to rows. A step yields outcomes: an accepted prefix, the law of the one token after it, and a mass.

    law of the first K tokens(y) = sum over outcomes of mass * Pr(outcome completed = y),

an outcome of fewer than K tokens being completed with target draws, a longer one cut at K.

Letters: P accept_target, S residual_target, B bonus_from, D drafted_from, Q accept_draft,
U residual_draft. Sources: Leviathan et al. 2211.17192 (token chain), Sun et al. 2403.10444 (block
verification).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from tests.oracle_rules import Channel, Roles

Row = tuple[Fraction, ...]
Prefix = tuple[int, ...]
Model = Mapping[Prefix, Row]
Law = dict[tuple[int, ...], Fraction]
ZERO, ONE = Fraction(0), Fraction(1)
ONE_HOT = "one-hot"


class NoAnswerError(Exception):
    """The engine described has no law here: a drafted token of tested mass 0, an empty residual
    after a rejection that is possible, parameters that the rule cannot take."""


class Outcome(NamedTuple):
    mass: Fraction
    accepted: Prefix
    then: Row | None
    bonus: bool = False


# ---- rows and models -------------------------------------------------------------------------


def row(*values: str | int | Fraction) -> Row:
    return tuple(map(Fraction, values))


def total(values: Iterable[Fraction]) -> Fraction:
    return sum(values, ZERO)


def normalise(weights: Sequence[Fraction]) -> Row:
    mass = total(weights)
    if not mass:
        raise NoAnswerError("nothing to normalise")
    return tuple(weight / mass for weight in weights)


def point(token: int, size: int) -> Row:
    return tuple(Fraction(int(y == token)) for y in range(size))


def over(left: Row, right: Row, scale: Fraction = ONE) -> Row:
    """[scale left - right]_+"""
    return tuple(max(scale * a - b, ZERO) for a, b in zip(left, right, strict=True))


def overlap(left: Row, right: Row) -> Fraction:
    return total(map(min, left, right))


def without(law: Row, tokens: Iterable[int]) -> Row:
    gone = set(tokens)
    return normalise([ZERO if y in gone else value for y, value in enumerate(law)])


def support(law: Row) -> list[int]:
    return [y for y, value in enumerate(law) if value]


def prefixes(size: int, depth: int) -> Iterator[Prefix]:
    for length in range(depth + 1):
        yield from product(range(size), repeat=length)


def constant(law: Row, depth: int) -> dict[Prefix, Row]:
    """The same row after every prefix of at most ``depth`` tokens."""
    return dict.fromkeys(prefixes(len(law), depth), law)


def markov(first: Row, after: Sequence[Row], depth: int) -> dict[Prefix, Row]:
    return {z: after[z[-1]] if z else first for z in prefixes(len(first), depth)}


@dataclass(frozen=True)
class Models:
    """Target and draft by prefix; ``drafts`` holds one model, or one for every rank among
    siblings. ``roles`` puts another model in one place; Q and U may be `ONE_HOT`."""

    target: Model
    drafts: tuple[Model, ...]
    roles: Mapping[str, Model | str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.target[()])

    def _target(self, name: str, z: Prefix) -> Row:
        found = self.roles.get(name, self.target)
        assert not isinstance(found, str)
        return found[z]

    def _draft(self, name: str, z: Prefix, rank: int, x: int) -> Row:
        found = self.roles.get(name) or self.drafts[rank if len(self.drafts) > 1 else 0]
        return point(x, self.size) if isinstance(found, str) else found[z]

    def R(self, z: Prefix) -> Row:  # noqa: N802
        return self._target("reference", z)

    def P(self, z: Prefix) -> Row:  # noqa: N802
        return self._target("accept_target", z)

    def S(self, z: Prefix) -> Row:  # noqa: N802
        return self._target("residual_target", z)

    def B(self, z: Prefix) -> Row:  # noqa: N802
        return self._target("bonus_from", z)

    def D(self, z: Prefix, rank: int = 0) -> Row:  # noqa: N802
        return self._draft("drafted_from", z, rank, -1)

    def Q(self, z: Prefix, x: int, rank: int = 0) -> Row:  # noqa: N802
        """Law of the acceptance test of the token x drafted after z."""
        return self._draft("accept_draft", z, rank, x)

    def U(self, z: Prefix, x: int, rank: int = 0) -> Row:  # noqa: N802
        """Law that the residual subtracts where x was drafted after z."""
        return self._draft("residual_draft", z, rank, x)


def pair(target: Model, *drafts: Model, **roles: Model | str) -> Models:
    return Models(target, drafts, roles)


def ratio(target: Fraction, tested: Fraction) -> Fraction:
    if not tested:
        raise NoAnswerError("drafted outside the tested support")
    return target / tested


# ---- laws of whole outputs -------------------------------------------------------------------


def plain(target: Model, length: int, z: Prefix = ()) -> Law:
    """What decoding without speculation emits in ``length`` tokens after z."""
    if not length:
        return {(): ONE}
    return {
        (y, *tail): share * rest
        for y, share in enumerate(target[z])
        if share
        for tail, rest in plain(target, length - 1, (*z, y)).items()
    }


def output_law(outcomes: Iterable[Outcome], reference: Model, horizon: int) -> Law:
    """Joint law of the first ``horizon`` tokens."""
    law: Law = {}
    for mass, accepted, then, _ in outcomes:
        emitted = [(accepted, ONE)]
        if then is not None:
            emitted = [((*accepted, y), share) for y, share in enumerate(then) if share]
        for tokens, share in emitted:
            tails = plain(reference, max(horizon - len(tokens), 0), tokens)
            for tail, rest in tails.items():
                whole = (*tokens, *tail)[:horizon]
                law[whole] = law.get(whole, ZERO) + mass * share * rest
    return {tokens: mass for tokens, mass in law.items() if mass}


def total_variation(left: Law, right: Law) -> Fraction:
    keys = {*left, *right}
    return total(abs(left.get(key, ZERO) - right.get(key, ZERO)) for key in keys) / 2


def marginal(law: Law, index: int, size: int) -> Row:
    found = [ZERO] * size
    for tokens, mass in law.items():
        found[tokens[index]] += mass
    return tuple(found)


def accepted_lengths(outcomes: Iterable[Outcome], depth: int) -> list[Fraction]:
    """Pr(exactly i draft tokens are accepted), i = 0 .. depth."""
    found = [ZERO] * (depth + 1)
    for outcome in outcomes:
        found[len(outcome.accepted)] += outcome.mass
    return found


@dataclass(frozen=True)
class Step:
    """Everything that is said of a step. ``law`` and ``reference`` over ``horizon`` tokens;
    ``bonus`` holds how often a bonus token is drawn, and how far its law is from the reference at
    the accepted prefix on average (None where none is drawn)."""

    law: Law
    reference: Law
    total_variation: Fraction
    lengths: list[Fraction]
    expected_accepted: Fraction
    expected_tokens: Fraction
    survival: list[Fraction]
    bonus: tuple[Fraction, Fraction] | None


def step(
    outcomes: Iterable[Outcome], reference: Model, depth: int, horizon: int | None = None
) -> Step:
    found = [outcome for outcome in outcomes if outcome.mass]
    assert total(outcome.mass for outcome in found) == 1
    horizon = depth + 1 if horizon is None else horizon
    law, right = output_law(found, reference, horizon), plain(reference, horizon)
    lengths = accepted_lengths(found, depth)
    emitted = [len(outcome.accepted) + (outcome.then is not None) for outcome in found]
    return Step(
        law=law,
        reference=right,
        total_variation=total_variation(law, right),
        lengths=lengths,
        expected_accepted=total(i * mass for i, mass in enumerate(lengths)),
        expected_tokens=total(o.mass * n for o, n in zip(found, emitted, strict=True)),
        survival=[total(lengths[i:]) for i in range(1, depth + 1)],
        bonus=_bonus(found, reference),
    )


def _bonus(outcomes: Iterable[Outcome], reference: Model) -> tuple[Fraction, Fraction] | None:
    drawn: dict[Prefix, dict[int, Fraction]] = {}
    for mass, accepted, then, bonus in outcomes:
        if bonus and then is not None:
            law = drawn.setdefault(accepted, {})
            for y, share in enumerate(then):
                law[y] = law.get(y, ZERO) + mass * share
    probability = total(total(law.values()) for law in drawn.values())
    if not probability:
        return None
    distance = ZERO
    for z, law in drawn.items():
        mass = total(law.values())
        distance += total(abs(law[y] - mass * share) for y, share in enumerate(reference[z])) / 2
    return probability, distance / probability


# ---- chains ----------------------------------------------------------------------------------


def drafts(models: Models, length: int, z: Prefix = ()) -> Iterator[tuple[Prefix, Fraction]]:
    """Every chain of ``length`` draft tokens and its probability."""
    if len(z) == length:
        yield z, ONE
        return
    for x, share in enumerate(models.D(z)):
        if share:
            for tail, rest in drafts(models, length, (*z, x)):
                yield tail, share * rest


Verifier = Callable[[Models, Prefix], Iterator[Outcome]]


def over_drafts(models: Models, length: int, verifier: Verifier) -> list[Outcome]:
    """The outcomes of a step: the verifier on every chain that can be drafted."""
    return [
        Outcome(share * mass, accepted, then, bonus)
        for tokens, share in drafts(models, length)
        for mass, accepted, then, bonus in verifier(models, tokens)
    ]


def verify_tokens(models: Models, tokens: Prefix, verified: int | None = None) -> Iterator[Outcome]:
    """Tests the first ``verified`` tokens (all of them by default) in order; at the first rejection
    the residual at that prefix, otherwise a target token after the last verified one."""
    verified = len(tokens) if verified is None else verified
    reached = ONE
    for i in range(verified):
        z, x = tokens[:i], tokens[i]
        a = min(ONE, ratio(models.P(z)[x], models.Q(z, x)[x]))
        if reached and a < 1:
            yield Outcome(reached * (1 - a), z, normalise(over(models.S(z), models.U(z, x))))
        reached *= a
    if reached:
        whole = verified == len(tokens)
        yield Outcome(reached, tokens[:verified], models.B(tokens[:verified]), whole)


def token_chain(models: Models, length: int) -> list[Outcome]:
    return over_drafts(models, length, verify_tokens)


def block_ratios(models: Models, tokens: Prefix) -> list[Fraction]:
    """r_0 .. r_g: r_i = min(1, r_{i-1} P(x_i) / Q(x_i))."""
    found = [ONE]
    for i, x in enumerate(tokens):
        z = tokens[:i]
        found.append(min(ONE, found[-1] * ratio(models.P(z)[x], models.Q(z, x)[x])))
    return found


def block_thresholds(models: Models, tokens: Prefix) -> list[Fraction]:
    """h_1 .. h_g: Z_i / (Z_i + 1 - r_i) with Z_i = sum [r_i S - U]_+ at x_1..x_i; h_g = r_g."""
    r, length = block_ratios(models, tokens), len(tokens)
    found = []
    for i in range(1, length):
        z = tokens[:i]
        left = total(over(models.S(z), models.U(z, tokens[i]), r[i]))
        found.append(left / (left + 1 - r[i]) if left + 1 - r[i] else ONE)
    return [*found, *r[length:]] if length else []


def heads(h: Sequence[Fraction], coins: str) -> list[Fraction]:
    """Pr(tau = 0), .., Pr(tau = g) for thresholds h_1 .. h_g.

    independent: tau is the last head; contiguous: the heads before the first tail; shared: the
    last i with u < h_i; product: the last i with u_1 .. u_i < h_i (two positions at most: the
    integrals have logarithms).
    """
    g = len(h)
    if coins == "independent":
        return [
            (h[i - 1] if i else ONE) * _product(1 - h[j] for j in range(i, g)) for i in range(g + 1)
        ]
    if coins == "contiguous":
        return [_product(h[:i]) * (1 - h[i] if i < g else ONE) for i in range(g + 1)]
    if coins == "shared":
        above = [max((*h[i:], ZERO)) for i in range(g)]
        return [ONE - max((*h, ZERO)), *_differences(above)]
    assert coins == "product"
    return _product_of_uniforms(h)


def _product(values: Iterable[Fraction]) -> Fraction:
    found = ONE
    for value in values:
        found *= value
    return found


def _differences(above: Sequence[Fraction]) -> list[Fraction]:
    """above[i] = Pr(tau > i)."""
    return [a - b for a, b in zip(above, [*above[1:], ZERO], strict=True)]


def _product_of_uniforms(h: Sequence[Fraction]) -> list[Fraction]:
    """u_1 u_2 < b has probability b - b log b; u_1 < a and u_1 u_2 >= b: the integral of 1 - b/u
    from b to a."""
    if len(h) < 2:
        return [1 - h[0], h[0]] if h else [ONE]
    assert len(h) == 2
    a, b = h
    both = b - b * log(b) if b else ZERO
    first = a - b - (b * log(a / b) if b else ZERO) if a > b else ZERO
    return [1 - both - first, first, both]


def log(value: Fraction) -> Fraction:
    """The natural logarithm to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).ln())


def block(
    models: Models,
    length: int,
    *,
    coins: str = "independent",
    thresholds: str = "block",
    residual: str = "block",
) -> list[Outcome]:
    """Block verification and its known mistakes: coins as in `heads`; thresholds ``ratio``: h_i =
    r_i; residual ``token``: [S - U]_+ in place of [r S - U]_+."""

    def verify(models: Models, tokens: Prefix) -> Iterator[Outcome]:
        r = block_ratios(models, tokens)
        h = block_thresholds(models, tokens) if thresholds == "block" else r[1:]
        for tau, mass in enumerate(heads(h, coins)):
            z = tokens[:tau]
            if mass and tau == length:
                yield Outcome(mass, z, models.B(z), True)
            elif mass:
                scale = r[tau] if residual == "block" else ONE
                left = over(models.S(z), models.U(z, tokens[tau]), scale)
                yield Outcome(mass, z, normalise(left))

    return over_drafts(models, length, verify)


def token_survival(models: Models, length: int) -> list[Fraction]:
    """Pr(tau >= i) = sum over z of length i of prod min(P, Q)."""
    size = models.size
    return [
        total(
            _product(min(models.P(z[:j])[z[j]], models.D(z[:j])[z[j]]) for j in range(i))
            for z in product(range(size), repeat=i)
        )
        for i in range(1, length + 1)
    ]


def path_probability(model: Model, z: Prefix) -> Fraction:
    return _product(model[z[:i]][x] for i, x in enumerate(z))


def joint_overlap(models: Models, length: int) -> Fraction:
    """E[common prefix] of the best coupling of whole blocks: sum over z of min(P(z), D(z))."""
    draft = models.drafts[0]
    return total(
        min(path_probability(models.target, z), path_probability(draft, z))
        for i in range(1, length + 1)
        for z in product(range(models.size), repeat=i)
    )


PositionRule = Callable[[Roles], Channel]
"""A rule of one position, as `tests.oracle_rules` has them."""


def position_wise(models: Models, length: int, rule: PositionRule) -> list[Outcome]:
    """Any rule of one position, position after position until a rejection: for every chain, and
    every position of it, the rule's chance of acceptance and its recovery law there."""

    def verify(models: Models, tokens: Prefix) -> Iterator[Outcome]:
        reached = ONE
        for i, x in enumerate(tokens):
            a, recovered = rule(_roles(models, tokens[:i]))[x]
            if a < 1:
                yield Outcome(reached * (1 - a), tokens[:i], tuple(recovered))
            reached *= a
        yield Outcome(reached, tokens, models.B(tokens), True)

    return over_drafts(models, length, verify)


def _roles(models: Models, z: Prefix) -> Roles:
    tested, subtracted = (
        None if isinstance(models.roles.get(name), str) else law
        for name, law in (
            ("accept_draft", models.Q(z, 0)),
            ("residual_draft", models.U(z, 0)),
        )
    )
    return Roles(models.P(z), models.S(z), models.D(z), tested, subtracted)


def fixed_drafts(models: Models, tokens: Prefix) -> list[Outcome]:
    """The chain ``tokens`` is always drafted (a beam, an n-gram), whatever Q says."""
    return list(verify_tokens(models, tokens))


# ---- window (FLy): greedy matching with deferred verdicts -------------------------------------


def window_length(
    match: Sequence[bool], open_gate: Sequence[bool], window: int, incomplete: bool = True
) -> int:
    """A mismatch at i is kept iff the gate is open at i and none of the next ``window`` positions
    is a mismatch; ``incomplete`` is the verdict where fewer positions follow."""
    for i, agrees in enumerate(match):
        if agrees:
            continue
        following = match[i + 1 : i + 1 + window]
        kept = open_gate[i] and all(following) and (len(following) == window or incomplete)
        if not kept:
            return i
    return len(match)


def argmax(law: Row) -> int:
    return law.index(max(law))


def window(
    models: Models,
    length: int,
    *,
    size: int,
    gate: Callable[[Row], bool] = lambda law: True,
    incomplete: bool = True,
) -> list[Outcome]:
    """Drafts match where they are the argmax of P; after the kept tokens the argmax of S, and a
    token drawn from B behind the last one."""

    def verify(models: Models, tokens: Prefix) -> Iterator[Outcome]:
        laws = [models.P(tokens[:i]) for i in range(length)]
        match = [argmax(law) == x for law, x in zip(laws, tokens, strict=True)]
        kept = window_length(match, [gate(law) for law in laws], size, incomplete)
        z = tokens[:kept]
        if kept == length:
            yield Outcome(ONE, z, models.B(z), True)
        else:
            yield Outcome(ONE, z, point(argmax(models.S(z)), models.size))

    return over_drafts(models, length, verify)


# ---- how many draft tokens are verified ------------------------------------------------------

Lengths = Callable[[Prefix], Mapping[int, Fraction]]
"""Law of the number of verified tokens, given the whole draft."""


def verified(models: Models, length: int, lengths: Lengths) -> list[Outcome]:
    """The token chain with a length rule; a target token follows the last verified token."""

    def verify(models: Models, tokens: Prefix) -> Iterator[Outcome]:
        for n, share in lengths(tokens).items():
            for mass, accepted, then, bonus in verify_tokens(models, tokens, n):
                yield Outcome(share * mass, accepted, then, bonus)

    return over_drafts(models, length, verify)


def admission(models: Models, length: int, lengths: Lengths) -> dict[Prefix, Fraction]:
    """Pr(length >= k | x_1 .. x_k) for every drafted prefix of k tokens, k = 1 .. length."""
    drawn: dict[Prefix, Fraction] = {}
    admitted: dict[Prefix, Fraction] = {}
    for tokens, share in drafts(models, length):
        law = lengths(tokens)
        for k in range(1, length + 1):
            z = tokens[:k]
            drawn[z] = drawn.get(z, ZERO) + share
            reached = total(mass for n, mass in law.items() if n >= k)
            admitted[z] = admitted.get(z, ZERO) + share * reached
    return {z: admitted[z] / drawn[z] for z in drawn}


def anticipating(profile: Mapping[Prefix, Fraction]) -> bool:
    """Some admission depends on the last token of its prefix."""
    by_parent: dict[Prefix, set[Fraction]] = {}
    for z, probability in profile.items():
        by_parent.setdefault(z[:-1], set()).add(probability)
    return any(len(values) > 1 for values in by_parent.values())


def corrected(models: Models, length: int, profile: Mapping[Prefix, Fraction]) -> list[Outcome]:
    """The rule made lossless: with k(y|z) = admission(zy) / admission(z) and q' = D k, the token y
    is kept with mass min(P, q')(y), and in all other cases one comes from norm [S - q']_+."""

    def below(z: Prefix, reached: Fraction) -> Iterator[Outcome]:
        if len(z) == length:
            yield Outcome(reached, z, models.B(z), True)
            return
        before, tested = profile[z] if z else ONE, []
        for y, share in enumerate(models.D(z)):
            k = profile[*z, y] / before if share and before else ZERO
            tested.append(share * k)
        kept = [min(p, q) for p, q in zip(models.P(z), tested, strict=True)]
        for y, mass in enumerate(kept):
            if mass:
                yield from below((*z, y), reached * mass)
        missed = 1 - total(kept)
        if missed:
            yield Outcome(reached * missed, z, normalise(over(models.S(z), tuple(tested))))

    return list(below((), ONE))


def surely(length: int) -> Mapping[int, Fraction]:
    return {length: ONE}


def threshold(models: Models, edge: Fraction, when: str) -> Lengths:
    """Confidence thresholds on the draft: ``keep`` stops after the first token of probability below
    ``edge``, ``drop`` before it, ``top`` stops before the draw where no token reaches ``edge``."""

    def lengths(tokens: Prefix) -> Mapping[int, Fraction]:
        for i, x in enumerate(tokens):
            law = models.D(tokens[:i])
            if (max(law) if when == "top" else law[x]) < edge:
                return surely(i + 1 if when == "keep" else i)
        return surely(len(tokens))

    return lengths


# ---- batches ---------------------------------------------------------------------------------

Split = Callable[[tuple[Prefix, ...]], Mapping[tuple[int, ...], Fraction]]
"""Law of the numbers of verified tokens of all requests, given all their drafts."""


def batch_law(
    requests: Sequence[Models], length: int, split: Split, horizon: int
) -> tuple[Law, list[Fraction]]:
    """Joint law of the first ``horizon`` tokens of every request, one after the other, and the
    expected accepted tokens of each."""
    law: Law = {}
    accepted = [ZERO] * len(requests)
    for proposals in product(*(list(drafts(models, length)) for models in requests)):
        share = _product(mass for _, mass in proposals)
        for ns, chance in split(tuple(tokens for tokens, _ in proposals)).items():
            parts = []
            for r, (models, (tokens, _), n) in enumerate(zip(requests, proposals, ns, strict=True)):
                outcomes = list(verify_tokens(models, tokens, n))
                accepted[r] += share * chance * total(o.mass * len(o.accepted) for o in outcomes)
                parts.append(output_law(outcomes, models.target, horizon))
            for whole, mass in independent(parts).items():
                law[whole] = law.get(whole, ZERO) + share * chance * mass
    return {tokens: mass for tokens, mass in law.items() if mass}, accepted


def independent(parts: Sequence[Law]) -> Law:
    """Independent outputs, joined."""
    found: Law = {(): ONE}
    for part in parts:
        found = {
            (*left, *right): mass * more
            for left, mass in found.items()
            for right, more in part.items()
        }
    return found


Scores = Callable[[int, Prefix], Sequence[Fraction]]
"""Scores of the slots of request r, position by position, given its draft."""


def top_slots(
    scores: Sequence[Sequence[Fraction]], budget: int, order: str = "position"
) -> tuple[int, ...]:
    """How many slots of every request are among the ``budget`` best. Ties: ``position`` first then
    request, or ``reverse``: the later position first, then request."""
    sign = -1 if order == "reverse" else 1
    slots = [(r, j) for r, row in enumerate(scores) for j in range(len(row))]
    best = sorted(slots, key=lambda s: (-scores[s[0]][s[1]], sign * s[1], s[0]))[:budget]
    return tuple(sum(1 for r, _ in best if r == q) for q in range(len(scores)))


def best_budget(scores: Sequence[Sequence[Fraction]], speed: Mapping[int, Fraction]) -> int:
    """The smallest budget of the largest throughput (requests + sum of the best) * speed(B)."""
    requests = len(scores)
    ordered = sorted((value for row in scores for value in row), reverse=True)
    theta = [
        (requests + total(ordered[:budget])) * speed[requests + budget]
        for budget in range(len(ordered) + 1)
    ]
    return theta.index(max(theta))


def early_stop(scores: Sequence[Sequence[Fraction]], speed: Mapping[int, Fraction]) -> int:
    """Slots are admitted by falling score as long as the throughput rises."""
    requests = len(scores)
    ordered = sorted((value for row in scores for value in row), reverse=True)
    admitted, current = 0, requests * speed[requests]
    for value in ordered:
        theta = (requests + total(ordered[:admitted]) + value) * speed[requests + admitted + 1]
        if theta <= current:
            break
        admitted, current = admitted + 1, theta
    return admitted
