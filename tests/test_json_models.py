"""Steps over conditional models in JSON captures: every form, every bad form, and the schema."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from specdist.errors import SpecdistError
from specdist.model.capture import Step
from specdist.model.conditional import ConditionalRows
from specdist.model.draft_tree import DraftTree
from specdist.model.role import Role
from specdist.model.row import Kind, Stage
from specdist.readers.json_trees import NODE_LIMIT
from tests.cli import run
from tests.reader_files import ROOT, read_one, values, write

P, Q, R = ["1/2", "3/10", "1/5"], ["1/5", "1/2", "3/10"], ["0", "1/4", "3/4"]
EXACT = {
    "P": [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)],
    "Q": [Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)],
    "R": [Fraction(0), Fraction(1, 4), Fraction(3, 4)],
}
SCHEMA = ROOT.parent / "specdist" / "schemas" / "capture.schema.json"


def step(**members: Any) -> dict[str, Any]:
    """A chain of two over constant rows; a member of None is left out."""
    found = {"models": {"target": P, "draft": Q}, "draft_length": 2, **members}
    return {key: value for key, value in found.items() if value is not None}


def models(**tables: Any) -> dict[str, Any]:
    return step(models={"target": P, "draft": Q, **tables})


def tree(shape: Any, **members: Any) -> dict[str, Any]:
    return step(draft_length=None, tree=shape, **members)


def steps_of(folder: Path, document: Any, **reading: Any) -> list[Step]:
    text = document if isinstance(document, str) else json.dumps(document)
    return read_one(write(folder, "capture.json", text), **reading)[1]


def tables_of(folder: Path, document: Any) -> dict[str, ConditionalRows]:
    (found,) = steps_of(folder, document)
    assert found.models is not None
    drafts = {f"draft{rank}": table for rank, table in enumerate(found.models.drafts)}
    roles = {role.value: table for role, table in found.models.roles.items()}
    return {"target": found.models.target, **drafts, **roles}


# ---- what is read -----------------------------------------------------------------------------


def test_constant_rows_hold_after_every_prefix(tmp_path: Path) -> None:
    (found,) = steps_of(tmp_path, step())
    assert (found.positions, found.tree) == ((), DraftTree((-1, 0)))
    assert found.models is not None
    assert found.models.size == 3
    for prefix in ((), (0,), (2, 1), (1, 1, 1)):
        assert values(found.models.target.row(prefix)) == EXACT["P"]
        assert values(found.models.draft().row(prefix)) == EXACT["Q"]
    assert found.models.target.place == f"{tmp_path}/capture.json, models.target"


def test_the_most_particular_row_is_taken(tmp_path: Path) -> None:
    rows = {"rows": {"": P, "0,1": Q}, "after": {"1": R}, "default": P}
    table = tables_of(tmp_path, models(target=rows))["target"]
    for prefix, name in (((), "P"), ((0, 1), "Q"), ((1,), "R"), ((0, 0, 1), "R"), ((0,), "P")):
        assert values(table.row(prefix)) == EXACT[name], prefix
    place = f'{tmp_path}/capture.json, models.target.rows["0,1"]'
    assert table.row((0, 1)).place == place


def test_last_tokens_by_text_and_ids_first(tmp_path: Path) -> None:
    named = {"after": {"a": P, "1": Q}, "default": R}
    table = tables_of(tmp_path, {**models(draft=named), "vocab": ["a", "0", "1"]})["draft0"]
    assert values(table.row((0,))) == EXACT["P"]
    assert values(table.row((1,))) == EXACT["Q"]  # the id 1, not the token whose text is "1"
    assert values(table.row((2,))) == EXACT["R"]


def test_a_row_may_be_a_map_of_texts_that_look_like_a_table(tmp_path: Path) -> None:
    document = {**models(target={"default": "1/4", "rows": "3/4"}, draft={"one_hot": 1}),
                "vocab": ["default", "rows", "after"]}  # fmt: skip
    found = tables_of(tmp_path, document)
    assert values(found["target"].row((1,))) == [Fraction(1, 4), Fraction(3, 4), Fraction(0)]
    assert found["draft0"].row(()).size == 3


def test_several_drafters_and_roles_of_their_own(tmp_path: Path) -> None:
    tables = tables_of(
        tmp_path,
        {
            **models(draft=[Q, {"default": R}], **{"accept-draft": {"rows": {"": R}}}),
            "kind": "probabilities",
        },
    )
    assert values(tables["draft0"].row(())) == EXACT["Q"]
    assert values(tables["draft1"].row(())) == EXACT["R"]
    row = tables[Role.ACCEPT_DRAFT.value].row(())
    assert (row.stage, values(row)) == (Stage.PROCESSED, EXACT["R"])


def test_numbers_of_the_header_hold_for_tables(tmp_path: Path) -> None:
    document = {**models(target=[0, 1.5, "-inf"]), "kind": "logits", "stage": "temperature"}
    row = tables_of(tmp_path, document)["target"].row(())
    assert (row.kind, row.stage) == (Kind.LOGITS, Stage.TEMPERATURE)
    assert values(row) == [Fraction(0), Fraction(3, 2), None]


SHAPES: list[tuple[dict[str, Any], DraftTree]] = [
    (step(draft_length=1), DraftTree((-1,))),
    (step(draft_length=3, siblings="top"), DraftTree((-1, 0, 1), "top")),
    (tree({"children": [2, 1]}), DraftTree((-1, -1, 0, 1))),
    (tree({"children": [1, 2]}, duplicates="merged"), DraftTree((-1, 0, 0), "iid", "merged")),
    (tree({"parents": [-1, 0, 0, -1]}, siblings="hub"), DraftTree((-1, 0, 0, -1), "hub")),
    (step(draft_tokens=[0, 2]), DraftTree((-1, 0), "given", tokens=(0, 2))),
    (
        tree({"children": [2]}, siblings="given", draft_tokens=[1, 1]),
        DraftTree((-1, -1), "given", tokens=(1, 1)),
    ),
    (tree({"parents": [-1] * NODE_LIMIT}), DraftTree((-1,) * NODE_LIMIT)),
]  # fmt: skip


@pytest.mark.parametrize(("document", "shape"), SHAPES, ids=str)
def test_shapes(document: dict[str, Any], shape: DraftTree, tmp_path: Path) -> None:
    assert steps_of(tmp_path, document)[0].tree == shape


def test_steps_lines_and_settings(tmp_path: Path) -> None:
    plain = {"target": P, "draft": Q}
    own = step(id="x", settings={"temperature": 2}, roles={"accept_draft": "raw"}, context=[5, 6])
    found = steps_of(tmp_path, {"settings": {"rule": "token"}, "steps": [plain, own, step()]})
    assert [bool(s.models) for s in found] == [False, True, True]
    assert (found[1].id, found[1].context) == ("x", (5, 6))
    assert found[1].options.target == {"temperature": "2"}
    assert found[1].options.roles == {Role.ACCEPT_DRAFT: "raw"}
    assert found[1].options.rule == "token"
    header = json.dumps({"schema": "specdist.capture/1", "vocab": ["a", "b", "c"]})
    lines = "\n".join([header, json.dumps(step()), json.dumps({"steps": [own]})])
    again = read_one(write(tmp_path, "c.jsonl", lines))[1]
    assert [s.models is not None for s in again] == [True, True]
    assert [s.tree for s in again] == [DraftTree((-1, 0))] * 2


def test_a_step_may_leave_its_shape_to_the_command_line(tmp_path: Path) -> None:
    path = write(tmp_path, "capture.json", json.dumps(step(draft_length=None)))
    assert steps_of(tmp_path, step(draft_length=None))[0].tree is None
    refused = run("check", path)
    assert refused.code == 2
    assert "the shape of the proposal is missing" in refused.stderr
    assert run("check", path, "--draft-length", 2).code == 0


# ---- the schema agrees -------------------------------------------------------------------------

DOCUMENTS: list[Any] = [
    *(document for document, _ in SHAPES),
    step(draft_length=None),
    {**step(), "vocab": ["a", "b", "c"], "kind": "probabilities", "settings": {"top_p": "9/10"}},
    models(target={"rows": {"": P, "0,12": P}}, draft={"after": {"2": Q}, "rows": {}})
    | {"vocab_size": 13, "models": {"target": {"rows": {"": {"0": 1}, "0,12": {"1": 1}}},
                                    "draft": {"after": {"2": {"2": 1}}, "rows": {}}}},
    models(draft=[Q, P, {"default": {"one_hot": 1}}]),
    models(accept_target=P, **{"residual-draft": {"default": Q}}),
    step(roles={"drafted_from": "top-p:9/10"}, context=[1], prompt_length=1, id=7),
    {"steps": [step(), {"target": P, "draft": Q}, step(id="b")]},
    step(length="fixed:1"),
    step(length={"rule": "stop-after:1/4", "confidence": {"": "4/5", "0": 1, "default": "1/2"}}),
    step(length={"blocks": {"0,1": 2, "1,1": {"0": "1/2", "1": "1/2"}}}),
    {"requests": [step(confidence={"": 1}), step()], "schedule": "fixed:1"},
    {"steps": [{"requests": [step()], "schedule": {"rule": "fixed:1", "throughput": {"2": 1}}}]},
]  # fmt: skip

BAD: list[tuple[Any, str, str]] = [
    # document, its place after the file name, a part of the message
    (models(target={}), "models.target", "a table without any row"),
    (models(target={"rows": {}, "after": {}}), "models.target", "a table without any row"),
    (models(draft=[]), "models.draft", "the row is empty"),
    (models(draft=[Q, 2]), "models.draft[1]", "a row cannot be a number"),
    (models(target={"rows": {"a": P}}), 'models.target.rows["a"]', "'a' is no prefix"),
    (models(target={"rows": {"0, 1": P}}), 'models.target.rows["0, 1"]', "no prefix"),
    (models(target={"rows": {"00": P}}), 'models.target.rows["00"]', "no prefix"),
    (models(target={"rows": {"-1": P}}), 'models.target.rows["-1"]', "no prefix"),
    (models(target={"rows": {"0,": P}}), 'models.target.rows["0,"]', "no prefix"),
    (models(target={"default": P, "dflt": P}), "models.target", "unknown key 'dflt'"),
    (models(target={"after": P}), "models.target.after", "expected an object"),
    (models(acept_draft=P), "models.acept_draft", "no model or role 'acept_draft'"),
    (step(models={"draft": Q}), "models", "there is no target model"),
    (step(models={"target": Q}), "models", "there is no draft model"),
    (step(models=[]), "models", "expected an object"),
    (step(draft_length=0), "draft_length", "draft_length cannot be 0"),
    (step(draft_length=-1), "draft_length", "draft_length cannot be -1"),
    (step(draft_length="2"), "draft_length", "draft_length cannot be a text"),
    (step(draft_length=True), "draft_length", "draft_length cannot be true"),
    (step(draft_length=1.5), "draft_length", "draft_length cannot be a number"),
    (step(draft_length=NODE_LIMIT + 1), "draft_length", f"more than {NODE_LIMIT} draft tokens"),
    ({**step(), "draft_length": None}, "draft_length", "draft_length cannot be null"),
    ({**step(), "siblings": None}, "siblings", "siblings cannot be null"),
    (step(tree={"children": [1]}), "top level", "draft_length and tree are given together"),
    (tree({}), "tree", "the tree is empty"),
    (tree([2, 1]), "tree", "expected an object"),
    (tree({"children": [1], "parents": [-1]}), "tree", "children and parents are given together"),
    (tree({"child": [1]}), "tree", "unknown key 'child'"),
    (tree({"children": []}), "tree.children", "children cannot be empty"),
    (tree({"children": 2}), "tree.children", "children cannot be a number"),
    (tree({"children": [2, 0]}), "tree.children[1]", "cannot be 0"),
    (tree({"children": [-2]}), "tree.children[0]", "cannot be -2"),
    (tree({"children": ["2"]}), "tree.children[0]", "cannot be a text"),
    (tree({"parents": []}), "tree.parents", "parents cannot be empty"),
    (tree({"parents": ["-1"]}), "tree.parents[0]", "parent of node 0 cannot be a text"),
    (tree({"parents": [-2]}), "tree.parents[0]", "node 0 has the parent -2"),
    (tree({"parents": [-1] * (NODE_LIMIT + 1)}), "tree.parents", f"more than {NODE_LIMIT}"),
    (step(siblings="without-replacment"), "siblings", "siblings cannot be 'without-replacment'"),
    (step(siblings=2), "siblings", "siblings cannot be a number"),
    (step(duplicates="both"), "duplicates", "duplicates cannot be 'both'"),
    (step(siblings="given"), "top level", "there are no draft_tokens"),
    (step(siblings="top", draft_tokens=[0, 1]), "draft_tokens", "siblings are top"),
    (step(draft_tokens=[0, "1"]), "draft_tokens[1]", "a token id cannot be a text"),
    (step(draft_tokens=[0, -1]), "draft_tokens[1]", "token id -1 is outside"),
    (step(draft_length=None, siblings="iid"), "siblings", "siblings without a shape"),
    (step(positions=[]), "positions", "models and positions are given together"),
    (step(bonus=P), "bonus", "models and bonus are given together"),
    (step(target=P), "target", "models and target are given together"),
    (step(draft_map=[0, 1, 2]), "top level", "a vocabulary of its own"),
    (step(drft_length=2), "top level", "unknown key 'drft_length'"),
    ({"target": P, "draft": Q, "draft_length": 2}, "draft_length", "draft_length without models"),
    ({"steps": [step()], "draft_length": 2}, "top level", "unknown key 'draft_length'"),
    ({"steps": [step(vocab=["a", "b", "c"])]}, "steps[0]", "unknown key 'vocab'"),
]  # fmt: skip

BEYOND: list[tuple[Any, str, str]] = [
    # refused by the reader, and more than the schema says
    (step(roles={"drafted_from": Q}), "roles.drafted_from", "one row of a step over models"),
    (models(draft=["1/2", "1/2"]), "models.draft", "this row has 2 numbers, the vocabulary 3"),
    (models(target={"rows": {"": P, "0": ["1", "0"]}}), 'models.target.rows["0"]', "2 numbers"),
    (models(target={"rows": {"0,3": P}}), 'models.target.rows["0,3"]', "token id 3 is outside"),
    (models(target={"after": {"3": P}}), 'models.target.after["3"]', "token id 3 is outside"),
    (models(target={"after": {"x": P}}), 'models.target.after["x"]', "neither a token id nor"),
    (tree({"parents": [-1, 5]}), "tree.parents[1]", "node 1 has the parent 5"),
    (tree({"parents": [0]}), "tree.parents[0]", "node 0 never reaches the root: 0 -> 0"),
    (tree({"parents": [-1, 3, 1, 2]}), "tree.parents[1]", "1 -> 3 -> 2 -> 1 is a cycle"),
    (tree({"parents": [-1, 2, 3, 2]}), "tree.parents[1]", "2 -> 3 -> 2 is a cycle"),
    (tree({"parents": [1, -1]}), "tree.parents[0]", "node 0 stands before its parent, node 1"),
    (tree({"children": [300]}), "tree.children", f"more than {NODE_LIMIT} draft tokens"),
    (tree({"children": [10**9] * 9}), "tree.children", f"more than {NODE_LIMIT} draft tokens"),
    (step(draft_tokens=[0]), "draft_tokens", "2 nodes, draft_tokens has 1 token"),
    (step(draft_tokens=[0, 3]), "draft_tokens[1]", "token id 3 is outside"),
    (
        {**models(target={"after": {"a": P, "0": P}}), "vocab": ["a", "b", "c"]},
        'models.target.after["0"]',
        "token 0 occurs twice",
    ),
    (
        step(models={"target": {"0": 1}, "draft": {"1": 1}}),
        "models",
        "the size of the vocabulary is unknown",
    ),
    (
        models(accept_draft=P, **{"accept-draft": P}),
        "models",
        "a role has two tables, in two spellings",
    ),
]  # fmt: skip


def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_schema_and_reader_accept(document: Any, tmp_path: Path) -> None:
    validator().validate(document)
    assert steps_of(tmp_path, document)


@pytest.mark.parametrize(("document", "place", "message"), BAD + BEYOND, ids=str)
def test_the_reader_names_file_path_and_what_is_wrong(
    document: Any, place: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecdistError) as error:
        steps_of(tmp_path, document)
    assert error.value.place == f"{tmp_path}/capture.json, {place}"
    assert message in error.value.message
    said = error.value.message + error.value.expected + error.value.advice
    assert "expected" in said or error.value.expected or error.value.advice or "tw" in message


@pytest.mark.parametrize("document", [document for document, _, _ in BAD], ids=str)
def test_the_schema_refuses_too(document: Any) -> None:
    assert not validator().is_valid(document)


def test_the_same_key_twice(tmp_path: Path) -> None:
    text = '{"models": {"target": {"rows": {"0": [1, 0], "0": [0, 1]}}, "draft": [1, 0]}}'
    with pytest.raises(SpecdistError, match="the key '0' occurs twice"):
        steps_of(tmp_path, text)


def test_rows_by_the_thousand_over_a_large_vocabulary(tmp_path: Path) -> None:
    rows = {str(token): {"0": 1} for token in range(200)}
    document = {**models(target={"rows": rows}, draft={"0": 1}), "vocab_size": 2**19}
    with pytest.raises(SpecdistError, match=f"202 rows of {2**19} tokens"):
        steps_of(tmp_path, document)


def test_one_side_of_a_pair_cannot_be_models(tmp_path: Path) -> None:
    path = write(tmp_path, "capture.json", json.dumps(step()))
    result = run("check", "--target", path, "--draft", path)
    assert result.code == 2
    assert "models hold both sides" in result.stderr


def test_bad_models_exit_2_with_the_place(tmp_path: Path) -> None:
    path = write(tmp_path, "capture.json", json.dumps(tree({"parents": [-1, 2, 1]})))
    result = run("check", path)
    assert (result.code, result.stdout) == (2, "")
    assert "node 1 never reaches the root: 1 -> 2 -> 1 is a cycle" in result.stderr
    assert f"--> {path}, tree.parents[1]" in " ".join(result.stderr.split())


# ---- what only the enumeration meets -----------------------------------------------------------


def checked(folder: Path, document: Any, *options: object) -> Any:
    path = write(folder, "capture.json", json.dumps(document))
    return run("check", path, "--format", "json", *options)


def test_the_first_missing_prefix_is_named(tmp_path: Path) -> None:
    rows = {"": P, "0": P, "2": P, "2,0": P}  # "1" is missing, and more below it
    result = checked(tmp_path, models(target={"rows": rows}))
    assert result.code == 2
    assert 'no row for the prefix "1"' in result.stderr
    assert "models.target" in result.stderr


def test_rows_of_impossible_prefixes_are_counted(tmp_path: Path) -> None:
    rows = {"": R, "1": P, "2": P, "0": P, "0,0": P}
    full = {**rows, **{f"{a},{b}": P for a in range(3) for b in range(3)}}
    result = checked(tmp_path, models(target={"rows": full}, draft=R))
    assert result.code == 0
    # Neither model can begin with token 0; after 1 or 2 the target can emit it.
    assert result.json()["steps"][0]["joint"]["unused_rows"] == len(["0", "0,0", "0,1", "0,2"])


@pytest.mark.parametrize("drafters", [2, 4])
def test_drafters_that_do_not_fit_the_ranks(drafters: int, tmp_path: Path) -> None:
    document = tree({"children": [3]}) | {"models": {"target": P, "draft": [Q] * drafters}}
    result = checked(tmp_path, document, "--rule", "target-only")
    assert result.code == 2
    assert f"there are {drafters} drafters, and the most siblings are 3" in result.stderr
    assert f"models.draft[{drafters - 1}]" in result.stderr


def test_draft_tokens_of_the_capture_that_do_not_fit_the_command_line(tmp_path: Path) -> None:
    document = step(draft_tokens=[0, 2])
    result = checked(tmp_path, document, "--draft-length", 3)
    assert result.code == 2
    assert "3 nodes, and 2 draft tokens are given" in " ".join(result.stderr.split())
    assert checked(tmp_path, document, "--draft-length", 3, "--siblings", "iid").code == 0


def test_inspect_shows_models(tmp_path: Path) -> None:
    document = tree({"children": [2, 1]}, siblings="without-replacement") | {
        "models": {
            "target": {"rows": {"": P, "0": P}, "after": {"1": P}, "default": P},
            "draft": [Q, {"default": P}],
            "accept_draft": Q,
        }
    }
    result = run("inspect", write(tmp_path, "capture.json", json.dumps(document)))
    assert result.code == 0
    text = " ".join(result.stdout.split())
    for fact in (
        "vocabulary size 3",
        "rows of target 2 prefixes, 1 last token, a default row",
        "drafters 2, one for each rank",
        "rows of draft, rank 0 one row, whatever the prefix",
        "rows of role accept_draft one row, whatever the prefix",
        "a tree of 4 draft tokens, siblings without-replacement",
        "2 under the root, 1 under node 0, 1 under node 1",
        "siblings without-replacement",
        "proposals 54",  # two of three without replacement, and any token below each: 6 * 9
    ):
        assert fact in text, text
