"""Positions and bonus rows that are known in part, in the JSON report: numbers as intervals."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.exact.outward import outward_float
from specdist.model.figure import Figure
from specdist.model.partial_report import BoundedBonus, BoundedPosition
from specdist.reports.json_numbers import Object, number, optional


def interval(shown: Interval, exact: bool) -> Object:
    """``{"least": N, "most": N}``; where an exact end is too long to be written, its decimal is
    rounded outwards."""
    return {
        "least": _end(shown.least, exact, up=False),
        "most": _end(shown.most, exact, up=True),
    }


def figure_or_interval(
    figure: Figure | None, bounds: Interval | None, exact: bool
) -> Object | None:
    """A number, or an interval where there are bounds; null of neither."""
    return optional(figure, exact) if bounds is None else interval(bounds, exact)


def bounded_to_json(position: BoundedPosition, exact: bool) -> Object:
    """An element of ``bounded``."""
    rates = ("acceptance_rate", "reference_acceptance_rate", "total_variation")
    rests = ("target_rest", "draft_rest")
    masses = ("reference", "drafted", "accepted", "output")
    return {
        "index": position.index,
        "verdict": position.verdict.value,
        "vocab_size": position.vocab_size,
        **{name: interval(getattr(position, name), exact) for name in rates},
        "by_identity": position.by_identity,
        **{name: interval(getattr(position, name), exact) for name in rests},
        "half_width": number(Figure.of(position.half_width), exact),
        "listed": asdict(position.counts),
        "roles": [asdict(use) for use in position.roles],
        "tokens": [
            {
                "id": token.id,
                "text": token.text,
                **{name: interval(getattr(token, name), exact) for name in masses},
            }
            for token in position.tokens
        ],
    }


def bounded_bonus_to_json(bonus: BoundedBonus | None, exact: bool) -> Object | None:
    """The member ``bounded_bonus`` of a step; null but for a bonus row that is known in part."""
    if bonus is None:
        return None
    return {
        "verdict": bonus.verdict.value,
        "vocab_size": bonus.vocab_size,
        "total_variation": interval(bonus.total_variation, exact),
        "by_identity": bonus.by_identity,
        "rest": interval(bonus.rest, exact),
        "half_width": number(Figure.of(bonus.half_width), exact),
        "roles": [asdict(use) for use in bonus.roles],
        "tokens": [
            {
                "id": token.id,
                "text": token.text,
                "reference": interval(token.reference, exact),
                "output": interval(token.output, exact),
            }
            for token in bonus.tokens
        ],
    }


def _end(value: Fraction, exact: bool, up: bool) -> Object:
    shown = number(Figure.of(value), exact)
    return shown if shown["exact"] is not None else {**shown, "approx": outward_float(value, up)}
