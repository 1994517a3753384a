"""Whether two runs drew their tokens: by the command line, or by what their files say."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.texts import Recorded


def sampled(files: tuple[Recorded, ...], stated: Fraction | None) -> str:
    """Why a difference proves nothing; empty for greedy runs and where nobody says."""
    if stated is not None:
        temperatures = [stated]
    else:
        texts = [out.temperature for file in files for out in file.outputs if out.temperature]
        temperatures = [value for value in map(_number, texts) if value is not None]
    hot = next((value for value in temperatures if value > 0), None)
    if hot is None:
        return ""
    shown = f"{float(hot):.6g}"
    return f"sampled at temperature {shown}: the runs drew, and a difference proves nothing"


def all_greedy(files: tuple[Recorded, ...]) -> bool:
    """Whether every output says that it was made at temperature 0."""
    outputs = [out for file in files for out in file.outputs]
    return all(out.temperature and _number(out.temperature) == 0 for out in outputs)


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None
