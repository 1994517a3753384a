"""Numbers and counts inside the sentences of a cost line."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.figure import Figure

NOT_MEASURED = "not measured"
_LONGEST = 12


def brief(value: Fraction) -> str:
    """The fraction where it is short, else six digits, which are never those of 0 or 1."""
    if max(value.denominator, value.numerator).bit_length() < 40 and len(str(value)) <= _LONGEST:
        return str(value)
    text = f"{float(value):.6g}"
    if text == "1":
        gap = float(1 - value)
        return f"1 {'-' if gap >= 0 else '+'} {abs(gap):.1g}"
    return "below 1e-300" if text == "0" else text


def relative_costs(draft_cost: Fraction, verify_cost: Fraction) -> str:
    """What relative costs say, as the beginning of an assumption."""
    verified = "as much as one" if verify_cost == 1 else f"{brief(verify_cost)} of one"
    return (
        f"a draft step costs {brief(draft_cost)} of a target step of one token, a verification "
        f"{verified}"
    )


def several(count: int, noun: str) -> str:
    """``1 token``, ``2 tokens``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def scaled(figure: Figure, factor: Fraction) -> Figure:
    """The figure times an exact positive factor, its bound with it."""
    bound = None if figure.bound is None else figure.bound * factor
    if figure.exact is None:
        return Figure(figure.approx * float(factor), None, bound)
    return Figure.of(figure.exact * factor, bound)
