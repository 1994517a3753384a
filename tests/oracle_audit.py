"""Laws of speculative sampling, right and wrong, by enumeration with Fraction from the papers.

Independent on purpose: nothing here imports specdist. Models are functions from a prefix to a row.
Sources: Leviathan et al. 2211.17192, algorithm 1 and appendix A.1; Sun et al. 2403.10444,
algorithm 2.

A law is a dictionary from token tuples to masses. `Rule` is one step given its draft tokens; steps
are composed by `walked`. Rules that use a random number twice are enumerated by `on_intervals`:
every draw is an interval of a uniform number on [0, 1), and the mass of a path is the product, over
the numbers, of the length of the intersection of its intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

Tokens = tuple[int, ...]
Row = Sequence[Fraction]
Model = Callable[[Tokens], Row]
Law = dict[Tokens, Fraction]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Pair:
    """Target and draft over so many tokens."""

    target: Model
    draft: Model
    vocab: int
    gamma: int


Rule = Callable[[Pair, Tokens, Tokens], Iterator[tuple[Tokens, Fraction]]]
"""(models, context, draft tokens) -> outputs of the step, with their conditional masses."""


def normalise(weights: Row) -> list[Fraction]:
    total = sum(weights, ZERO)
    return [weight / total for weight in weights]


def over(left: Row, right: Row) -> list[Fraction]:
    return [max(a - b, ZERO) for a, b in zip(left, right, strict=True)]


def top(row: Row) -> list[Fraction]:
    best = max(range(len(row)), key=lambda y: (row[y], -y))
    return [Fraction(int(y == best)) for y in range(len(row))]


def total_variation(left: Law, right: Law) -> Fraction:
    return sum((abs(left.get(z, ZERO) - right.get(z, ZERO)) for z in {*left, *right}), ZERO) / 2


def plain(target: Model, vocab: int, length: int) -> Law:
    """The target's own law of so many tokens."""
    return extended({(): ONE}, target, vocab, length)


def extended(law: Law, target: Model, vocab: int, length: int) -> Law:
    """Outputs that are shorter go on as the target does."""
    found: Law = {}
    for tokens, mass in law.items():
        for rest in product(range(vocab), repeat=length - len(tokens)):
            share, z = mass, tokens
            for y in rest:
                share *= target(z)[y]
                z = (*z, y)
            found[z] = found.get(z, ZERO) + share
    return found


def distance(law: Law, pair: Pair) -> Fraction:
    """Total variation of an output law from the target's, over its longest output."""
    length = max(map(len, law))
    right = plain(pair.target, pair.vocab, length)
    return total_variation(extended(law, pair.target, pair.vocab, length), right)


def walked(pair: Pair, rule: Rule, steps: int, drafted: Model | None = None) -> Law:
    """Steps in a row that share nothing. ``drafted`` is what tokens are drawn from, if it is not
    the draft row."""
    emitted: Law = {(): ONE}
    for _ in range(steps):
        further: Law = {}
        for context, before in emitted.items():
            for z, drawn in drafts(pair, drafted or pair.draft, context):
                for tokens, share in rule(pair, context, z):
                    end = (*context, *tokens)
                    further[end] = further.get(end, ZERO) + before * drawn * share
        emitted = {tokens: mass for tokens, mass in further.items() if mass}
    return emitted


def drafts(pair: Pair, drafted: Model, context: Tokens) -> Iterator[tuple[Tokens, Fraction]]:
    for z in product(range(pair.vocab), repeat=pair.gamma):
        mass = ONE
        for i, x in enumerate(z):
            mass *= drafted((*context, *z[:i]))[x]
        if mass:
            yield z, mass


# ---- the token rule and what can be wrong with it --------------------------------------------

Part = Callable[[Pair, Tokens, Tokens, int], Fraction]
Weights = Callable[[Pair, Tokens, Tokens, int], Row]


def p(pair: Pair, c: Tokens, z: Tokens, i: int) -> Row:
    """The target row after i draft tokens."""
    return pair.target((*c, *z[:i]))


def q(pair: Pair, c: Tokens, z: Tokens, i: int) -> Row:
    """The draft row after i draft tokens."""
    return pair.draft((*c, *z[:i]))


def ratio(pair: Pair, c: Tokens, z: Tokens, i: int) -> Fraction:
    above, below = p(pair, c, z, i)[z[i]], q(pair, c, z, i)[z[i]]
    return min(ONE, above / below) if below else Fraction(int(above > 0))


def residual(pair: Pair, c: Tokens, z: Tokens, i: int) -> Row:
    return over(p(pair, c, z, i), q(pair, c, z, i))


