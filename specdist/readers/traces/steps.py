"""One line of recorded steps as a step without rows, its parts checked against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from specdist.errors import CaptureError
from specdist.model.settings import ReadingSettings
from specdist.model.trace import FinalKind, TraceStep
from specdist.readers.traces.fields import Fields
from specdist.readers.traces.inline_rows import check_rows, inline_rows

Item = TypeVar("Item")
_KINDS = tuple(kind.value for kind in FinalKind)


@dataclass(frozen=True, slots=True)
class ReadStep:
    """A step, and the numbers of its rows; None where the line does not say them."""

    step: TraceStep
    line: int
    draft_rows: tuple[int, ...] | None
    target_rows: tuple[int, ...] | None


@dataclass(slots=True)
class StepReading:
    """What holds for all lines: the file's name, the vocabulary size, the longest draft. It also
    remembers where each sequence stands."""

    name: str
    reading: ReadingSettings
    size: int | None = None
    gamma: int | None = None
    last: dict[int, int] | None = None

    def read(self, line: int, value: Any) -> ReadStep:
        """The step of a line. Raises CaptureError naming file and line."""
        place = f"{self.name}, line {line}"
        fields = Fields(value, place, self.size)
        fields.require("drafted")
        fields.require("emitted")
        fields.require("accepted", "n_accepted", "n_matches")
        sequence, index = self._number(fields)
        drafted = fields.tokens("drafted") or ()
        proposed = self._proposed(fields, drafted)
        mask, reported = _decisions(fields, len(drafted))
        n_accepted = (reported or 0) if mask is None else _leading(mask)
        tests, count = min(n_accepted + 1, len(drafted)), len(proposed or drafted)
        emitted = fields.tokens("emitted") or ()
        tokens = (*drafted, *emitted, *(proposed or ()))
        step = TraceStep(
            id=f"{sequence}.{index}" if "sequence" in fields else str(index),
            source=place,
            sequence=sequence,
            index=index,
            drafted=drafted,
            emitted=emitted,
            n_accepted=n_accepted,
            accepted=None if mask is None else mask[:tests],
            mask=mask if mask is not None and len(mask) > tests else None,
            reported_accepted=reported,
            proposed=proposed,
            u_draft=_of_length(fields, "u_draft", fields.uniforms("u_draft"), count),
            **_numbers(fields, tests, len(drafted)),
            **_final(fields, n_accepted, drafted),
            **_contexts(fields),
            **self._rows(fields, len(drafted), count, tokens),
        )
        draft_rows, target_rows = fields.rows("draft_rows"), fields.rows("target_rows")
        return ReadStep(
            step,
            line,
            _of_length(fields, "draft_rows", draft_rows, count, len(drafted)),
            _of_length(fields, "target_rows", target_rows, len(drafted) + 1),
        )

    def _rows(
        self, fields: Fields, drafted: int, proposed: int, tokens: tuple[int, ...]
    ) -> dict[str, Any]:
        """Rows that stand in the line."""
        rows = inline_rows(fields.members, fields.place, self.size, self.reading)
        check_rows(rows, drafted, proposed, tokens, fields.place)
        return {"target_rows": rows[0], "draft_rows": rows[1]}

    def _number(self, fields: Fields) -> tuple[int, int]:
        """Sequence and step: numbers rise within a sequence."""
        if self.last is None:
            self.last = {}
        sequence = fields.whole("sequence") or 0
        before = self.last.get(sequence, -1)
        index = fields.whole("step")
        index = before + 1 if index is None else index
        if index <= before:
            raise CaptureError(
                f"step {index} of sequence {sequence} follows step {before}",
                place=fields.place,
                expected="steps in their order, each once",
            )
        self.last[sequence] = index
        return sequence, index

    def _proposed(self, fields: Fields, drafted: tuple[int, ...]) -> tuple[int, ...] | None:
        proposed = fields.tokens("proposed")
        if proposed is not None and proposed[: len(drafted)] != drafted:
            raise CaptureError(
                "the submitted ids are not the first of the proposed ones",
                place=fields.place,
                expected="drafted as a prefix of proposed",
            )
        length = fields.whole("candidate_length")
        if length is not None and length != len(drafted):
            raise CaptureError(
                f"candidate_length is {length}, {len(drafted)} tokens are drafted",
                place=fields.place,
                expected="one count",
            )
        if self.gamma is not None and len(proposed or drafted) > self.gamma:
            raise CaptureError(
                f"{len(proposed or drafted)} tokens are drafted",
                place=fields.place,
                expected=f"at most gamma = {self.gamma}, as the configuration says",
            )
        return proposed


def _decisions(fields: Fields, drafted: int) -> tuple[tuple[bool, ...] | None, int | None]:
    """The recorded decisions, and the count that the trace gives."""
    counts = {name: fields.whole(name) for name in ("n_accepted", "n_matches")}
    given = {name: count for name, count in counts.items() if count is not None}
    for name, count in given.items():
        if count > drafted:
            raise CaptureError(
                f"{name} is {count}, {drafted} tokens are drafted",
                place=fields.place,
                expected="at most the number of drafted tokens",
            )
    reported = next(iter(given.values()), None)
    mask = fields.decisions("accepted")
    if mask is None:
        return None, reported
    tests = min(_leading(mask) + 1, drafted)
    if not tests <= len(mask) <= drafted:
        raise CaptureError(
            f"{len(mask)} decisions for {drafted} drafted tokens",
            place=fields.place,
            expected="decisions up to the first rejection, or one for every drafted token",
        )
    return mask, reported


def _leading(mask: tuple[bool, ...]) -> int:
    """How many are accepted before the first rejection."""
    return mask.index(False) if False in mask else len(mask)


def _final_kind(fields: Fields, rejected: bool) -> FinalKind | None:
    found = fields.text("final_kind", _KINDS)
    if found is None:
        return None
    if (found == FinalKind.RECOVERED.value) is not rejected:
        raise CaptureError(
            f"the final token is {found}, "
            f"and {'a drafted token is rejected' if rejected else 'nothing is rejected'}",
            place=fields.place,
            expected="recovered after a rejection, bonus where all are accepted",
        )
    return FinalKind(found)


def _final(fields: Fields, accepted: int, drafted: tuple[int, ...]) -> dict[str, Any]:
    """The final token and how it came about; without a recorded one, what is emitted behind the
    accepted tokens."""
    token, emitted = fields.token("final_token"), fields.tokens("emitted") or ()
    whole = len(emitted) == accepted + 1 and emitted[:accepted] == drafted[:accepted]
    if token is None and whole:
        token = emitted[-1]
    return {
        "u_final": fields.uniform("u_final"),
        "final_kind": _final_kind(fields, accepted < len(drafted)),
        "final_token": token,
        "final_support": fields.whole("final_law_support", 1),
        "returned": fields.tokens("valid_tokens"),
    }


def _numbers(fields: Fields, tests: int, drafted: int) -> dict[str, Any]:
    """What belongs to the tests: one number for each drafted token, or for each tested one."""
    found = {
        "u_accept": ("u_accept", fields.uniforms("u_accept")),
        "tested_target": ("p_drafted", fields.probabilities("p_drafted")),
        "tested_draft": ("q_drafted", fields.probabilities("q_drafted")),
    }
    return {
        name: _of_length(fields, written, numbers, drafted, tests)
        for name, (written, numbers) in found.items()
    }


def _contexts(fields: Fields) -> dict[str, Any]:
    context = fields.tokens("context")
    length, prompt = fields.whole("context_len"), fields.whole("prompt_len")
    if context is not None and length not in (None, len(context)):
        raise CaptureError(
            f"context_len is {length}, the context holds {len(context)} tokens",
            place=fields.place,
            expected="one count",
        )
    known = length if context is None else len(context)
    if prompt is not None and known is not None and prompt > known:
        raise CaptureError(
            f"prompt_len is {prompt}, the context holds {known} tokens",
            place=fields.place,
            expected="a prompt inside the context",
        )
    return {
        "context": context,
        "context_length": known,
        "prompt_length": prompt,
        "next_context": fields.tokens("next_context"),
    }


def _of_length(
    fields: Fields, name: str, found: tuple[Item, ...] | None, *lengths: int
) -> tuple[Item, ...] | None:
    if found is not None and len(found) not in lengths:
        raise CaptureError(
            f"{name} holds {len(found)} items",
            place=fields.place,
            expected=f"{' or '.join(map(str, dict.fromkeys(lengths)))} of them",
        )
    return found
