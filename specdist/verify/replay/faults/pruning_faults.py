"""Rules that drop proposed tokens: by their own probability, or by what is known before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from specdist.verify.replay.engine_model import MEASURES, EngineModel, Pruning
from specdist.verify.replay.pruning import Ends, simplest_between
from specdist.verify.replay.survey import Survey
from specdist.verify.wording import written

_AFTER = {
    "target": "drawn from the target",
    "residual": "drawn from the residual, as if it had been rejected",
}
_WORDS = {
    "own-probability": "a proposed token of small draft probability is dropped",
    "top-probability": "a token is dropped where no token of its draft row is likely",
    "draft-entropy": "a token is dropped where the entropy of its draft row is large",
    "position": "tokens behind a fixed draft length are dropped",
}


def pruning_faults(declared: EngineModel, survey: Survey) -> Iterator[EngineModel]:
    """A rule for every measure that tells all dropped tokens from all kept ones. The threshold is
    the shortest decimal that does so; a rule that looks at the token is the fault, the others
    leave the target's law as it is."""
    for measure in MEASURES:
        ends = survey.ends[measure]
        if not ends.apart or ends.dropped is None or ends.kept is None:
            continue
        threshold = simplest_between(ends.dropped, ends.kept)
        for dropped, words in _AFTER.items():
            yield replace(
                declared,
                name=f"{measure} pruning, then the {dropped}",
                ident="anticipating-length-rule" if measure == MEASURES[0] else "",
                statement=f"{_WORDS[measure]}, and the position is {words}",
                pruning=Pruning(measure, threshold, dropped),
                parameters=_parameters(measure, ends, threshold),
                rank=1,
            )


def _parameters(measure: str, ends: Ends, threshold: Fraction) -> tuple[tuple[str, str], ...]:
    low, high = ends.dropped or Fraction(0), ends.kept or Fraction(0)
    if high <= 0:
        between = f"from {written(-high)}, below {written(-low)}"
    else:
        between = f"above {written(low)}, up to {written(high)}"
    name = "draft length" if measure == "position" else "threshold"
    return (name, between), ("taken as", written(abs(threshold)))
