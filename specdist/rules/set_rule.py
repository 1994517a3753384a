"""What the rules share that accept a set of tokens: the outcomes, and how a set is cut.

Law. For a set T of tokens that depends on the rows only: ``a(x) = [x in T]``, after a rejection r,

    accepted(x) = D(x) [x in T],    recovered(y) = (1 - D(T)) r(y)

with r the law ``S`` (recovery=target), its lowest argmax (argmax), or S within T (set). The law of
r is part of the rule: with another one the output law is another. No uniform takes part.

A set is a `Share`: it keeps v(x) for x in T. A token whose membership hangs on the rounding of the
target adds its mass to the error of what is kept; entries equal to the largest are certain to be.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws, Share
from specdist.rules.recovery import recover

_ZERO, _ONE = Fraction(0), Fraction(1)


def set_outcomes(laws: RoleLaws, use: RecipeStep, chosen: Share) -> Outcomes:
    """Outcomes of a rule that accepts the tokens of a set (module docstring)."""
    accepted = laws.reaching(chosen(laws[Role.DRAFTED_FROM]))
    return recover(laws, accepted, use.word("recovery"), chosen)


def largest_value(target: ExactVector) -> Fraction:
    """``max v(x)``."""
    return target.value(target.largest(1)[0])


def at_least(target: ExactVector, edge: Fraction, largest: Fraction | None = None) -> Share:
    """The tokens with ``target(x) >= edge``.

    ``largest`` is ``max target``, where the edge is measured from there: entries equal to it are
    then certain to reach the edge.
    """
    if edge <= 0:
        return lambda vector: vector
    condition = target - target.constant(edge)
    sure = None
    if largest is not None and largest - edge <= target.error and target.error:
        below_top = (target - target.constant(largest)).widened(_ZERO)
        sure = target.constant(_ONE).where(below_top, also_zero=True)
    return lambda vector: vector.where(condition, also_zero=True, sure=sure)


def top(target: ExactVector, count: int) -> Share:
    """The ``count`` tokens of largest probability, ties by rising id."""
    ranked = target.largest(count + 1)
    if len(ranked) <= count:
        return lambda vector: vector
    kept, last, following = ranked[:count], ranked[count - 1], ranked[count]
    edge = target.value(last)
    if not 0 < edge - target.value(following) <= target.error:
        return lambda vector: vector.among(kept)
    margin = target.constant(target.error)
    level = target.constant(edge)

    def share(vector: ExactVector) -> ExactVector:
        near = vector.where((target - level).widened(_ZERO) + margin, also_zero=True)
        near = near.where((level - target).widened(_ZERO) + margin, also_zero=True)
        return vector.among(kept).doubted(near.total())

    return share


def among_the_top(target: ExactVector, count: int, edge: Fraction, largest: Fraction) -> Share:
    """The ``count`` tokens of largest probability that have at least ``edge`` (`at_least`)."""
    ranked, likely = top(target, count), at_least(target, edge, largest)
    return lambda vector: likely(ranked(vector))