def token_rule(accept: Part = ratio, recover: Weights = residual, bonus: Weights = p) -> Rule:
    def rule(pair: Pair, c: Tokens, z: Tokens) -> Iterator[tuple[Tokens, Fraction]]:
        reach = ONE
        for i in range(len(z)):
            share = accept(pair, c, z, i)
            if reach * (1 - share):
                for y, mass in enumerate(normalise(recover(pair, c, z, i))):
                    yield (*z[:i], y), reach * (1 - share) * mass
            reach *= share
        if reach:
            for y, mass in enumerate(normalise(bonus(pair, c, z, len(z)))):
                yield (*z, y), reach * mass

    return rule


# ---- block verification ----------------------------------------------------------------------


def block_rule(
    capped: bool = True, weighed: bool = True, scaled: bool = True, coins: str = "last heads"
) -> Rule:
    """``coins``: the last heads counts, or everything before the first tails, or one number is
    compared with every bias and the last success counts."""

    def rule(pair: Pair, c: Tokens, z: Tokens) -> Iterator[tuple[Tokens, Fraction]]:
        r = [ONE]
        for i, x in enumerate(z):
            step = r[-1] * p(pair, c, z, i)[x] / q(pair, c, z, i)[x]
            r.append(min(ONE, step) if capped else step)
        h = [ONE]
        for i in range(1, len(z)):
            mass = sum(_scaled(pair, c, z, i, r[i]), ZERO)
            below = mass + 1 - r[i]
            h.append(min(ONE, (mass / below if below else ONE) if weighed else r[i]))
        h.append(min(ONE, r[-1]))
        for kept, share in enumerate(_kept(h, coins)):
            if kept == len(z):
                weights: Row = p(pair, c, z, kept)
            else:
                weights = _scaled(pair, c, z, kept, r[kept] if scaled else ONE)
            if share:
                for y, mass in enumerate(normalise(weights)):
                    yield (*z[:kept], y), share * mass

    return rule


def _scaled(pair: Pair, c: Tokens, z: Tokens, i: int, factor: Fraction) -> Row:
    return over([factor * mass for mass in p(pair, c, z, i)], q(pair, c, z, i))


def _kept(h: Sequence[Fraction], coins: str) -> list[Fraction]:
    """The law of how many draft tokens stay."""
    size = len(h) - 1
    law = [ZERO] * (size + 1)
    if coins == "one number":
        highest = ZERO
        for i in range(size, -1, -1):
            law[i] = max(h[i] - highest, ZERO)
            highest = max(highest, h[i])
        return law
    for heads in product((False, True), repeat=size):
        mass = ONE
        for i, up in enumerate(heads, 1):
            mass *= h[i] if up else 1 - h[i]
        if coins == "last heads":
            kept = max((i for i, up in enumerate(heads, 1) if up), default=0)
        else:
            kept = next((i for i, up in enumerate(heads) if not up), size)
        law[kept] += mass
    return law


# ---- numbers that are used twice --------------------------------------------------------------

Name = Callable[[str, int, int], Hashable]
"""("draft", "test", "recovered" or "bonus"; step; position) -> which number is used."""
Interval = tuple[Hashable, Fraction, Fraction]


def on_intervals(pair: Pair, steps: int, name: Name) -> Law:
    """The token rule, every draw looked up with the number that ``name`` gives it."""
    found: Law = {}
    for tokens, intervals in _paths(pair, steps, name, 0, ()):
        mass = _volume(intervals)
        if mass:
            found[tokens] = found.get(tokens, ZERO) + mass
    return found


def _paths(
    pair: Pair, steps: int, name: Name, number: int, c: Tokens
) -> Iterator[tuple[Tokens, list[Interval]]]:
    if number == steps:
        yield c, []
        return
    for z in product(range(pair.vocab), repeat=pair.gamma):
        drawn = [_looked_up(name("draft", number, i), q(pair, c, z, i), x) for i, x in enumerate(z)]
        for kept in range(pair.gamma + 1):
            tests = [
                (name("test", number, i), ZERO, ratio(pair, c, z, i))
                if i < kept
                else (name("test", number, i), ratio(pair, c, z, i), ONE)
                for i in range(min(kept + 1, pair.gamma))
            ]
            if not _volume([*drawn, *tests]):
                continue
            kind = "recovered" if kept < pair.gamma else "bonus"
            weights = residual(pair, c, z, kept) if kept < pair.gamma else p(pair, c, z, kept)
            law = normalise(weights)
            for y in range(pair.vocab):
                last = _looked_up(name(kind, number, kept), law, y)
                for end, more in _paths(pair, steps, name, number + 1, (*c, *z[:kept], y)):
                    yield end, [*drawn, *tests, last, *more]


