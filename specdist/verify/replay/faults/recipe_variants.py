"""Other recipes that an engine may have used in place of a declared one."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.model.recipe import Recipe
from specdist.processing import parse_recipe, processor_named

_GREEDY = parse_recipe("temperature:0").steps


def effective(recipe: Recipe) -> Recipe:
    """The recipe without steps that change nothing."""
    steps = tuple(s for s in recipe.steps if not processor_named(s.name).is_neutral(s))
    return Recipe(steps, recipe.one_hot)


def variants(recipe: Recipe, other: Recipe) -> Iterator[tuple[str, Recipe]]:
    """Recipes near ``recipe``, each with what is said of it: without one step, one step twice, all
    twice, in the opposite order, raw, as the ``other`` side, at temperature 0. None is
    ``recipe``, and none comes twice."""
    whole = effective(recipe)
    if whole.one_hot:
        return
    seen = {whole.steps}
    for text, made in _candidates(whole, effective(other)):
        if made.steps not in seen and not made.one_hot:
            seen.add(made.steps)
            yield text, made


def _candidates(recipe: Recipe, other: Recipe) -> Iterator[tuple[str, Recipe]]:
    steps = recipe.steps
    if len(steps) > 1:
        for number, step in reversed(list(enumerate(steps))):
            yield f"without {step.name}", Recipe(steps[:number] + steps[number + 1 :])
    yield "without any processing", Recipe()
    if steps:
        yield "processed twice", Recipe(steps + steps)
        yield "processed in the opposite order", Recipe(steps[::-1])
    for number, step in enumerate(steps):
        yield f"with {step.name} applied twice", Recipe((*steps[: number + 1], *steps[number:]))
    yield "processed as the other side is", other
    yield "at temperature 0", Recipe(steps + _GREEDY)
