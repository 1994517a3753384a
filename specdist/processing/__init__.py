"""Processing: ordered recipes that turn a captured row into the distribution of a role."""

from specdist.model.step_forms import Option
from specdist.processing.apply import apply_recipe
from specdist.processing.context import Processed, RowContext, TokenHistory
from specdist.processing.processor import Processor
from specdist.processing.recipe import build_recipe, parse_recipe
from specdist.processing.recipe_layers import (
    StepRecipes,
    parse_role,
    resolve_recipes,
    role_recipe,
)
from specdist.processing.registry import PROCESSORS, processor_named
from specdist.processing.working_row import Remark

__all__ = [
    "PROCESSORS",
    "Option",
    "Processed",
    "Processor",
    "Remark",
    "RowContext",
    "StepRecipes",
    "TokenHistory",
    "apply_recipe",
    "build_recipe",
    "parse_recipe",
    "parse_role",
    "processor_named",
    "resolve_recipes",
    "role_recipe",
]