def _looked_up(name: Hashable, law: Row, token: int) -> Interval:
    begin = sum(law[:token], ZERO)
    return name, begin, begin + law[token]


def _volume(intervals: Sequence[Interval]) -> Fraction:
    volume = ONE
    for name in {interval[0] for interval in intervals}:
        ends = [(low, high) for other, low, high in intervals if other == name]
        volume *= max(min(high for _, high in ends) - max(low for low, _ in ends), ZERO)
    return volume


# ---- caches -----------------------------------------------------------------------------------

Kept = Callable[[Tokens, int, Tokens], Tokens]
"""(draft tokens, how many were accepted, the token after them) -> what a step leaves cached."""


def cached(pair: Pair, steps: int, kept: Kept, both: bool) -> Law:
    """The token rule whose target rows, or all rows, follow a cache instead of what was emitted."""
    states: dict[tuple[Tokens, Tokens], Fraction] = {((), ()): ONE}
    for _ in range(steps):
        further: dict[tuple[Tokens, Tokens], Fraction] = {}
        for (context, cache), before in states.items():
            seen = _seen(pair, context, cache, both)
            for z, drawn in drafts(seen, seen.draft, ()):
                for tokens, share in token_rule()(seen, (), z):
                    left = kept(z, len(tokens) - 1, tokens[-1:])
                    key = ((*context, *tokens), (*cache, *left))
                    further[key] = further.get(key, ZERO) + before * drawn * share
        states = {key: mass for key, mass in further.items() if mass}
    law: Law = {}
    for (context, _), mass in states.items():
        law[context] = law.get(context, ZERO) + mass
    return law


def _seen(pair: Pair, context: Tokens, cache: Tokens, both: bool) -> Pair:
    draft_context = cache if both else context
    return Pair(
        lambda z: pair.target((*cache, *z)),
        lambda z: pair.draft((*draft_context, *z)),
        pair.vocab,
        pair.gamma,
    )


# ---- lengths ----------------------------------------------------------------------------------


def dropping(least: Fraction) -> Rule:
    """A draft token of lower draft probability is dropped; the target draws its position."""

    def rule(pair: Pair, c: Tokens, z: Tokens) -> Iterator[tuple[Tokens, Fraction]]:
        dropped = (i for i in range(len(z)) if q(pair, c, z, i)[z[i]] < least)
        end = next(dropped, None)
        if end is None:
            yield from token_rule()(pair, c, z)
        else:
            yield from token_rule()(pair, c, z[:end])

    return rule


def cutting(most: int) -> Rule:
    """Accepted tokens beyond ``most`` are cut, and the target draws at the cut."""

    def rule(pair: Pair, c: Tokens, z: Tokens) -> Iterator[tuple[Tokens, Fraction]]:
        reach = ONE
        for i in range(most):
            share = ratio(pair, c, z, i)
            for y, mass in enumerate(_normal(residual(pair, c, z, i))):
                yield (*z[:i], y), reach * (1 - share) * mass
            reach *= share
        share = ratio(pair, c, z, most)
        for y, mass in enumerate(_normal(residual(pair, c, z, most))):
            yield (*z[:most], y), reach * (1 - share) * mass
        for y, mass in enumerate(p(pair, c, z, most)):
            yield (*z[:most], y), reach * share * mass

    return rule


def continuing(pair: Pair, c: Tokens, z: Tokens) -> Iterator[tuple[Tokens, Fraction]]:
    """Every position is tested, rejected ones are replaced, and the bonus follows."""
    columns = []
    for i, x in enumerate(z):
        share, law = ratio(pair, c, z, i), _normal(residual(pair, c, z, i))
        columns.append([(1 - share) * law[y] + share * (y == x) for y in range(pair.vocab)])
    columns.append(list(p(pair, c, z, len(z))))
    for tokens in product(range(pair.vocab), repeat=len(columns)):
        mass = ONE
        for column, y in zip(columns, tokens, strict=True):
            mass *= column[y]
        yield tokens, mass


def counting(pair: Pair, c: Tokens, z: Tokens) -> Iterator[tuple[Tokens, Fraction]]:
    """As many tokens stay as tests pass, wherever the failures are."""
    for passed in product((False, True), repeat=len(z)):
        mass = ONE
        for i, ok in enumerate(passed):
            share = ratio(pair, c, z, i)
            mass *= share if ok else 1 - share
        kept = sum(passed)
        weights = p(pair, c, z, kept) if kept == len(z) else residual(pair, c, z, kept)
        if mass:
            for y, share in enumerate(normalise(weights)):
                yield (*z[:kept], y), mass * share


def _normal(weights: Row) -> list[Fraction]:
    """Normalised; zeros where nothing is left, which is then never drawn."""
    return normalise(weights) if sum(weights) else list(weights)
