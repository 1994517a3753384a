"""From layers of options to the seven roles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specdist.errors import SettingsError
from specdist.model.options import ProcessingOptions as Options
from specdist.model.preset import Preset
from specdist.model.role import DRAFT_ROLES, TARGET_ROLES, Role
from specdist.processing import (
    StepRecipes,
    parse_recipe,
    parse_role,
    resolve_recipes,
    role_recipe,
)


def sides(*layers: Options) -> tuple[str, str]:
    made = resolve_recipes(layers)
    return str(made.target), str(made.draft)


def test_nothing_is_raw_for_every_role() -> None:
    for layers in ([], [Options()], [Options(), Options()]):
        made = resolve_recipes(layers)
        assert made == StepRecipes(
            dict.fromkeys(Role, parse_recipe("raw")), "token", parse_recipe("raw"),
            parse_recipe("raw"),
        )  # fmt: skip


def test_later_layers_win_per_processor() -> None:
    preset = Options(target={"temperature": "1", "top_k": "50"})
    command_line = Options(target={"temperature": "1/2", "top-p": "9/10"})
    assert sides(preset, command_line)[0] == "temperature:1/2,top-k:50,top-p:9/10"
    assert sides(command_line, preset)[0] == "temperature:1,top-k:50,top-p:9/10"


def test_the_draft_side_is_the_target_side_with_its_own_options_on_top() -> None:
    layer = Options(target={"temperature": "1", "top_k": "50"}, draft={"temperature": "1/2"})
    assert sides(layer) == ("temperature:1,top-k:50", "temperature:1/2,top-k:50")
    more = Options(draft={"min_p": "1/10"})
    assert sides(layer, more)[1] == "temperature:1/2,min-p:1/10,top-k:50"


def test_a_draft_option_stays_when_a_later_layer_changes_the_target() -> None:
    first = Options(target={"temperature": "1"}, draft={"temperature": "1/2"})
    assert sides(first, Options(target={"temperature": "2"})) == (
        "temperature:2",
        "temperature:1/2",
    )


def test_a_recipe_replaces_the_target_options_and_recipes_of_earlier_layers() -> None:
    first = Options(target={"temperature": "1", "top_k": "50"})
    second = Options(recipe="top-p:1/2,temperature:3")
    assert sides(first, second) == ("top-p:1/2,temperature:3", "top-p:1/2,temperature:3")
    assert sides(first, second, Options(recipe="raw"))[0] == "raw"


def test_a_named_option_replaces_the_step_of_a_recipe_where_it_stands() -> None:
    first = Options(recipe="top-p:1/2,temperature:3,top-k:4")
    second = Options(target={"temperature": "1/2", "top_k": "9:ties=lowest-id"})
    assert sides(first, second)[0] == "top-p:1/2,temperature:1/2,top-k:9:ties=lowest-id"
    twice = Options(recipe="temperature:3,top-k:4,temperature:3")
    assert sides(twice, Options(target={"T": "2"}))[0] == "temperature:2,top-k:4,temperature:2"


def test_a_named_option_without_a_place_in_the_recipe_is_refused() -> None:
    first = Options(recipe="top-p:1/2")
    with pytest.raises(SettingsError, match="temperature has no place in the recipe") as raised:
        resolve_recipes([first, Options(target={"temperature": "1/2"})])
    assert "write --recipe with temperature" in raised.value.advice
    with pytest.raises(SettingsError, match="no place in the recipe") as raised:
        resolve_recipes([first, Options(draft={"temperature": "1/2"})])
    assert "write --draft-recipe with temperature" in raised.value.advice
    with pytest.raises(SettingsError, match="no place in the recipe 'raw'"):
        resolve_recipes([Options(recipe="raw"), Options(target={"temperature": "1/2"})])


def test_a_draft_option_changes_its_step_of_the_target_s_recipe() -> None:
    layers = [Options(recipe="top-p:1/2,temperature:3"), Options(draft={"temperature": "1/2"})]
    assert sides(*layers) == ("top-p:1/2,temperature:3", "top-p:1/2,temperature:1/2")
    assert sides(Options(draft={"temperature": "1/2"}), Options(recipe="temperature:3"))[1] == (
        "temperature:1/2"
    )


def test_a_draft_recipe_replaces_the_draft_side() -> None:
    first = Options(target={"temperature": "1"}, draft={"top_k": "5"})
    second = Options(draft_recipe="temperature:1/2")
    assert sides(first, second) == ("temperature:1", "temperature:1/2")
    third = Options(target={"temperature": "3"}, draft={"temperature": "1/4"})
    assert sides(first, second, third) == ("temperature:3", "temperature:1/4")
    assert sides(second, Options(recipe="top-k:3")) == ("top-k:3", "temperature:1/2")
    with pytest.raises(SettingsError, match="top-k has no place") as raised:
        resolve_recipes([second, Options(draft={"top_k": "4"})])
    assert "--draft-recipe" in raised.value.advice


def test_a_recipe_and_named_options_in_one_layer_are_refused() -> None:
    with pytest.raises(SettingsError, match="recipe and temperature, top_k are given together"):
        resolve_recipes([Options(recipe="raw", target={"top_k": "1", "temperature": "1"})])
    with pytest.raises(SettingsError, match="draft-recipe and top_k are given together"):
        resolve_recipes([Options(draft_recipe="raw", draft={"top_k": "1"})])
    assert sides(Options(recipe="top-k:2", draft={"top_k": "1"})) == ("top-k:2", "top-k:1")
    assert sides(Options(draft_recipe="raw", target={"top_k": "1"})) == ("top-k:1", "raw")


def test_roles_get_the_recipe_of_their_side() -> None:
    made = resolve_recipes([Options(target={"temperature": "1/2"}, draft={"temperature": "1/3"})])
    assert {made.recipes[role] for role in TARGET_ROLES} == {made.target}
    assert {made.recipes[role] for role in DRAFT_ROLES} == {made.draft}
    assert set(made.recipes) == set(Role)
    assert made.target != made.draft


def test_a_role_s_recipe_replaces_that_role_only() -> None:
    first = Options(target={"temperature": "1/2"}, roles={Role.DRAFTED_FROM: "top-p:9/10"})
    made = resolve_recipes([first])
    assert str(made.recipes[Role.DRAFTED_FROM]) == "top-p:9/10"
    others = [role for role in Role if role is not Role.DRAFTED_FROM]
    assert {str(made.recipes[role]) for role in others} == {"temperature:1/2"}
    second = Options(roles={Role.DRAFTED_FROM: "raw", Role.BONUS_FROM: "top-k:1"})
    made = resolve_recipes([first, second])
    assert str(made.recipes[Role.DRAFTED_FROM]) == "raw"
    assert str(made.recipes[Role.BONUS_FROM]) == "top-k:1"
    assert str(made.recipes[Role.REFERENCE]) == "temperature:1/2"


def test_one_hot_only_where_a_draft_is_tested() -> None:
    for role in Role:
        if role in (Role.ACCEPT_DRAFT, Role.RESIDUAL_DRAFT):
            assert role_recipe(role, "one-hot").one_hot
        else:
            with pytest.raises(SettingsError, match=f"role {role.value} cannot be one-hot"):
                resolve_recipes([Options(roles={role: "one-hot"})])
    for layer in (Options(recipe="one-hot"), Options(draft_recipe="one-hot")):
        with pytest.raises(SettingsError, match="one-hot is the recipe of a role"):
            resolve_recipes([layer])


def test_roles_by_name() -> None:
    assert parse_role("accept_draft") is parse_role("accept-draft") is Role.ACCEPT_DRAFT
    with pytest.raises(SettingsError, match="unknown role 'acept_draft'") as raised:
        parse_role("acept_draft")
    assert "'accept_draft'" in raised.value.advice
    assert raised.value.expected.startswith("one of reference, ")


def test_the_last_rule_wins() -> None:
    layers = [Options(rule="block"), Options(), Options(target={"temperature": "1"})]
    assert resolve_recipes(layers).rule == "block"
    assert resolve_recipes([*layers, Options(rule="token")]).rule == "token"
    assert resolve_recipes([Options()]).rule == "token"


def test_a_wrong_option_is_found_whichever_layer_wins() -> None:
    for wrong in (
        Options(target={"temprature": "1"}),
        Options(draft={"temprature": "1"}),
        Options(recipe="temprature:1"),
        Options(draft_recipe="temprature:1"),
        Options(roles={Role.REFERENCE: "temprature:1"}),
    ):
        with pytest.raises(SettingsError, match="unknown processor 'temprature'"):
            resolve_recipes([wrong])


def test_off_removes_a_named_option() -> None:
    first = Options(target={"temperature": "1/2", "top_k": "3"}, draft={"min_p": "1/10"})
    assert sides(first, Options(target={"top-k": "off"})) == (
        "temperature:1/2",
        "temperature:1/2,min-p:1/10",
    )
    assert sides(first, Options(draft={"top_k": " off ", "min_p": "off"})) == (
        "temperature:1/2,top-k:3",
        "temperature:1/2",
    )
    again = [first, Options(target={"top_k": "off"}), Options(target={"top_k": "9"})]
    assert sides(*again)[0] == "temperature:1/2,top-k:9"


def test_off_takes_a_step_out_of_an_earlier_recipe() -> None:
    recipe = Options(recipe="top-k:3,temperature:1/2,top-k:3")
    assert sides(recipe, Options(target={"top_k": "off"}))[0] == "temperature:1/2"
    assert sides(recipe, Options(target={"top_p": "off"}))[0] == str(parse_recipe(recipe.recipe))


PRESET = Preset(
    name="made-up",
    title="an engine for tests",
    version="1",
    sources=("nowhere",),
    rule="token",
    ordinary=("repetition-penalty:scope=output", "temperature", "min-p", "top-k:ties=lowest-id"),
    verified=("repetition-penalty:scope=output:drafts=frozen", "temperature"),
    bonus=("temperature", "top-k:ties=lowest-id"),
    drafted=("temperature", "temperature", "top-p:0.9"),
    tested=("temperature",),
    unset={"top-k": "50"},
    refuses={"min-p": "verified rows have none", "eta": "there is none"},
)


def by_role(*layers: Options, preset: Preset = PRESET) -> dict[str, str]:
    made = resolve_recipes(layers, preset)
    return {role.value: str(recipe) for role, recipe in made.recipes.items()}


def test_values_go_where_the_engine_has_a_place_for_them() -> None:
    layer = Options(target={"T": "1/2", "min_p": "1/10", "repetition-penalty": "6/5"})
    assert by_role(layer) == {
        "reference": "repetition-penalty:6/5:scope=output,temperature:1/2,min-p:1/10,"
        "top-k:50:ties=lowest-id",
        "accept_target": "repetition-penalty:6/5:scope=output:drafts=frozen,temperature:1/2",
        "residual_target": "repetition-penalty:6/5:scope=output:drafts=frozen,temperature:1/2",
        "bonus_from": "temperature:1/2,top-k:50:ties=lowest-id",
        "drafted_from": "temperature:1/2,temperature:1/2,top-p:9/10",
        "accept_draft": "temperature:1/2",
        "residual_draft": "temperature:1/2",
    }
    made = resolve_recipes([layer], PRESET)
    assert (str(made.target), str(made.draft)) == (
        by_role(layer)["reference"],
        by_role(layer)["drafted_from"],
    )
    assert made.given == frozenset()


def test_without_values_the_rows_are_raw_but_for_what_stands_by_itself() -> None:
    roles = by_role(Options(target={"top_k": "off"}))
    assert set(roles.values()) == {"raw", "top-p:9/10"}
    assert roles["drafted_from"] == "top-p:9/10"


def test_options_that_the_user_writes_win_over_conventions() -> None:
    layer = Options(target={"top_k": "3:ties=all", "repetition_penalty": "2:scope=all"})
    assert by_role(layer)["reference"] == "repetition-penalty:2,top-k:3"
    assert by_role(layer)["accept_target"] == "repetition-penalty:2:drafts=frozen"
    assert by_role(layer)["bonus_from"] == "top-k:3"


def test_draft_options_stand_on_top_of_the_targets() -> None:
    layer = Options(target={"temperature": "1/2"}, draft={"temperature": "2"})
    roles = by_role(layer)
    assert roles["drafted_from"] == "temperature:2,temperature:2,top-p:9/10"
    assert roles["accept_draft"] == "temperature:2"
    assert roles["bonus_from"] == "temperature:1/2,top-k:50:ties=lowest-id"
    assert by_role(Options(target={"T": "1/2"}, draft={"T": "off"}))["accept_draft"] == "raw"


def test_a_one_hot_test_is_the_preset_s() -> None:
    roles = by_role(Options(target={"T": "1/2"}), preset=replace(PRESET, tested="one-hot"))
    assert (roles["accept_draft"], roles["residual_draft"]) == ("one-hot", "one-hot")


def test_a_recipe_replaces_all_roles_of_its_side() -> None:
    roles = by_role(Options(recipe="top-k:3,temperature:1/2"))
    assert {roles[role.value] for role in TARGET_ROLES} == {"top-k:3,temperature:1/2"}
    assert roles["drafted_from"] == "temperature:1/2,temperature:1/2,top-p:9/10"
    roles = by_role(Options(target={"T": "3"}, draft_recipe="top-k:3"))
    assert {roles[role.value] for role in DRAFT_ROLES} == {"top-k:3"}
    assert roles["accept_target"] == "temperature:3"
    later = Options(recipe="top-k:3"), Options(target={"top_k": "4"})
    assert by_role(*later)["bonus_from"] == "top-k:4"


def test_a_recipe_with_two_values_says_nothing_about_the_draft() -> None:
    layer = Options(recipe="temperature:1/2,top-k:3,temperature:2")
    with pytest.raises(SettingsError, match="temperature twice, with two values"):
        resolve_recipes([layer], PRESET)
    roles = by_role(layer, Options(draft_recipe="temperature:2"))
    assert roles["accept_draft"] == "temperature:2"


def test_a_role_wins_over_the_preset() -> None:
    layer = Options(target={"T": "1/2"}, roles={Role.BONUS_FROM: "raw"})
    assert by_role(layer)["bonus_from"] == "raw"
    assert resolve_recipes([layer], PRESET).given == {Role.BONUS_FROM}


@pytest.mark.parametrize(
    ("layer", "message", "help_text"),
    [
        (Options(target={"typical": "1/2"}), "made-up has no typical-p", "specdist engines"),
        (Options(target={"eta": "1/9"}), "engine made-up has no eta", "there is none"),
        (Options(draft={"min_p": "1/9"}), "made-up take no min-p", "verified rows have none"),
        (Options(draft={"top_p": "1/9"}), "the drafts of engine made-up", "specdist engines"),
    ],
)
def test_an_option_without_a_place_is_refused(layer: Options, message: str, help_text: str) -> None:
    with pytest.raises(SettingsError, match=message) as raised:
        resolve_recipes([layer], PRESET)
    assert help_text in raised.value.advice
    assert "temperature" in raised.value.expected


def test_a_place_is_needed_only_for_what_is_on() -> None:
    assert by_role(Options(target={"eta": "off"})) == by_role()


def test_the_preset_s_rule_is_the_default() -> None:
    preset = replace(PRESET, rule="thresholds")
    assert resolve_recipes([Options()], preset).rule == "thresholds"
    assert resolve_recipes([Options(rule="token")], preset).rule == "token"


def test_what_the_engine_refuses_is_said() -> None:
    made = resolve_recipes([Options(target={"min_p": "1/10"})], PRESET)
    assert made.refused == (
        "engine made-up refuses min-p with speculation: verified rows have none",
    )
    assert resolve_recipes([Options(target={"min_p": "off"})], PRESET).refused == ()
    assert resolve_recipes([Options(target={"min_p": "1/10"})]).refused == ()
