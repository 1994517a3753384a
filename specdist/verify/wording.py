"""Numbers and tokens as the words of messages: exact where short, else six digits."""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.exact.outward import outward_text
from specdist.exact.vector import Share
from specdist.model.capture import Vocab
from specdist.model.figure import Figure

_LONGEST_TEXT = 24
_LONGEST_FRACTION = 24
_NAMED_BY_TEXT_UP_TO = 64


def written(value: Fraction | None) -> str:
    """A fraction where it is short (denominator up to four digits), a small share of a grid such
    as ``1/16777216``, and what six digits would round to a short fraction; else six digits."""
    if value is None:
        return "unknown"
    if value.denominator < 10_000 and abs(value.numerator) < 10**9:
        return str(value)
    text = f"{float(value):.6g}"
    if len(str(value)) > _LONGEST_FRACTION:
        return text
    on_grid = value.denominator & (value.denominator - 1) == 0 and value.numerator < 10_000
    return str(value) if on_grid or Fraction(text).denominator < 10_000 else text


def figure(shown: Figure) -> str:
    """``11/15 = 0.7333``, or six digits."""
    if shown.exact is None:
        return f"{shown.approx:.6g}"
    text = written(shown.exact)
    if "/" in text:
        text += f" = {shown.approx:.4f}" if shown.approx >= 0.001 else f" = {shown.approx:.4g}"
    return text


def interval(shown: Interval) -> str:
    """``3/5 to 17/20``, ``0.723401 to 0.729855`` rounded outwards, or one number."""
    return figure(Figure.of(shown.least)) if shown.closed else span(shown)


def span(shown: Interval) -> str:
    """``3/5 to 17/20`` or ``1/4``: an interval without decimals beside fractions."""
    least, most = _end(shown.least, up=False), _end(shown.most, up=True)
    return least if least == most else f"{least} to {most}"


def at_most(value: Fraction, digits: int = 6) -> str:
    """A bound from above: exact where short, else rounded up."""
    return _end(value, up=True, digits=digits)


def at_least(value: Fraction) -> str:
    """A bound from below: exact where short, else rounded down."""
    return _end(value, up=False)


def _end(value: Fraction, up: bool, digits: int = 6) -> str:
    return str(value) if value.denominator < 10_000 else outward_text(value, up, digits)


def named(token: int, vocab: Vocab | None, size: int) -> str:
    """``' an'`` where a text says it all, ``token 306 'ing'`` in a large vocabulary."""
    text = vocab.text(token) if vocab else None
    if text is None:
        return f"token {token}"
    shown = repr(text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "...")
    return shown if size <= _NAMED_BY_TEXT_UP_TO else f"token {token} {shown}"


def named_share(share: Share, vocab: Vocab | None, size: int) -> str:
    """The likeliest of some tokens, and how many more there are."""
    name = named(share.token, vocab, size)
    if share.size == 1:
        return name
    return f"{name} and {share.size - 1:,} more token{'s' if share.size > 2 else ''}"


def joined(parts: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
