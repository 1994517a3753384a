"""The figures of a step over conditional models: lengths, marginals, the bonus, whole outputs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from heapq import nsmallest

from specdist.exact.rational_vector import exact_total, rounded_up
from specdist.model.capture import Vocab
from specdist.model.conditional import Prefix
from specdist.model.figure import Figure
from specdist.model.joint_report import JointBonus, Marginal, MarginalToken, SequenceLine
from specdist.model.role import Role
from specdist.rules.joint.outcomes import PrefixLaws
from specdist.verify.joint.gathering import Gathered
from specdist.verify.joint.output import Block, JointLaw

_ZERO, _ONE = Fraction(0), Fraction(1)
_ALL_TOKENS = 64


def survival(lengths: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """``Pr(at least i draft tokens are accepted)`` for i = 1 .. depth."""
    return tuple(sum(lengths[i:], _ZERO) for i in range(1, len(lengths)))


def expected_tokens(gathered: Gathered) -> Fraction:
    """Tokens that a step emits on average, the recovered or bonus token included."""
    sure = sum((mass * len(tokens) for tokens, mass in gathered.emitted.items()), _ZERO)
    unnamed = sum((mass * (len(kept) + 1) for kept, mass in gathered.unnamed.items()), _ZERO)
    return sure + unnamed


def bonus_figures(gathered: Gathered, laws: PrefixLaws, bound: Fraction) -> JointBonus | None:
    """``sum over accepted z of Pr(z, bonus) TV(bonus law after z, reference after z)``, divided by
    the probability of a bonus token. None where no bonus token is drawn."""
    total = variation = _ZERO
    for kept, masses in gathered.bonus.items():
        mass = exact_total(masses)
        reference = laws.law(Role.REFERENCE, kept)
        total += mass
        variation += exact_total(
            [max(m - mass * p, _ZERO) for m, p in zip(masses, reference, strict=True)]
        )
    if not total:
        return None
    return JointBonus(figure(total, bound), figure(variation / total, _of_share(total, bound)))


def _of_share(total: Fraction, bound: Fraction) -> Fraction:
    """How far a share of ``total`` may be off where part and total are both off by ``bound``."""
    return min(2 * bound / (total - bound), _ONE) if total > bound else _ONE


def marginals(
    law: JointLaw,
    singles: Sequence[Block] | None,
    laws: PrefixLaws,
    vocab: Vocab | None,
    show: int,
    bound: Fraction,
) -> tuple[Marginal, ...]:
    """The law of the token at every place of the output. Where whole outputs are too many to list
    (``singles`` is None), at the places that every block names."""
    if singles is None:
        singles = law.blocks
    places = min(len(block.prefix) for block in singles)
    return tuple(
        _marginal(place, singles, laws.size, vocab, show, bound) for place in range(places)
    )


def _marginal(
    index: int, blocks: Sequence[Block], size: int, vocab: Vocab | None, show: int, bound: Fraction
) -> Marginal:
    by_token: list[list[Block]] = [[] for _ in range(size)]
    for block in blocks:
        by_token[block.prefix[index]].append(block)
    output = [exact_total([block.output for block in found]) for found in by_token]
    reference = [exact_total([block.reference for block in found]) for found in by_token]
    gaps = [o - r for o, r in zip(output, reference, strict=True)]
    order = sorted(range(size), key=lambda t: (-abs(gaps[t]), -reference[t], t))
    shown = sorted(order if size <= _ALL_TOKENS else order[:show])
    return Marginal(
        index,
        figure(exact_total([max(gap, _ZERO) for gap in gaps]), bound),
        tuple(
            MarginalToken(
                t,
                None if vocab is None else vocab.text(t),
                figure(reference[t], bound),
                figure(output[t], bound),
                figure(gaps[t], 2 * bound),
            )
            for t in shown
        ),
    )


def sequence_lines(
    blocks: Sequence[Block], vocab: Vocab | None, show: int, bound: Fraction
) -> tuple[SequenceLine, ...]:
    """The outputs with the largest differences, then those of the largest mass."""
    count = len(blocks) if len(blocks) <= _ALL_TOKENS else show
    return tuple(_line(block, vocab, bound) for block in nsmallest(count, blocks, _importance))


def _importance(block: Block) -> tuple[Fraction, Fraction, Prefix]:
    return -abs(block.output - block.reference), -block.reference, block.prefix


def _line(block: Block, vocab: Vocab | None, bound: Fraction) -> SequenceLine:
    return SequenceLine(
        block.prefix,
        tuple(None if vocab is None else vocab.text(token) for token in block.prefix),
        figure(block.reference, bound),
        figure(block.output, bound),
        figure(block.output - block.reference, 2 * bound),
    )


def figure(value: Fraction, bound: Fraction = _ZERO) -> Figure:
    """A figure, with its rounding bound where rows were rounded."""
    return Figure.of(value, rounded_up(bound) if bound else None)
