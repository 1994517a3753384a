"""Where block verification stops, given the thresholds of one path: its coins, and mistaken ones.

Law. Position i of g has the threshold h_i, and tau is the accepted length. With

    independent  one coin a position, heads with probability h_i; tau is the last heads (0 if none):
                 Pr(tau = i) = h_i (1 - h_(i+1)) .. (1 - h_g)
    contiguous   the same coins, tau is the number of heads before the first tails:
                 Pr(tau = i) = h_1 .. h_i (1 - h_(i+1))
    shared       one uniform u for all positions, tau the last i with u < h_i:
                 Pr(tau = i) = max(h_i - max(h_(i+1), .., h_g), 0)
    product      a uniform a position, tau the last i with u_1 .. u_i <= h_i (`product_coins`)

Independent coins are those of 2403.10444; contiguous was asked for in reviews of ports; product is
what vllm-ascend does under `enable_block_verify`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from specdist.exact.bounded import surplus
from specdist.rules.joint.product_coins import stops_under_products
from specdist.rules.joint.stops import Stops

_ZERO, _ONE = Fraction(0), Fraction(1)


def independent(thresholds: Sequence[Fraction]) -> Stops:
    """The last heads of independent coins."""
    chances, none_behind = [], _ONE
    for threshold in reversed(thresholds):
        chances.append(none_behind * threshold)
        none_behind *= 1 - threshold
    return Stops((none_behind, *reversed(chances)))


def contiguous(thresholds: Sequence[Fraction]) -> Stops:
    """The heads of independent coins before the first tails."""
    chances, reached = [], _ONE
    for threshold in thresholds:
        chances.append(reached * (1 - threshold))
        reached *= threshold
    return Stops((*chances, reached))


def shared(thresholds: Sequence[Fraction]) -> Stops:
    """The last threshold above one uniform."""
    chances, above = [], _ZERO
    for threshold in reversed(thresholds):
        chances.append(surplus(threshold, above))
        above += chances[-1]
    return Stops((1 - above, *reversed(chances)))


COINS: Mapping[str, Callable[[Sequence[Fraction]], Stops]] = {
    "independent": independent,
    "contiguous": contiguous,
    "shared": shared,
    "product": lambda thresholds: stops_under_products(tuple(thresholds)),
}
"""The laws of tau by name; the first is block verification."""
