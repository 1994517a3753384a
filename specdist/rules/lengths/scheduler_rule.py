"""A scheduler that shares verified tokens out by survival scores, over one request or a batch.

Law. Slot (r, j) is the j-th draft token of request r, with the survival score

    a_(r,j) = c_(r,1) c_(r,2) .. c_(r,j)

c_(r,k) is the captured confidence, known from the tokens before x_k (scores=confidence), the draft
probability Q(x_k | x_<k) of the token itself (own-probability), or max Q(. | x_<k)
(top-probability). Slots are sorted by falling score, ties by ``ties``. With R requests and the
first m slots, B = R + m tokens are computed, and

    Theta(m) = (R + sum of the first m scores) * SPS(B)         SPS the captured throughput

    global       m is the first argmax of Theta over all m (the last with equal=more)
    early-stop   slots are admitted while Theta rises
    fixed        m = budget, or all slots where there are fewer
    stale        m is the argmax of Theta for the scores of the step before

Request r gets as many verified tokens as it has slots among the first m. Sources: 2607.05147,
section 3 and appendix A (search, and the scheduler that looks at the drawn token); vLLM 0.33.0,
`v1/worker/gpu/spec_decode/adaptive_verification.py` (a budget from earlier scores).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from specdist.errors import CaptureError, SettingsError
from specdist.model.conditional import Prefix
from specdist.model.length import Blocks, Length, Lengths
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import count_from, one_of
from specdist.rules.joint.draws import top_of
from specdist.rules.lengths.length_rule import LengthRule, Request, confidence, draft_law

Scores = tuple[Fraction, ...]
_NONE = "none"


class _Slot(NamedTuple):
    request: int
    place: int
    score: Fraction


def scheduled(
    blocks: Blocks, requests: tuple[Request, ...], tables: Length, use: RecipeStep
) -> Mapping[Lengths, Fraction]:
    """The lengths of all requests for what was drafted (module docstring): one, of probability 1.

    Raises `CaptureError` for a confidence or a throughput that is missing, `SettingsError` for a
    budget that does not fit.
    """
    pairs = zip(blocks, requests, strict=True)
    scores = [survival(block, request, use.word("scores")) for block, request in pairs]
    slots = _sorted_slots(scores, use.word("ties"))
    admitted = slots[: _budget(slots, scores, tables, use)]
    lengths = [0] * len(blocks)
    for slot in admitted:
        lengths[slot.request] += 1
    return {tuple(lengths): Fraction(1)}


def survival(block: Prefix, request: Request, scores: str) -> Scores:
    """``a_1 .. a_n`` of a drafted block."""
    found: list[Fraction] = []
    product = Fraction(1)
    for index, token in enumerate(block):
        product *= _factor(block[:index], token, request, scores)
        found.append(product)
    return tuple(found)


def _factor(prefix: Prefix, token: int, request: Request, scores: str) -> Fraction:
    if scores == "confidence":
        return confidence(prefix, request.tables)
    law = draft_law(prefix, request.laws)
    return law[token] if scores == "own-probability" else law[top_of(law)]


def _sorted_slots(scores: Sequence[Scores], ties: str) -> list[_Slot]:
    slots = [_Slot(r, j, a) for r, found in enumerate(scores) for j, a in enumerate(found)]
    orders = {
        "position-first": lambda slot: (-slot.score, slot.place, slot.request),
        "request-first": lambda slot: (-slot.score, slot.request, slot.place),
        "reverse": lambda slot: (-slot.score, -slot.place, slot.request),
    }
    return sorted(slots, key=orders[ties])


def _budget(
    slots: Sequence[_Slot], scores: Sequence[Scores], tables: Length, use: RecipeStep
) -> int:
    search = use.word("value")
    if use.word("equal") == "more" and search in ("fixed", "early-stop"):
        raise SettingsError(
            f"{use.text}: equal Theta are compared by the searches global and stale only",
            expected="scheduler:global:equal=more, or no equal",
        )
    if search == "fixed":
        return _fixed_budget(len(slots), use)
    if use.argument("budget") != _NONE:
        raise SettingsError(
            f"{use.text}: a budget is given, and the search finds its own",
            expected="scheduler:fixed:budget=N, or a search without a budget",
        )
    if search == "stale":
        _check_previous(scores, tables)
        slots = _sorted_slots(tables.previous, use.word("ties"))
    values = _theta(slots, len(scores), tables, stops=search == "early-stop")
    if search == "early-stop":
        return len(values) - 1
    best = max(values)
    last = len(values) - 1 - values[::-1].index(best)
    return last if use.word("equal") == "more" else values.index(best)


def _fixed_budget(slots: int, use: RecipeStep) -> int:
    if use.argument("budget") == _NONE:
        raise SettingsError(
            f"{use.text} needs a budget",
            expected="scheduler:fixed:budget=N, N draft tokens to verify in all",
        )
    if use.count("budget") > slots:
        raise SettingsError(
            f"{use.text}: the budget is out of range, {slots} tokens are drafted",
            expected=f"a budget from 0 to {slots}",
        )
    return use.count("budget")


def _theta(slots: Sequence[_Slot], requests: int, tables: Length, stops: bool) -> list[Fraction]:
    """Theta(0), Theta(1), ..; with ``stops`` up to the last that rises."""
    expected = Fraction(requests)
    values = [expected * _speed(requests, tables)]
    for count, slot in enumerate(slots, requests + 1):
        expected += slot.score
        value = expected * _speed(count, tables)
        if stops and value <= values[-1]:
            break
        values.append(value)
    return values


def _speed(tokens: int, tables: Length) -> Fraction:
    found = tables.throughput.get(tokens)
    if found is None:
        raise CaptureError(
            f"no throughput for a batch of {tokens} token{'' if tokens == 1 else 's'}",
            place=tables.place,
            expected="steps per unit of time for every batch size that the search looks at",
            advice='write "throughput": {"1": "1", "2": "1/2"}, by the number of tokens',
        )
    return found


def _check_previous(scores: Sequence[Scores], tables: Length) -> None:
    if [len(found) for found in tables.previous] != [len(found) for found in scores]:
        raise CaptureError(
            "the scores of the step before do not fit this one",
            place=tables.place,
            expected='"previous": the survival scores of each request, '
            + " and ".join(str(len(found)) for found in scores)
            + " of them",
        )


SCHEDULER = LengthRule(
    "scheduler",
    "SEARCH",
    "block",
    "share verified tokens out by survival scores; SEARCH is global, early-stop, fixed or stale",
    lengths=scheduled,
    value=one_of("global", "early-stop", "fixed", "stale"),
    options=(
        Option("budget", count_from(0), _NONE, "draft tokens to verify in all (fixed)"),
        Option(
            "scores",
            one_of("confidence", "own-probability", "top-probability"),
            "confidence",
            "what a survival score is the product of",
        ),
        Option(
            "ties",
            one_of("position-first", "request-first", "reverse"),
            "position-first",
            "the order of equal scores; reverse puts later positions first",
        ),
        Option("equal", one_of("fewer", "more"), "fewer", "the budget among equal Theta"),
    ),
    tables=("confidence", "throughput", "previous"),
    shared=True,
)
