"""Temperatures so small that some engines take the argmax instead: which law was asked for?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from specdist.exact.vectors import vectors_of_laws
from specdist.model.finding import Finding, Severity
from specdist.model.recipe import Recipe, RecipeStep
from specdist.model.role import Role
from specdist.verify.position_laws import PositionLaws
from specdist.verify.wording import written

_LARGEST_CUT_OFF = Fraction(1, 10_000)
"""Engines read a temperature below 1e-6, 1e-5 or up to 1e-4 as 0 (vLLM 0.33.0, SGLang 0.5.23,
TensorRT-LLM); others divide by it."""
_VISIBLE = Fraction(1, 2**20)


def open_cut_off(
    found: PositionLaws,
    recipes: Mapping[Role, Recipe],
    laws_with: Callable[[Mapping[Role, Recipe]], PositionLaws],
    index: int,
) -> Finding | None:
    """`configuration-needed` where a tiny temperature and temperature 0 give laws that differ, as
    they do at a tie, and nothing says from which temperature on the engine is greedy."""
    small = [step for step in recipes[Role.REFERENCE].steps if _is_open(step)]
    if not small:
        return None
    greedy = {role: _greedy(recipe) for role, recipe in recipes.items()}
    laws = {"as written": found.laws[Role.REFERENCE]}
    laws["greedy"] = laws_with(greedy).laws[Role.REFERENCE]
    vectors = vectors_of_laws(laws)
    distance = (vectors["greedy"] - vectors["as written"]).positive_part().total()
    if distance <= _VISIBLE:
        return None
    chosen = vectors["greedy"].largest(1)[0]
    share = vectors["as written"].value(chosen)
    return Finding(
        "configuration-needed",
        Severity.WARNING,
        f"{small[0].text} is below the greedy cut-off of some engines, and the laws differ",
        index,
        notes=(
            f"as written token {chosen} has probability {written(share)}; taken as temperature 0 "
            f"it has 1: total variation {written(distance)}",
            f"say which one the engine means: --temperature 0, --engine NAME, or "
            f"{small[0].text}:greedy-below=T with the engine's cut-off",
        ),
    )


def _is_open(step: RecipeStep) -> bool:
    if step.name != "temperature" or not 0 < step.number() <= _LARGEST_CUT_OFF:
        return False
    stated = dict(step.arguments)
    return not any(stated.get(name) for name in ("greedy-below", "at-least", "plus"))


def _greedy(recipe: Recipe) -> Recipe:
    steps = tuple(_at_zero(step) if _is_open(step) else step for step in recipe.steps)
    return replace(recipe, steps=steps)


def _at_zero(step: RecipeStep) -> RecipeStep:
    others = tuple(pair for pair in step.arguments if pair[0] != "value")
    return RecipeStep(step.name, (("value", Fraction(0)), *others), "temperature:0")
