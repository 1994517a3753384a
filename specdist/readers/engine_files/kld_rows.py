"""Rows of a llama.cpp KLD base file: 16-bit codes, a scale and the smallest log-probability.

The writer (llama.cpp, tools/perplexity/perplexity.cpp, the ``log_softmax`` that fills uint16) takes
the float32 logits l of a row, M = max l, m = max(min l, M - 16), and stores

    scale s = (M - m)/65535,   least n = (m - M) - log sum_v exp(l(v) - M),
    code c(v) = nearest((1/s) (l(v) - m)),  0 where l(v) <= m,

all in float32 but the sum and its logarithm, which are float64. It stands for ``s c + n``.

Bound. With u = 2^-24 and D = M - m, correctly rounded float32 operations give

    s c(v) = (l(v) - m)(1 + b) + s r,    |b| <= 3.01 u (difference, quotient, product), |r| <= 1/2,
    n = -D - L + e,                      |e| <= u D + u |n|,
    |L - log sum exp(l - M)| <= u (1.01 ln V + L) + 8 u + 2^-28,

the last because every difference l - M carries a relative rounding u, whose mean under the law
itself is u times its entropy less L, at most u ln V; because ``expf`` is within 4 ulp (glibc, musl,
Apple and Microsoft stay below 1); and because V terms are added in float64, those below 2^-126
with any error. With V <= 2^24, so ln V < 17 and L < 17, and D <= 65535 s (1 + 2.1 u), the number
that a code stands for is the true log-probability within

    half width = s/2 + u (5 * 65535 s + |n| + 44),

the rounding of the float64 ``s c + n`` included. A code 0 has l(v) <= m + s/2 (1 + 3.01 u), so the
true value is at most n + half width; and only where nothing was cut, D < 16, it is n itself. D of a
row that was cut is 16 up to the rounding of M - 16, which is below 1/4 for |M| <= 2^21. Where s is
0 all logits are equal.

From the same lines, the largest code of a row with s > 0 is 65535: (1/s)(M - m) is 65535 within
0.013. And the true probabilities sum to 1, which bounds the sum of what is listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import exp, isfinite

import numpy as np
from numpy.typing import NDArray

from specdist.errors import RowError
from specdist.model.row import FloatValues, ListedValues

TOP_CODE = 65535
CUT_AT = 16
_UNIT = 2.0**-24
_SMALLEST = 2.0**-126
_COUNTED = 1 << 15
"""Rows of as many tokens are summed by counts of their codes."""
_SUM_ERROR = 1e-9
"""Relative error of a float64 sum of exponentials, generous."""

Codes = NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Frame:
    """Scale and least log-probability of a row, with what follows from them."""

    scale: float
    least: float

    @property
    def cut(self) -> bool:
        """Whether tokens further than 16 nats below the largest may share the code 0."""
        return TOP_CODE * self.scale >= CUT_AT - 0.25

    @property
    def half_width(self) -> float:
        """See the module: how far a decoded number may be from the true log-probability; rounded
        upwards, by more than the float64 operations here can lose."""
        width = self.scale / 2 + _UNIT * (5 * TOP_CODE * self.scale + abs(self.least) + 44)
        return width * (1 + 2.0**-40)


def listed_row(codes: Codes, frame: Frame, every: NDArray[np.intp], place: str) -> ListedValues:
    """The row of ``codes`` [V]: all tokens where nothing was cut, else those with a code above 0.

    ``every`` is 0..V-1. Nothing is renormalised. Raises RowError for numbers that the writer
    cannot have written, also where the probabilities cannot sum to 1.
    """
    _check_frame(codes, frame, place)
    width = frame.half_width
    if frame.cut:
        ids = np.flatnonzero(codes != 0)
        values = _decoded(codes.take(ids), frame)
    else:
        ids = every
        values = _decoded(codes, frame)
    others = len(codes) - len(ids)
    _check_sum(_total(codes, frame), others, frame, width, place)
    exact = Fraction(width)
    # The most that a token with code 0 can have.
    cap = Fraction(frame.least) + exact if others else None
    return ListedValues(ids, FloatValues(values), len(codes), cap=cap, half_width=exact)


def _decoded(codes: Codes, frame: Frame) -> NDArray[np.float64]:
    values: NDArray[np.float64] = codes.astype(np.float64)
    values *= frame.scale
    values += frame.least
    return values


def listed_rows(
    block: Codes, frames: NDArray[np.float32], place_of: Callable[[int], str]
) -> Iterator[ListedValues]:
    """The rows of ``block`` [k, V] with ``frames`` [k, 2], scale and least. Raises RowError."""
    every = np.arange(block.shape[1])
    for at, (scale, least) in enumerate(frames.tolist()):
        yield listed_row(block[at], Frame(scale, least), every, place_of(at))


def _check_frame(codes: Codes, frame: Frame, place: str) -> None:
    scale, least = frame.scale, frame.least
    problem = ""
    if not isfinite(scale) or not isfinite(least):
        problem = f"scale {scale:g} and least log-probability {least:g}: a logit was no number"
    elif scale < 0:
        problem = f"a scale of {scale:g}, below 0"
    elif 0 < scale < _SMALLEST or scale * TOP_CODE > CUT_AT + 0.25:
        problem = f"a scale of {scale:g}"
    elif not -35 < least < 0.001:
        problem = f"a least log-probability of {least:g}"
    elif int(codes.max()) != (TOP_CODE if scale else 0):
        problem = f"the largest code is {int(codes.max())}"
    if problem:
        raise RowError(
            problem,
            place=place,
            expected="a scale from 0 to 16/65535 (largest code 65535, or 0 without a scale) and a "
            "least log-probability from -33 to 0",
            advice="write the file again; it is damaged, or no llama-perplexity wrote it",
        )


def _total(codes: Codes, frame: Frame) -> float:
    """The sum of the listed probabilities to float64.

    Long rows are counted by code, and exp(s (256 a + b)) = exp(256 s a) exp(s b) leaves 512
    exponentials of 65,536.
    """
    if len(codes) < _COUNTED:
        return float(np.exp(_decoded(codes[codes != 0] if frame.cut else codes, frame)).sum())
    counts = np.bincount(codes, minlength=TOP_CODE + 1).reshape(256, 256)
    if frame.cut:
        counts[0, 0] = 0
    steps = np.arange(256) * frame.scale
    return float(np.exp(256 * steps + frame.least) @ counts @ np.exp(steps))


def _check_sum(total: float, others: int, frame: Frame, width: float, place: str) -> None:
    least = total * exp(-width) * (1 - _SUM_ERROR)
    most = (total * exp(width) + others * exp(frame.least + width)) * (1 + _SUM_ERROR)
    if least <= 1 <= most:
        return
    raise RowError(
        f"the codes stand for probabilities with a sum from {least:.6g} to {most:.6g}",
        place=place,
        expected="bounds that hold 1",
        advice="write the file again; it is damaged, or no llama-perplexity wrote it",
    )
