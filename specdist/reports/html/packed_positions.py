"""Positions and bonus rows for the pictures: the tokens that matter, and the mass of the others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from specdist.model.figure import Figure
from specdist.model.partial_report import BoundedBonus, BoundedPosition
from specdist.model.report import BonusResult, BonusToken, PositionResult, TokenLine
from specdist.reports.figure_text import Numerals, bound, is_worth_a_bound
from specdist.reports.html.packed import Packed, Packer
from specdist.reports.view import is_zero

Object = dict[str, object]
_LARGE = 64
_ONE = Figure.of(1)
_NEGLIGIBLE = 1e-12
"""What rounding alone leaves of a difference of sums of float64."""
_LEFT = ("reference", "drafted", "accepted", "recovered")


def pack_position(position: PositionResult, packer: Packer, tokens: bool) -> Object:
    """One drafted position; without ``tokens`` its figures alone."""
    packed: Object = {
        "i": position.index,
        "v": position.verdict.value,
        "n": position.vocab_size,
        "a": packer.number(position.acceptance_rate),
        "tv": packer.number(position.total_variation),
    }
    if not tokens:
        return packed
    chosen = chosen_tokens(position.tokens, packer.show)
    packed |= {
        "h": packer.number(position.reference_acceptance_rate),
        "r": packer.number(position.rejected_mass),
        "c": packer.number(position.recovered_mass),
        "t": [_token(token, packer, position.vocab_size > _LARGE) for token in chosen],
        "ro": packer.roles(position.roles),
    }
    within = _within(chosen, packer)
    if within:
        packed["w"] = within
    said = [[name, packer.number(figure)] for name, figure in _beside(position)]
    if said:
        packed["also"] = said
    hidden = position.vocab_size - len(chosen)
    if hidden > 0 and chosen:
        packed["rest"] = [hidden, *(packer.rough(part) for part in _others(position, chosen))]
    return packed


def chosen_tokens(tokens: Sequence[TokenLine], show: int) -> list[TokenLine]:
    """At most ``show`` tokens: those of largest difference, then the likeliest; in order of id
    where all of them are shown."""
    if len(tokens) <= show:
        return list(tokens)

    def rank(token: TokenLine) -> tuple[float, float, int]:
        likely = max(token.reference.approx, token.drafted.approx, token.output.approx)
        return -abs(token.difference.approx), -likely, token.id

    return sorted(tokens, key=rank)[:show]


def _token(token: TokenLine, packer: Packer, with_id: bool) -> list[object]:
    """``tested`` and ``output`` are 0 where they are the drafted mass and the reference;
    ``accepted`` is 1 where all that is drafted is accepted, 2 where it is the reference."""
    number = packer.mass
    same = token.tested is token.drafted or token.tested == token.drafted
    return [
        packer.token(token.text, token.id, with_id),
        number(token.reference),
        number(token.drafted),
        0 if same else number(token.tested),
        _accepted(token, packer),
        number(token.recovered),
        0 if is_zero(token.difference) else number(token.output),
        number(token.difference),
        number(token.residual),
    ]


def _accepted(token: TokenLine, packer: Packer) -> Packed | int:
    accepted = token.accepted.exact
    if packer.spelled or accepted is None:
        return packer.mass(token.accepted)
    whole = {token.reference.exact: 2, token.drafted.exact: 1}
    return whole.get(accepted) or packer.mass(token.accepted)


def _within(chosen: Sequence[TokenLine], packer: Packer) -> str | None:
    """The largest bound of the masses, where they are told without their own."""
    names = ("reference", "drafted", "tested", "accepted", "recovered", "output", "residual")
    figures = (getattr(token, name) for token in chosen for name in names)
    bounds = [f.bound for f in figures if f is not None and is_worth_a_bound(f)]
    return bound(max(bounds)) if bounds and not packer.spelled else None


def _others(position: PositionResult, chosen: Sequence[TokenLine]) -> Iterator[Figure]:
    """What the reported totals leave for the tokens that are not shown."""
    totals = (_ONE, _ONE, position.acceptance_rate, position.recovered_mass)
    left = []
    for name, total in zip(_LEFT, totals, strict=True):
        left.append(_left(total, [getattr(token, name) for token in chosen]))
    yield from left
    outputs = [token.output for token in chosen]
    accepted, recovered = position.acceptance_rate, position.recovered_mass
    if accepted.exact is not None and recovered.exact is not None:
        yield _left(Figure.of(accepted.exact + recovered.exact), outputs)
    else:
        yield _left(Figure(accepted.approx + recovered.approx, None), outputs)


def _left(total: Figure, shown: Sequence[Figure]) -> Figure:
    short = all(Numerals().is_fraction(figure) for figure in (total, *shown))
    if short and total.exact is not None:
        return Figure.of(total.exact - sum((figure.exact or 0 for figure in shown), Fraction(0)))
    rest = math.fsum([total.approx, *(-figure.approx for figure in shown)])
    return Figure(rest if abs(rest) > _NEGLIGIBLE else 0.0, None)


def _beside(position: PositionResult) -> Iterator[tuple[str, Figure]]:
    """Figures that only some positions have."""
    if position.forbidden_mass is not None and not is_zero(position.forbidden_mass):
        yield "mass on tokens that the reference forbids", position.forbidden_mass
    if position.used_target is not None:
        used = position.used_target
        yield f"from the target that the test used ({used.verdict.value})", used.total_variation
    if position.lossy is not None:
        yield "least total variation of any rule", position.lossy.least_total_variation
        yield "excess over it", position.lossy.excess
        yield "accepted if targeted", position.lossy.acceptance_if_targeted
    if position.proposal is not None:
        yield "draft mass that reaches the test", position.proposal.reaching_mass
        if position.proposal.accepted_of_reaching is not None:
            yield "accepted of what reaches it", position.proposal.accepted_of_reaching
    if position.several is not None and position.several.optimum is not None:
        name = f"most that {position.several.count} drafts ({position.several.siblings}) can reach"
        yield name, position.several.optimum


def pack_bonus(bonus: BonusResult, packer: Packer, tokens: bool) -> Object:
    """The bonus row of a block."""
    packed: Object = {
        "v": bonus.verdict.value,
        "n": bonus.vocab_size,
        "tv": packer.number(bonus.total_variation),
    }
    if tokens:
        chosen = _ranked(bonus.tokens)[: packer.show]
        with_id = bonus.vocab_size > _LARGE
        packed["t"] = [_compared(token, packer, with_id) for token in chosen]
        packed["ro"] = packer.roles(bonus.roles)
    return packed


def _ranked(tokens: Sequence[BonusToken]) -> list[BonusToken]:
    return sorted(tokens, key=lambda t: (-abs(t.difference.approx), -t.reference.approx, t.id))


def _compared(token: BonusToken, packer: Packer, with_id: bool) -> list[Packed | int]:
    return [
        packer.token(token.text, token.id, with_id),
        packer.mass(token.reference),
        0 if is_zero(token.difference) else packer.mass(token.output),
        packer.mass(token.difference),
    ]


def pack_bounded(position: BoundedPosition, packer: Packer, tokens: bool) -> Object:
    """A position whose rows are known in part: every number is an interval."""
    packed: Object = {
        "i": position.index,
        "v": position.verdict.value,
        "n": position.vocab_size,
        "a": packer.interval(position.acceptance_rate),
        "tv": packer.interval(position.total_variation),
        "same": position.by_identity,
    }
    if tokens:
        with_id = position.vocab_size is None or position.vocab_size > _LARGE
        columns = ("reference", "drafted", "accepted", "output")
        packed |= {
            "h": packer.interval(position.reference_acceptance_rate),
            "tr": packer.interval(position.target_rest),
            "dr": packer.interval(position.draft_rest),
            "t": [
                [
                    packer.token(token.text, token.id, with_id),
                    *(packer.interval(getattr(token, column)) for column in columns),
                ]
                for token in position.tokens[: packer.show]
            ],
            "ro": packer.roles(position.roles),
        }
    return packed


def pack_bounded_bonus(bonus: BoundedBonus, packer: Packer, tokens: bool) -> Object:
    """A bonus row that is known in part."""
    packed: Object = {
        "v": bonus.verdict.value,
        "n": bonus.vocab_size,
        "tv": packer.interval(bonus.total_variation),
        "same": bonus.by_identity,
    }
    if tokens:
        with_id = bonus.vocab_size is None or bonus.vocab_size > _LARGE
        packed["t"] = [
            [
                packer.token(token.text, token.id, with_id),
                packer.interval(token.reference),
                packer.interval(token.output),
            ]
            for token in bonus.tokens[: packer.show]
        ]
        packed["ro"] = packer.roles(bonus.roles)
    return packed
