"""Sets of repairs in plain words: what to change so that the output law is right again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specdist.model.report import RoleUse
from specdist.verify.variants import Repair
from specdist.verify.wording import joined

_NOT_A_RECIPE = ("row", "one-hot")
_OF_THE_MODEL: Mapping[str, str] = {
    "recovery": "recover from the residual, max(target - draft, 0) normalised",
    "keep": "verify every drafted token",
    "sums": "normalise the rows before test and residual",
    "inequality": "accept where u < a: with u = 0, u <= a accepts at a = 0 too",
    "uniform": "compare with a uniform of full precision",
    "ratio_epsilon": "divide by the draft probability alone",
    "residual_floor": "cut the residual off at 0, not at the floor",
    "empty_residual": "draw from the target where the residual is empty",
}
_OF_THE_RULE: Mapping[str, str] = {
    "faulty": "draw the recovery with randomness of its own",
    "observed": "accept with min(1, target/draft) and recover from the residual",
}


def repair_words(repair: Repair, uses: Sequence[RoleUse], rule_kind: str, bonus: str = "") -> str:
    """One set of repairs as an instruction, such as ``draft without top-p``. ``bonus`` names what
    is drawn from `bonus_from`, where the roles do not tell."""
    recipes = {use.role: use.recipe for use in uses}
    parts = [
        *_draft_words(set(repair), recipes),
        *_target_words(set(repair), recipes, bonus),
        *([_OF_THE_RULE[rule_kind]] if "rule" in repair else []),
        *(words for name, words in _OF_THE_MODEL.items() if name in repair),
    ]
    return "; ".join(parts)


def _draft_words(names: set[str], recipes: Mapping[str, str]) -> list[str]:
    subtract = "residual_draft" in names
    if "accept_draft" in names:
        verbs = "test and subtract" if subtract else "test against"
        return [f"{verbs} the distribution that was drafted from"]
    parts = []
    if "drafted_from" in names:
        changed = changes(recipes["drafted_from"], recipes["accept_draft"])
        parts.append(f"draft {changed or 'from the distribution that is tested against'}")
    if subtract and recipes["accept_draft"] == "one-hot":
        parts.append("remove only the drafted token from the residual, as the test does")
    elif subtract and recipes["residual_draft"] == "one-hot":
        parts.append("subtract the whole tested row, not only the drafted token")
    elif subtract:
        parts.append("subtract the distribution that is tested against")
    return parts


def _target_words(names: set[str], recipes: Mapping[str, str], bonus: str) -> list[str]:
    both = {"accept_target", "residual_target"}
    parts = []
    if both <= names:
        changed = changes(recipes["accept_target"], recipes["reference"])
        same = recipes["accept_target"] == recipes["residual_target"]
        shown = changed if same and changed else "with the reference"
        parts.append(f"test and recover {shown}")
    elif "accept_target" in names:
        changed = changes(recipes["accept_target"], recipes["reference"])
        parts.append(f"test {changed or 'with the reference'}")
    elif "residual_target" in names:
        changed = changes(recipes["residual_target"], recipes["reference"])
        parts.append(f"recover {changed or 'from the reference'}")
    if "bonus_from" in names:
        changed = changes(recipes["bonus_from"], recipes["reference"])
        here = "what replaces a dropped token" if "drafted_from" in recipes else "the bonus token"
        parts.append(f"draw {bonus or here} {changed or 'from the reference'}")
    return parts


def changes(own: str, goal: str) -> str:
    """How a recipe becomes another: ``without top-p``, ``with temperature 4/5 instead of 1``.

    Empty where one is no recipe, or where names and values do not tell the difference.
    """
    if own in _NOT_A_RECIPE or goal in _NOT_A_RECIPE:
        return ""
    mine, theirs = _steps(own), _steps(goal)
    if len(mine) != len(own.split(",")) or len(theirs) != len(goal.split(",")):
        return ""
    extra = [name for name in mine if name not in theirs and name != "raw"]
    lacking = [name for name in theirs if name not in mine and name != "raw"]
    changed = [name for name in mine if name in theirs and mine[name] != theirs[name]]
    parts = [f"without {joined(extra)}"] if extra else []
    added = [f"{name} {theirs[name]}" for name in lacking]
    added += [f"{name} {theirs[name]} instead of {mine[name]}" for name in changed]
    return ", ".join(parts + ([f"with {joined(added)}"] if added else []))


def _steps(recipe: str) -> dict[str, str]:
    return {name: value for name, _, value in (step.partition(":") for step in recipe.split(","))}
