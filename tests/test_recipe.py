"""The recipe language: reading, canonical text, values and their ranges, the default order."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdist.errors import SettingsError
from specdist.processing import PROCESSORS, build_recipe, parse_recipe, processor_named
from tests.cli import ROOT

CANONICAL = [
    ("raw", "raw"),
    (" raw ", "raw"),
    ("one-hot", "one-hot"),
    ("temperature:0.8", "temperature:4/5"),
    ("temperature:1e-6", "temperature:1/1000000"),
    ("T:1", "temperature:1"),
    ("temperature:0.8,top-p:0.95", "temperature:4/5,top-p:19/20"),
    (" temperature : 0.8 , top_p : .95 ", "temperature:4/5,top-p:19/20"),
    ("top-p:9/10,temperature:4/5", "top-p:9/10,temperature:4/5"),
    ("top-k:50", "top-k:50"),
    ("top-k:50:ties=all", "top-k:50"),
    ("top-k:50:ties=lowest-id", "top-k:50:ties=lowest-id"),
    ("top-p:1/2:ties=all:boundary=exceed", "top-p:1/2:boundary=exceed:ties=all"),
    ("min-p:1/20:equal=drop", "min-p:1/20:equal=drop"),
    ("typical-p:9/10:boundary=exceed", "typical-p:9/10:boundary=exceed"),
    ("typical:9/10", "typical-p:9/10"),
    ("top-n-sigma:1.5", "top-n-sigma:3/2"),
    ("epsilon:1/1000,eta:0.001", "epsilon:1/1000,eta:1/1000"),
    ("logit-bias:7=-1+5=3/2", "logit-bias:5=3/2+7=-1"),
    ("logit-bias:7=+1", "logit-bias:7=1"),
    ("allowed:3+1+2+1", "allowed:1+2+3"),
    ("banned:5+4", "banned:4+5"),
    ("repetition-penalty:1.2:scope=output", "repetition-penalty:6/5:scope=output"),
    ("repetition-penalty:6/5:history=2+1+2:scope=last-64:drafts=frozen",
     "repetition-penalty:6/5:scope=last-64:drafts=frozen:history=2+1+2"),
    ("presence-penalty:1/2:history=", "presence-penalty:1/2:history="),
    ("frequency-penalty:-1/2:history=1+2:prompt=1",
     "frequency-penalty:-1/2:history=1+2:prompt=1"),
    ("min-tokens:5:eos=2+0", "min-tokens:5:eos=0+2"),
    ("temperature:1/2,top-k:5,temperature:1/2", "temperature:1/2,top-k:5,temperature:1/2"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "canonical"), CANONICAL)
def test_canonical_text(written: str, canonical: str) -> None:
    recipe = parse_recipe(written)
    assert str(recipe) == canonical
    assert parse_recipe(canonical) == recipe


@st.composite
def steps(draw: st.DrawFn) -> str:
    share = draw(st.fractions(Fraction(1, 99), Fraction(98, 99), max_denominator=99))
    ids = "+".join(map(str, draw(st.lists(st.integers(0, 999), min_size=1, max_size=4))))
    scope = draw(st.sampled_from(["all", "output", "last-1", "last-64"]))
    drafts = draw(st.sampled_from(["counted", "frozen"]))
    return draw(
        st.sampled_from(
            [
                f"temperature:{share}",
                f"top-k:{draw(st.integers(1, 9))}:ties=lowest-id",
                f"top-p:{share}:boundary=exceed:ties=highest-id",
                f"min-p:{share}:equal=drop",
                f"typical-p:{share}",
                f"top-n-sigma:{share}",
                f"epsilon:{share}",
                f"eta:{share}",
                f"allowed:{ids}",
                f"banned:{ids}",
                f"logit-bias:3={-share}+4={share}",
                f"repetition-penalty:{share}:scope={scope}:drafts={drafts}:history={ids}",
                f"presence-penalty:{share}:scope={scope}",
                f"frequency-penalty:{-share}:drafts={drafts}",
                f"min-tokens:{draw(st.integers(0, 9))}:eos={ids}:drafts={drafts}",
            ]
        )
    )


@given(st.lists(steps(), min_size=1, max_size=5))
def test_text_round_trips(written: list[str]) -> None:
    recipe = parse_recipe(",".join(written))
    assert [step.name for step in recipe.steps] == [text.split(":")[0] for text in written]
    assert parse_recipe(str(recipe)) == recipe
    assert str(parse_recipe(str(recipe))) == str(recipe)


@given(st.text(alphabet="abtemperatuop-k:=,+/0123456789. ", max_size=40))
def test_any_text_is_a_recipe_or_a_settings_error(text: str) -> None:
    try:
        recipe = parse_recipe(text)
    except SettingsError as error:
        assert error.message  # noqa: PT017
    else:
        assert parse_recipe(str(recipe)) == recipe


OUT_OF_RANGE = [
    ("temperature:-1", "temperature=-1 is out of range: temperature must be at least 0"),
    ("top-p:0", "top-p=0 is out of range: top-p must be above 0 and at most 1"),
    ("top-p:1.1", "top-p=1.1 is out of range: top-p must be above 0 and at most 1"),
    ("top-p:-1/2", "top-p=-1/2 is out of range"),
    ("top-k:0", "top-k=0 is out of range: top-k must be a whole number, at least 1"),
    ("top-k:-1", "top-k=-1 is out of range"),
    ("top-k:1.5", "top-k=1.5 is out of range: top-k must be a whole number"),
    ("min-p:-1/10", "min-p=-1/10 is out of range: min-p must be at least 0 and at most 1"),
    ("min-p:2", "min-p=2 is out of range"),
    ("typical-p:0", "typical-p=0 is out of range: typical-p must be above 0 and at most 1"),
    ("top-n-sigma:0", "top-n-sigma=0 is out of range: top-n-sigma must be above 0"),
    ("epsilon:1", "epsilon=1 is out of range: epsilon must be at least 0 and below 1"),
    ("eta:1", "eta=1 is out of range: eta must be at least 0 and below 1"),
    ("repetition-penalty:0", "repetition-penalty must be above 0"),
    ("min-tokens:-1:eos=1", "min-tokens must be a whole number, at least 0"),
]


@pytest.mark.parametrize(("recipe", "message"), OUT_OF_RANGE)
def test_values_out_of_range(recipe: str, message: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_recipe(recipe)
    assert message in raised.value.message


@pytest.mark.parametrize(
    "recipe", ["temperature:0", "top-p:1", "top-p:1e-9", "top-k:1", "min-p:0", "min-p:1",
               "typical-p:1", "epsilon:0", "eta:0", "min-tokens:0:eos=1", "presence-penalty:-2"]
)  # fmt: skip
def test_values_at_the_end_of_their_range(recipe: str) -> None:
    assert len(parse_recipe(recipe).steps) == 1


WRONG = [
    ("", "'' where a step belongs"),
    ("temperature:0.8,", "'' where a step belongs"),
    ("raw,top-k:1", "'raw' where a step belongs"),
    ("top-k:1,one-hot", "'one-hot' where a step belongs"),
    ("raw:1", "'raw:1' where a step belongs"),
    ("temperature", "step 'temperature' has no value"),
    ("temperature:", "temperature needs a number"),
    ("temperature:warm", "temperature=warm is not a number"),
    ("temperature:nan", "temperature=nan is not a number"),
    ("temperature:inf", "temperature=inf is not a number"),
    ("temperature:1_0", "is not a number"),
    ("temperature:1/0", "is not a number"),
    ("temperature:1e99999999", "is not a number"),
    ("temperature:١", "is not a number"),
    ("temperature:1 2", "is not a number"),
    ("top-k:5:ties=both", "top-k:ties=both is not a choice"),
    ("top-k:5:tie=all", "top-k has no option 'tie=all'"),
    ("top-k:5:all", "top-k has no option 'all'"),
    ("top-k:5:ties=all:ties=all", "option 'ties' is given twice"),
    ("temperature:1:ties=all", "temperature has no option 'ties=all'"),
    ("allowed:", "names no token"),
    ("allowed:1+x", "'x' is not a token id"),
    ("allowed:-1", "'-1' is not a token id"),
    ("allowed:1++2", "'' is not a token id"),
    ("logit-bias:5", "'5' is not ID=NUMBER"),
    ("logit-bias:5=1+5=2", "token 5 is changed twice"),
    ("logit-bias:5=x", "logit-bias of token 5=x is not a number"),
    ("min-tokens:5", "min-tokens needs the option 'eos'"),
    ("presence-penalty:1:scope=last-0", "is not a scope"),
    ("presence-penalty:1:scope=prompt", "is not a scope"),
    ("presence-penalty:1:history=1+a", "'a' is not a token id"),
]


@pytest.mark.parametrize(("recipe", "message"), WRONG)
def test_wrong_texts(recipe: str, message: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_recipe(recipe)
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("recipe", "near"),
    [("top-q:1", "'top-p'"), ("temprature:1", "'temperature'"), ("minp:1", "'min-p'"),
     ("top-k:1:tie=all", "'ties'"), ("frequence:1", "'frequency-penalty'"),
     ("typ:1", "'typical-p'")],
)  # fmt: skip
def test_unknown_names_get_the_nearest(recipe: str, near: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_recipe(recipe)
    assert raised.value.advice.startswith("did you mean")
    assert near in raised.value.advice


@pytest.mark.parametrize(
    ("recipe", "advice"),
    [
        ("top-p=0.9", "did you mean 'top-p:0.9'?"),
        ("top_p 0.9", "did you mean 'top-p:0.9'?"),
        ("temperature:1,nucleus=0.9", "did you mean 'top-p:0.9'?"),
        ("temperature", 'write NAME:VALUE[:OPTION=VALUE], steps separated by ","'),
        ("top-p:0.9,boundary=exceed", "did you mean 'top-p:0.9:boundary=exceed'?"),
        ("temperature:1,ties=all", "options follow a ':', as in 'top-k:VALUE:ties=all'"),
        ("top-p:0.9:exceed", "did you mean 'boundary=exceed'?"),
        ("top-p:0.9:bogus", "write top-p:P[:OPTION=VALUE]"),
        ("top-p:0.9;boundary=exceed", "did you mean '0.9:boundary=exceed'?"),
    ],
)
def test_a_slip_of_syntax_gets_what_was_meant(recipe: str, advice: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_recipe(recipe)
    assert advice in raised.value.advice


@pytest.mark.parametrize("name", [processor.name for processor in PROCESSORS])
def test_only_names_that_stand_in_a_list_are_suggested(name: str) -> None:
    listed = {repr(processor.name) for processor in PROCESSORS}
    for wrong in (name[:-1] + "q", name[1:], name + "x"):
        with pytest.raises(SettingsError) as raised:
            parse_recipe(f"{wrong}:1")
        suggested = set(re.findall(r"'[^']+'", raised.value.advice))
        assert suggested <= listed


def test_a_name_near_to_nothing_gets_the_list() -> None:
    with pytest.raises(SettingsError) as raised:
        parse_recipe("zzzzzz:1")
    assert raised.value.advice == ""
    assert raised.value.expected.startswith("one of vocab-map, vocab-size")


def test_long_nonsense_is_shortened() -> None:
    with pytest.raises(SettingsError) as raised:
        parse_recipe("temperature:" + "9" * 4000 + "x")
    assert len(raised.value.message) < 120


# Named options.

DEFAULT_ORDER = [
    "vocab-map", "vocab-size", "allowed", "banned", "min-tokens", "logit-bias",
    "repetition-penalty", "presence-penalty", "frequency-penalty", "top-n-sigma", "temperature",
    "min-p", "top-k", "top-p", "typical-p", "epsilon", "eta", "retokenise", "cast",
    "inverse-cdf", "gumbel-race", "lazy-allowed",
]  # fmt: skip
VALUES = {
    "eta": "1/1000", "epsilon": "1/1000", "typical_p": "9/10", "top_p": "9/10",
    "top-k": "5:ties=lowest-id", "min_p": "1/20", "temperature": "0.8", "top_n_sigma": "2",
    "frequency_penalty": "1", "presence-penalty": "1:scope=output", "repetition_penalty": "2",
    "logit_bias": "1=1", "min_tokens": "4:eos=0", "banned": "3", "allowed": "1+2",
    "lazy_allowed": "1+2", "gumbel-race": "8", "inverse_cdf": "2^24", "cast": "float16",
    "retokenise": "4", "vocab_size": "4", "vocab_map": "0+-1+5",
}  # fmt: skip


def test_the_default_order() -> None:
    recipe = build_recipe(VALUES)
    assert [step.name for step in recipe.steps] == DEFAULT_ORDER
    assert [processor.name for processor in PROCESSORS] == DEFAULT_ORDER


def test_named_options_read_like_steps() -> None:
    recipe = build_recipe({"top_k": "5:ties=lowest-id", "temperature": "0.8"})
    assert recipe == parse_recipe("temperature:4/5,top-k:5:ties=lowest-id")
    assert build_recipe({}) == parse_recipe("raw")
    assert str(build_recipe({"top_p": "1", "temperature": "1"})) == "temperature:1,top-p:1"


def test_an_option_given_under_two_spellings_is_refused() -> None:
    with pytest.raises(SettingsError, match="top-p is given twice"):
        build_recipe({"top_p": "1", "top-p": "1"})
    with pytest.raises(SettingsError, match="top-p is given twice"):
        build_recipe({"nucleus": "1", "top-p": "1"})


def test_an_unknown_option_gets_the_nearest() -> None:
    with pytest.raises(SettingsError, match="unknown processor 'temperatur'") as raised:
        build_recipe({"temperatur": "1"})
    assert "'temperature'" in raised.value.advice


# Pages.


@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda processor: processor.name)
def test_every_processor_has_its_file_and_its_page(processor: object) -> None:
    found = processor_named(processor.name)  # type: ignore[attr-defined]
    assert found is processor
    path = ROOT / "specdist" / "processing" / f"{found.name.replace('-', '_')}.py"
    assert path.is_file()
    page = found.page
    assert page.startswith(found.name)
    assert page.endswith("\n")
    for heading in ("formula  ", "value  ", "empty row  ", "engines\n"):
        assert heading in page, heading
    assert "tie rule" in page or "ties=" in page
    assert max(map(len, page.splitlines())) <= 80
    assert len(found.summary) <= 72
    for option in found.options:
        assert option.name in page
    for alias in found.aliases:
        assert processor_named(alias) is found


def test_names_and_aliases_are_unique() -> None:
    names = [name for p in PROCESSORS for name in (p.name, *p.aliases)]
    assert len(set(names)) == len(names)
