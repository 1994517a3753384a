"""Drafted tokens that are dropped because of their own probability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdist.verify.replay.engine_model import EngineModel, Pruning
from specdist.verify.replay.survey import Survey, simplest_between

_MEASURE = "own-probability"
_AFTER = {
    "target": "drawn from the target",
    "residual": "drawn from the residual, as if it had been rejected",
}


def pruning_faults(declared: EngineModel, survey: Survey) -> Iterator[EngineModel]:
    """A threshold between the tokens that were dropped and those that were kept, where there is
    one: the shortest decimal above the largest dropped, and up to the smallest kept probability."""
    ends = survey.ends[_MEASURE]
    if ends.dropped is None:
        return
    high = ends.kept if ends.kept is not None else ends.dropped * 2
    if ends.dropped >= high:
        return
    threshold = simplest_between(ends.dropped, high)
    for dropped, words in _AFTER.items():
        yield replace(
            declared,
            name=f"own-probability pruning, {dropped}",
            ident="anticipating-length-rule",
            statement="a draft token of small draft probability is dropped, and the position is "
            + words,
            pruning=Pruning(_MEASURE, threshold, ends.dropped, high, dropped),
            rank=1,
        )
