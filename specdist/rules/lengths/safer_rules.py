"""Rules near a length rule that look at less, as corrections to try: the law decides about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from specdist.model.recipe import Argument, RecipeStep
from specdist.model.value_texts import written_argument
from specdist.rules.lengths.chosen_length import ChosenLength

_NONE = "none"


def safer_rules(chosen: ChosenLength, verified: int) -> Iterator[str]:
    """Texts of rules that decide earlier than ``chosen``, the least changed first.

    A token of low probability that is dropped is kept, and drafting stops behind it; equal scores
    go to earlier positions first; scores look at the row and not at the draw; the budget is fixed,
    at ``verified`` draft tokens, or admission stops once the throughput falls.
    """
    use = chosen.use
    if use.name == "own-probability":
        strict = "" if use.word("strict") == "no" else ":strict=yes"
        yield f"stop-after:{written_argument(use.argument('value'))}{strict}"
    if use.name != "scheduler":
        return
    changes = list(_changes(use, verified))
    for count in range(1, len(changes) + 1):
        for some in combinations(changes, count):
            merged = {key: value for change in some for key, value in change.items()}
            if sum(map(len, some)) == len(merged):
                yield _written({**dict(use.arguments), **merged})


def _changes(use: RecipeStep, verified: int) -> Iterator[Mapping[str, Argument]]:
    if use.word("ties") == "reverse":
        yield {"ties": "position-first"}
    if use.word("scores") == "own-probability":
        yield {"scores": "top-probability"}
    if use.word("value") == "global":
        if verified:
            yield {"value": "fixed", "budget": verified}
        yield {"value": "early-stop"}


def _written(arguments: Mapping[str, Argument]) -> str:
    text = f"scheduler:{written_argument(arguments['value'])}"
    defaults = {"budget": _NONE, "scores": "confidence", "ties": "position-first", "equal": "fewer"}
    for key, default in defaults.items():
        if arguments[key] != default:
            text += f":{key}={written_argument(arguments[key])}"
    return text
