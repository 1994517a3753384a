"""Captured blocks: rows along one drafted path, under token and block verification.

What one path x_1 .. x_g determines, with r_i and h_i as in `rules.joint.block_rule`:

    a_i = min(1, P(x_i) / Q(x_i))           token verification accepts x_i, once it tests it
    E[length | x] by token = sum_i a_1 .. a_i
    E[length | x] by block = sum_i (1 - (1 - h_i) .. (1 - h_g))

The coins of a block are independent given its draft, so the second line needs no other path. What
it cannot determine is said in `PathResult.left_open`: expectations over drafts, and what happens
behind tokens that were not drafted.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from specdist.errors import CaptureError
from specdist.exact.rational_vector import rounded_up
from specdist.model.capture import Position, Step
from specdist.model.figure import Figure
from specdist.model.joint_report import PathPosition, PathResult
from specdist.model.role import Role
from specdist.rules.joint.block_position_rule import Coin, Weight, coin, surplus_and_coin
from specdist.rules.outcomes import RoleLaws

_ZERO, _ONE = Fraction(0), Fraction(1)
_DEEP = Fraction(1, 2**960)
_OPEN = (
    "the expected accepted length over all drafts: it needs rows behind every draft",
    "the law of outputs that leave this path: rows behind other tokens were not captured",
    "which rule accepts more: on one path either may, over all drafts block is never below",
)
_NO_BONUS = "the law of the bonus token: no row was captured behind the last draft token"


def drafted_tokens(step: Step) -> tuple[int, ...] | None:
    """The drafted token of every position, None where one is not known."""
    tokens = [drafted_token(step, index) for index in range(len(step.positions))]
    known = tuple(token for token in tokens if token is not None)
    return known if len(known) == len(tokens) else None


def drafted_token(step: Step, index: int) -> int | None:
    """The drafted token at one position, where the capture knows it."""
    own = step.positions[index].draft_token
    listed = step.draft_tokens or ()
    return own if own is not None else (listed[index] if index < len(listed) else None)


def path_result(step: Step, laws_by_position: Sequence[RoleLaws]) -> PathResult | None:
    """What the drafted path of a step determines (module docstring), None where its tokens are not
    known. ``laws_by_position`` are the laws of its positions, in order.

    Raises CaptureError for a drafted token outside the vocabulary or of tested probability 0.
    """
    tokens = drafted_tokens(step)
    if not tokens or len(laws_by_position) != len(tokens):
        return None
    positions, accepted, coins = [], [], []
    weight = Weight()
    for index, (token, laws) in enumerate(zip(tokens, laws_by_position, strict=True)):
        position = step.positions[index]
        weight = weight_after(weight, token, laws, position)
        accepted.append(weight_after(Weight(), token, laws, position))
        behind = laws_by_position[index + 1] if index + 1 < len(tokens) else None
        following = tokens[index + 1] if behind is not None else None
        coins.append(_coin(weight, behind, following))
        positions.append(
            PathPosition(
                index=position.index,
                token=token,
                ratio=_figure(weight.value, weight.value * weight.doubt),
                threshold=_figure(coins[-1].threshold, coins[-1].error),
                token_acceptance=_figure(accepted[-1].value, accepted[-1].doubt),
            )
        )
    by_token, by_block = _length_by_token(accepted), _length_by_block(coins)
    open_questions = _OPEN if step.bonus is not None else (*_OPEN, _NO_BONUS)
    return PathResult(tuple(positions), by_token, by_block, open_questions)


def weight_after(weight: Weight, token: int, laws: RoleLaws, position: Position) -> Weight:
    """``min(1, r P(token) / Q(token))``, Q(token) = 1 where it is one-hot.

    Raises CaptureError for a token outside the vocabulary or of tested probability 0.
    """
    target = laws[Role.ACCEPT_TARGET]
    if not 0 <= token < target.size:
        raise CaptureError(
            f"draft token {token} is outside the vocabulary of {target.size} tokens",
            place=position.draft.place,
            expected=f"a token id from 0 to {target.size - 1}",
        )
    above, below, relative = target.value(token), _ONE, target.error
    if Role.ACCEPT_DRAFT not in laws.one_hot:
        tested = laws[Role.ACCEPT_DRAFT]
        below, relative = tested.value(token), relative + tested.error
    if not below:
        raise CaptureError(
            f"token {token} was drafted, and its draft probability in the test is 0",
            place=position.draft.place,
            expected="accept_draft above 0 at the drafted token",
            advice="capture the row that the token was drafted from",
        )
    ratio = weight.value * above / below
    doubt = _doubt(weight.doubt, relative, min(above or _ONE, below))
    if ratio >= 1 + doubt:
        return Weight()
    return Weight(min(ratio, _ONE), doubt if ratio else _ZERO)


def _doubt(before: Fraction, relative: Fraction, smallest: Fraction) -> Fraction:
    """Relative error of a product with a quotient of entries whose laws have that error."""
    if not (before or relative):
        return _ZERO
    if relative >= Fraction(1, 2) or (relative and smallest < _DEEP):
        return _ONE
    return min(rounded_up((1 + before) / (1 - relative) ** 2 - 1), _ONE)


def _coin(weight: Weight, behind: RoleLaws | None, following: int | None) -> Coin:
    """h of a drafted token: r itself for the last one, where nothing stands behind."""
    if behind is None or following is None:
        return Coin(weight.value, weight.value * weight.doubt)
    if Role.RESIDUAL_DRAFT not in behind.one_hot:
        return surplus_and_coin(behind, weight)[1]
    target = behind[Role.RESIDUAL_TARGET]
    left = weight.value * (1 - target.value(following))
    return coin(left, weight.value * (target.error + weight.doubt), weight)


def _length_by_token(accepted: Sequence[Weight]) -> Figure:
    value, bound, reached, off = _ZERO, _ZERO, _ONE, _ZERO
    for chance in accepted:
        reached *= chance.value
        off += chance.doubt
        value += reached
        bound += min(off, _ONE)
    return Figure.of(value, rounded_up(bound))


def _length_by_block(coins: Sequence[Coin]) -> Figure:
    value, bound, tails, off = _ZERO, _ZERO, _ONE, _ZERO
    for flipped in reversed(coins):
        tails *= 1 - flipped.threshold
        off += flipped.error
        value += 1 - tails
        bound += min(off, _ONE)
    return Figure.of(value, rounded_up(bound))


def _figure(value: Fraction, error: Fraction) -> Figure:
    return Figure.of(value, rounded_up(min(error, _ONE)))
