"""Which alignment of rows and positions makes the recorded decisions and draws possible.

Where the stated alignment contradicts a recorded decision or draw, the rows of one side are tried
one position earlier, one later, and, as an engine does that reads them one late with the first row
twice, at ``max(i - 1, 0)``. An alignment fits when it contradicts nothing and predicts everything
that the stated one contradicts, at least two things, for one may be chance. Where it would read a
row that the step does not hold, nothing is said; most of what is contradicted must have its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from specdist.model.finding import Finding, Severity
from specdist.model.role import Role
from specdist.verify.replay.accept_decisions import decided, uniform_of, used_pairs
from specdist.verify.replay.drawing import is_drawn
from specdist.verify.replay.final_draws import final_answer, final_bounds
from specdist.verify.replay.step_laws import AS_STATED, Alignment, Shift, StepLaws, agreed
from specdist.verify.replay.wording import plural


def _earlier(position: int) -> int | None:
    return position - 1 if position else None


def _later(position: int) -> int | None:
    return position + 1


def _late(position: int) -> int | None:
    return max(position - 1, 0)


SHIFTS: Mapping[str, tuple[Shift, str]] = {
    "max(i - 1, 0)": (_late, "position i reads row i - 1, the first position its own"),
    "-1": (_earlier, "position i reads row i - 1"),
    "+1": (_later, "position i reads row i + 1"),
}
_STATED = "stated"
_FEWEST = 2


@dataclass(slots=True)
class _Score:
    agreed: int = 0
    differed: int = 0
    explained: int = 0
    without_row: int = 0


class Alignments:
    """Counts of agreement under every alignment, over all steps."""

    def __init__(self) -> None:
        self._known = {(_STATED, ""): AS_STATED}
        for name, (shift, _) in SHIFTS.items():
            self._known[("target", name)] = Alignment(target=shift)
            self._known[("draft", name)] = Alignment(draft=shift)
        self._scores = {key: _Score() for key in self._known}

    def add(self, laws: StepLaws) -> None:
        """Judges everything of a step under every alignment."""
        stated = self._answers(laws, AS_STATED)
        for key, alignment in self._known.items():
            answers = stated if alignment is AS_STATED else self._answers(laws, alignment)
            score = self._scores[key]
            for (ours, _), (theirs, has_row) in zip(stated, answers, strict=True):
                score.agreed += theirs is True
                score.differed += theirs is False
                score.explained += ours is False and theirs is True
                score.without_row += ours is False and not has_row

    def _answers(self, laws: StepLaws, alignment: Alignment) -> list[tuple[bool | None, bool]]:
        """Everything that is judged in a step, each with whether it has a row."""
        step = laws.step
        answers: list[tuple[bool | None, bool]] = []
        for position in range(step.tests):
            pairs = used_pairs(laws, position, alignment)
            uniform, accepted = uniform_of(step, position), position < step.n_accepted
            held = (decided(*pair, uniform, accepted, laws.conventions) for pair in pairs or ())
            answers.append((agreed(held), pairs is not None))
        has_row = final_bounds(laws, alignment) is not None
        answers.append((final_answer(laws, alignment), has_row))
        answers += _draft_answers(laws, alignment)
        return answers

    def finding(self) -> Finding | None:
        """`shifted-rows`, where another alignment fits and the stated one does not."""
        stated = self._scores[(_STATED, "")]
        if stated.differed < _FEWEST:
            return None
        fitting = [
            (key, score)
            for key, score in self._scores.items()
            if score.explained + score.without_row == stated.differed
            and score.explained >= max(_FEWEST, score.without_row + 1)
            and not score.differed
        ]
        if not fitting:
            return None
        (side, name), best = max(fitting, key=lambda item: item[1].agreed)
        lost = f"; {best.without_row} have no row then" if best.without_row else ""
        words = SHIFTS[name][1]
        return Finding(
            "shifted-rows",
            Severity.ERROR,
            f"{side} rows are off by one position: {words}",
            notes=(
                f"as stated {plural(stated.differed, 'recorded decision')} or draws are "
                f"impossible, and {stated.agreed} agree",
                f"with the rows moved all {best.agreed} agree and none is impossible{lost}",
            ),
            cause=(f"read for position i the {side} row of position i",),
            restores="agreement",
        )


def _draft_answers(laws: StepLaws, alignment: Alignment) -> Iterable[tuple[bool | None, bool]]:
    step = laws.step
    tokens = step.drafted if step.proposed is None else step.proposed
    uniforms = step.u_draft if laws.conventions.inverse_cdf else None
    for position, token in enumerate(tokens):
        known = laws.of(Role.DRAFTED_FROM, position, alignment)
        uniform = None if uniforms is None else uniforms[position]
        held = (is_drawn(law.bounds, token, uniform, None).holds for law in known or ())
        yield agreed(held), known is not None
