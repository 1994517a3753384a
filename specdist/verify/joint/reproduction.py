"""The line to paste that shows a joint finding again, for models small enough to type."""

from __future__ import annotations

from collections.abc import Mapping

from specdist.model.capture import Step
from specdist.model.conditional import ConditionalRows, Models
from specdist.model.row import Kind, NumberFormat, RationalValues, Row, Stage
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.processing.recipe_layers import DEFAULT_RULE
from specdist.rules.lengths.chosen_length import ChosenLength
from specdist.verify.joint.joint_setup import JointSetup
from specdist.verify.plan import Plan
from specdist.verify.reproduction import LONGEST_NUMBER, LONGEST_ROW, captured_line

_MOST_NUMBERS = 120


def reproduction(
    step: Step, setup: JointSetup, plan: Plan, settings: CheckSettings, verdict: Verdict
) -> str | None:
    """A command with the same rows and settings, or None where it would be long or incomplete."""
    models = step.models
    if models is None:
        return None
    if step.context is not None or settings.history is not None or settings.draft_map is not None:
        return None
    rows = [row for table in _tables(models) for row in table.every_row]
    if not all(map(_short, rows)) or sum(row.size for row in rows) > _MOST_NUMBERS:
        return None
    kinds = {row.kind for row in rows}
    if len(kinds) != 1 or not _raw(models):
        return None
    options = _options(setup, plan, settings, verdict)
    if options is None:
        return None
    members = _members(models, setup)
    return captured_line(members, kinds.pop(), options)


def _tables(models: Models) -> list[ConditionalRows]:
    return [models.target, *models.drafts, *models.roles.values()]


def _short(row: Row) -> bool:
    if not isinstance(row.values, RationalValues) or row.size > LONGEST_ROW:
        return False
    exact = row.numbers is NumberFormat.DECIMAL or row.kind is not Kind.PROBABILITIES
    values = [value for value in row.values.values if value is not None]
    return exact and all(len(str(value)) <= LONGEST_NUMBER for value in values)


def _raw(models: Models) -> bool:
    own = [models.target, *models.drafts]
    return all(row.stage is Stage.RAW for table in own for row in table.every_row)


def _members(models: Models, setup: JointSetup) -> dict[str, object]:
    drafts = [_written(table) for table in models.drafts]
    tables: dict[str, object] = {
        "target": _written(models.target),
        "draft": drafts[0] if len(drafts) == 1 else drafts,
    }
    tables |= {role.value: _written(table) for role, table in models.roles.items()}
    tree = setup.tree
    members: dict[str, object] = {"models": tables}
    if tree.is_chain:
        members["draft_length"] = tree.nodes
    else:
        members["tree"] = {"parents": list(tree.parents)}
    if tree.siblings != "iid":
        members["siblings"] = tree.siblings
    if tree.duplicates != "separate":
        members["duplicates"] = tree.duplicates
    if tree.tokens is not None:
        members["draft_tokens"] = list(tree.tokens)
    if setup.length is not None:
        members["length"] = _length(setup.length)
    return members


def _length(chosen: ChosenLength) -> object:
    """The length rule with the tables that it reads, as a capture writes them."""
    tables, needed = chosen.tables, chosen.rule.tables
    found: dict[str, object] = {"rule": chosen.use.text}
    if "confidence" in needed:
        known = {_key(z): str(value) for z, value in tables.confidence.items()}
        rest = {} if tables.otherwise is None else {"default": str(tables.otherwise)}
        found["confidence"] = known | rest
    if "throughput" in needed and tables.throughput:
        found["throughput"] = {str(n): str(value) for n, value in tables.throughput.items()}
    if "previous" in needed and tables.previous:
        found["previous"] = [list(map(str, scores)) for scores in tables.previous]
    if "profile" in needed:
        found["profile"] = {_key(z): str(value) for z, value in tables.profile.items()}
    if "blocks" in needed:
        found["blocks"] = {
            _key(drafted): {_key(lengths): str(mass) for lengths, mass in law.items()}
            for (drafted,), law in tables.blocks.items()
        }
    return found["rule"] if len(found) == 1 else found


def _key(tokens: tuple[int, ...]) -> str:
    return ",".join(map(str, tokens))


def _written(table: ConditionalRows) -> object:
    if table.default is not None and not table.rows and not table.after:
        return _numbers(table.default)
    found: dict[str, object] = {}
    if table.rows:
        found["rows"] = {_key(z): _numbers(row) for z, row in table.rows.items()}
    if table.after:
        found["after"] = {str(token): _numbers(row) for token, row in table.after.items()}
    if table.default is not None:
        found["default"] = _numbers(table.default)
    return found


def _numbers(row: Row) -> list[str]:
    values = row.values
    if not isinstance(values, RationalValues):
        raise TypeError("only rows of fractions are typed")
    return ["-inf" if value is None else str(value) for value in values.values]


def _options(
    setup: JointSetup, plan: Plan, settings: CheckSettings, verdict: Verdict
) -> list[str] | None:
    """Rule, recipes and model as options; None for a role that is no recipe of its side."""
    import shlex

    recipes = plan.recipes
    options = []
    if str(recipes.target) != "raw":
        options.append(f"--recipe {shlex.quote(str(recipes.target))}")
    if recipes.draft != recipes.target:
        options.append(f"--draft-recipe {shlex.quote(str(recipes.draft))}")
    for role, recipe in recipes.recipes.items():
        if role in recipes.given:
            options.append(f"--role {shlex.quote(f'{role.value}={recipe}')}")
    if setup.use.text != DEFAULT_RULE:
        options.append(f"--rule {shlex.quote(setup.use.text)}")
    options += [f"--{name} {shlex.quote(text)}" for name, text in _flags(plan.model).items()]
    options += ["--unnormalised"] if "unnormalised" in plan.model else []
    options += [f"--horizon {settings.horizon}"] if settings.horizon is not None else []
    if verdict is Verdict.WITHIN_TOLERANCE:
        options.append(f"--max-tv {settings.max_tv}")
    return options


def _flags(model: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in model.items() if name != "unnormalised"}
