"""Steps over conditional models in a JSON capture: rows by prefix, and the shape of a proposal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specdist.errors import CaptureError
from specdist.model.capture import Step
from specdist.model.conditional import Models
from specdist.model.options import ProcessingOptions
from specdist.model.role import Role
from specdist.model.row import Row, Stage
from specdist.readers.json_lengths import LENGTH_KEY, read_length
from specdist.readers.json_positions import POSITION_KEYS, VOCABULARY_LIMIT, StepReading
from specdist.readers.json_rows import is_row
from specdist.readers.json_settings import (
    merged,
    object_at,
    read_role_recipes,
    read_settings,
    unknown_key,
)
from specdist.readers.json_step_facts import context_of, id_of, prompt_length_of
from specdist.readers.json_tables import (
    Tables,
    array_sizes,
    is_list_of_tables,
    read_table,
    row_count,
)
from specdist.readers.json_trees import TREE_KEYS, read_tree
from specdist.readers.naming import nearest, shorten
from specdist.readers.notes import clamp_notes
from specdist.readers.strict_json import join

MODEL_KEYS = ("models", *TREE_KEYS, LENGTH_KEY)
"""Keys of a step over conditional models beside those that every step may have."""
_AROUND = ("id", "context", "prompt_length", "settings", "roles")
_SIDES = ("target", "draft")
NUMBER_LIMIT = 2**24
"""Numbers in the tables of one step: rows that are maps have the size of the vocabulary."""


def read_model_step(
    step: dict[str, Any],
    path: str,
    index: int,
    reading: StepReading,
    extra_keys: tuple[str, ...] = (),
) -> Step:
    """One step with ``models``. Raises CaptureError or RowError with file and JSON path."""
    file = reading.rows.file
    _check_keys(step, path, reading, extra_keys)
    members = object_at(step["models"], join(path, "models"), file)
    for side in _SIDES:
        if side not in members:
            raise CaptureError(
                f"there is no {side} model",
                place=f"{file}, {join(path, 'models')}",
                expected="target and draft, each a row or a table of rows by prefix",
            )
    tables = Tables(join(path, "models"), _size(members, path, reading), reading.rows)
    models = _models(members, tables)
    context = context_of(step, path, reading.rows)
    return Step(
        id=id_of(step, path, index, file),
        source=f"{file}, {path}" if path else file,
        positions=(),
        context=context,
        prompt_length=prompt_length_of(step, path, context, file),
        options=_options(step, path, reading, models),
        vocab=reading.vocab,
        findings=(*reading.findings, *clamp_notes(_all_rows(models))),
        models=models,
        tree=read_tree(step, path, tables.size, reading.rows),
        length=read_length(step, path, tables.size, reading.rows),
    )


def without_models(key: str, path: str, file: str) -> CaptureError:
    """The error for a key that says something about models beside rows of single positions."""
    return CaptureError(
        f"{key} without models",
        place=f"{file}, {join(path, key)}",
        expected='"models" with the rows of target and draft by prefix',
        advice="specdist explain capture",
    )


def _check_keys(
    step: dict[str, Any], path: str, reading: StepReading, extra_keys: tuple[str, ...]
) -> None:
    file = reading.rows.file
    known = (*MODEL_KEYS, *_AROUND, *extra_keys)
    rows = ("positions", "bonus", *POSITION_KEYS)
    for key in step:
        if key in rows and key not in known:
            raise CaptureError(
                f"models and {key} are given together",
                place=f"{file}, {join(path, key)}",
                expected="either models with rows by prefix, or positions with their rows",
                advice="the bonus row is the target's row after all draft tokens"
                if key == "bonus"
                else "",
            )
        if key not in known:
            raise unknown_key(key, path, file, known)
    place = f"{file}, {path or 'top level'}"
    if reading.only is not None:
        raise CaptureError(
            "models hold both sides", place=place, expected="one capture: specdist check FILE"
        )
    if "draft_map" in step or reading.draft_map is not None or reading.draft_vocab is not None:
        raise CaptureError(
            "models and a draft with a vocabulary of its own are given together",
            place=place,
            expected="draft rows over the token ids of the target",
        )


def _models(members: dict[str, Any], tables: Tables) -> Models:
    roles = {_role(key, tables): key for key in members if key not in _SIDES}
    if len(roles) + len(_SIDES) != len(members):
        raise CaptureError(
            "a role has two tables, in two spellings", place=tables.rows.place(tables.path)
        )
    draft, where = members["draft"], join(tables.path, "draft")
    drafts = [(draft, where)]
    if is_list_of_tables(draft):
        drafts = [(item, f"{where}[{rank}]") for rank, item in enumerate(draft)]
    # Rows of a role are laws in themselves, as in positions.
    final = replace(tables, rows=replace(tables.rows, stage=Stage.PROCESSED))
    return Models(
        target=read_table(members["target"], join(tables.path, "target"), tables),
        drafts=tuple(read_table(item, place, tables) for item, place in drafts),
        roles={
            role: read_table(members[k], join(tables.path, k), final) for role, k in roles.items()
        },
    )


def _role(key: str, tables: Tables) -> Role:
    try:
        return Role(key.replace("-", "_"))
    except ValueError:
        raise CaptureError(
            f"there is no model or role {shorten(key)!r}",
            place=tables.rows.place(join(tables.path, key)),
            expected="target, draft, or a role",
            advice=nearest(key.replace("-", "_"), [*_SIDES, *(role.value for role in Role)]),
        ) from None


def _size(members: dict[str, Any], path: str, reading: StepReading) -> int:
    """The vocabulary size: what the capture says, else that of the first row that is an array."""
    found = (size for value in members.values() for size in array_sizes(value, reading.rows))
    size = reading.size or next(found, None)
    place = reading.rows.place(join(path, "models"))
    if size is None:
        raise CaptureError(
            "the size of the vocabulary is unknown",
            place=place,
            expected='"vocab" or "vocab_size" beside rows that are maps',
            advice="or pass --vocab-size",
        )
    if size > VOCABULARY_LIMIT:
        raise CaptureError(
            f"a vocabulary of {shorten(str(size), 24)} tokens",
            place=place,
            expected=f"at most {VOCABULARY_LIMIT} tokens in a JSON capture",
        )
    count = sum(row_count(value, reading.rows) for value in members.values())
    if count * size > NUMBER_LIMIT:
        raise CaptureError(
            f"{count} rows of {size} tokens",
            place=place,
            expected=f"at most {NUMBER_LIMIT} numbers in the models of a step",
            advice="a joint law is enumerated: rows by prefix are for small vocabularies",
        )
    return size


def _options(
    step: dict[str, Any], path: str, reading: StepReading, models: Models
) -> ProcessingOptions:
    file = reading.rows.file
    options = reading.options
    if path and "settings" in step:
        options = merged(options, read_settings(step["settings"], join(path, "settings"), file))
    if "roles" in step:
        where = join(path, "roles")
        recipes = object_at(step["roles"], where, file)
        for key, entry in recipes.items():
            if is_row(entry):
                raise CaptureError(
                    f"the role {shorten(key)} cannot be one row of a step over models",
                    place=f"{file}, {join(where, key)}",
                    expected="a recipe",
                    advice=f"rows of a role go beside target and draft: models.{shorten(key, 24)}",
                )
        roles = read_role_recipes(recipes, where, file)
        for role in models.roles:
            if role.value in roles:
                raise CaptureError(
                    f"the role {role.value} has a table in models, and a recipe",
                    place=f"{file}, {where}",
                    expected="one of them",
                )
        options = merged(options, ProcessingOptions(roles=roles))
    return options


def _all_rows(models: Models) -> list[Row]:
    tables = (models.target, *models.drafts, *models.roles.values())
    return [row for table in tables for row in table.every_row]
