"""Presets: what they say, how they are found, and the laws that they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from specdist.engines import engine_names, preset_named, presets, read_preset
from specdist.errors import SettingsError
from specdist.model.numerics import read_numerics
from specdist.model.options import ProcessingOptions
from specdist.model.preset import Preset
from specdist.model.role import Role
from specdist.processing import PROCESSORS, resolve_recipes
from specdist.processing.preset_recipes import places
from specdist.rules.registry import read_rule
from tests.cli import run

EVERY = pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset.name)
LOSSY = {"transformers-ensemble"}
NEEDED = {
    "textbook", "vllm-v1", "vllm-v2", "vllm-v1-probabilistic", "vllm-v2-probabilistic",
    "sglang-chain", "sglang-tree", "sglang-pytorch", "transformers", "transformers-match",
    "transformers-ensemble", "llama.cpp", "tensorrt-llm-torch", "tensorrt-llm-cpp", "mlx-lm",
    "exllamav3", "lmdeploy", "ollama", "flashinfer-chain",
}  # fmt: skip


def test_the_engines_are_there() -> None:
    assert set(engine_names()) >= NEEDED
    assert [preset.name for preset in presets()] == sorted(engine_names())


@EVERY
def test_a_preset_says_where_it_comes_from(preset: Preset) -> None:
    assert preset.version
    assert preset.sources
    assert preset.notes
    assert len(preset.title) <= 74
    assert not preset.title.endswith(".")
    assert all(note.endswith(".") for note in preset.notes)


@EVERY
def test_a_preset_resolves_with_every_option_that_it_has(preset: Preset) -> None:
    named = {name: VALUES[name] for name in places(preset.target_entries + preset.draft_entries)}
    made = resolve_recipes([ProcessingOptions(target=named)], preset)
    steps = [step.name for step in made.recipes[Role.REFERENCE].steps]
    assert steps == [entry.split(":")[0] for entry in preset.ordinary]
    assert read_rule(made.rule)[0].lossless(read_rule(made.rule)[1]) == (preset.name not in LOSSY)
    read_numerics({**preset.numerics, "uniform": preset.uniform})


VALUES = {
    "allowed": "0+1+2", "banned": "3", "min-tokens": "2:eos=0", "logit-bias": "1=1/2",
    "repetition-penalty": "6/5", "presence-penalty": "1/2", "frequency-penalty": "1/2",
    "top-n-sigma": "2", "temperature": "7/10", "min-p": "1/10", "top-k": "3", "top-p": "9/10",
    "typical-p": "9/10", "epsilon": "1/100", "eta": "1/100", "lazy-allowed": "0+1+2",
    "vocab-map": "0+1+2", "vocab-size": "3", "cast": "float32", "inverse-cdf": "256",
    "gumbel-race": "16", "retokenise": "3",
}  # fmt: skip


@EVERY
def test_the_law_of_an_engine_is_the_reference_when_nothing_is_filtered(preset: Preset) -> None:
    rows = ("--target", "1/2,3/10,1/10,1/10", "--draft", "1/5,1/2,1/5,1/10")
    done = run("what-if", "--engine", preset.name, *rows, "--format", "json")
    assert done.code == (1 if preset.name in LOSSY else 0), done.stdout
    made = done.json()
    assert made["settings"]["engine"] == preset.name
    assert made["settings"]["rule"] == preset.rule


def test_textbook_is_what_is_done_without_an_engine() -> None:
    known = set(places(preset_named("textbook").ordinary))
    assert [p.name for p in PROCESSORS if p.name in known] == list(
        places(preset_named("textbook").ordinary)
    )
    named = {name: VALUES[name] for name in known}
    layers = [ProcessingOptions(target=named, draft={"temperature": "2"})]
    assert resolve_recipes(layers, preset_named("textbook")) == resolve_recipes(layers)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("vllm", "vllm-v2"), ("VLLM_V1", "vllm-v1"), ("sglang", "sglang-tree"),
        ("hf", "transformers"), ("llama.cpp", "llama.cpp"), ("llamacpp", "llama.cpp"),
        ("Llama-CPP", "llama.cpp"), ("tensorrt-llm", "tensorrt-llm-torch"), ("mlx_lm", "mlx-lm"),
        ("hf.match", "transformers-match"), ("exl3", "exllamav3"),
    ],
)  # fmt: skip
def test_names_are_forgiving(written: str, name: str) -> None:
    assert preset_named(written).name == name


def test_names_and_aliases_are_not_given_twice() -> None:
    plain = [n.replace("-", "").replace(".", "") for p in presets() for n in (p.name, *p.aliases)]
    clashes = {name for name in plain if plain.count(name) > 1}
    assert clashes <= {"llamacpp"}


@pytest.mark.parametrize(
    ("written", "near"),
    [("vlm-v2", "'vllm-v2'"), ("sglan", "'sglang'"), ("zzz", "specdist engines")],
)
def test_an_unknown_engine_is_told_the_nearest(written: str, near: str) -> None:
    with pytest.raises(SettingsError, match=f"unknown engine '{written}'") as raised:
        preset_named(written)
    assert near in raised.value.advice
    assert "vllm-v2" in raised.value.expected


GOOD = {
    "title": '"an engine"', "version": '"1"', "sources": '["a file"]', "rule": '"token"',
    "ordinary": '["temperature", "top-k:ties=lowest-id"]', "drafted": '["temperature:0"]',
}  # fmt: skip


def written(**changes: str | None) -> str:
    values = {**GOOD, **{key.replace("_", "-"): text for key, text in changes.items()}}
    return "\n".join(f"{key} = {text}" for key, text in values.items() if text is not None)


def test_lists_left_out_are_those_of_the_ordinary_row_and_of_the_draft() -> None:
    preset = read_preset("made-up", written())
    assert preset.verified == preset.bonus == preset.ordinary
    assert preset.tested == preset.drafted == ("temperature:0",)
    assert not preset.tests_one_hot
    assert read_preset("made-up", written(tested='"one-hot"')).tests_one_hot


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"ordinari": "[]"}, "ordinari", "unknown key"),
        ({"title": "1"}, "title", "not a text"),
        ({"title": None}, "", "the key 'title' is missing"),
        ({"drafted": None}, "", "the key 'drafted' is missing"),
        ({"ordinary": '"temperature"'}, "ordinary", "not a list of texts"),
        ({"ordinary": "[1]"}, "ordinary", "not a list of texts"),
        ({"tested": '"raw"'}, "tested", "not a list of texts"),
        ({"sources": "[]"}, "sources", "not a list of texts"),
        ({"unset": "{top-k = 50}"}, "unset", "not a table of texts"),
        ({"ordinary": '["temprature"]'}, "ordinary", "unknown processor"),
        ({"verified": '["top-k:tie=all"]'}, "verified", "top-k has no option 'tie=all'"),
        ({"bonus": '["top-k:ties=some"]'}, "bonus", "ties=some is not a choice"),
        ({"drafted": '["temperature:-1"]'}, "drafted", "temperature=-1 is out of range"),
        ({"tested": '["top-k:ties=all:ties=all"]'}, "tested", "top-k has no option"),
        ({"rule": '"tokn"'}, "rule", "rule=tokn is unknown"),
        ({"uniform": '"2^x"'}, "uniform", "uniform=2^x is not a grid"),
        ({"numerics": '{zero-draft = "no"}'}, "numerics", "zero-draft=no is not a choice"),
        ({"numerics": '{zero = "accept"}'}, "numerics", "unknown numeric option 'zero'"),
        ({"unset": '{top-k = "0"}'}, "unset", "top-k=0 is out of range"),
        ({"refuses": '{min-q = "why"}'}, "refuses.min-q", "unknown processor"),
    ],
)  # fmt: skip
def test_a_mistake_names_file_and_key(
    changes: dict[str, str | None], place: str, message: str
) -> None:
    with pytest.raises(SettingsError) as raised:
        read_preset("made-up", written(**changes))
    assert message in raised.value.message
    assert raised.value.place == "engines/made-up.toml" + (f", {place}" if place else "")


def test_broken_toml_names_the_file() -> None:
    with pytest.raises(SettingsError, match=r"engines/made-up\.toml: not valid TOML"):
        read_preset("made-up", "title = ")


@EVERY
def test_the_page_of_an_engine_fits_80_columns(preset: Preset) -> None:
    page = run("engines", preset.name)
    assert page.code == 0
    assert all(len(line) <= 80 for line in page.stdout.splitlines())
    words = " ".join(page.stdout.split())
    for fact in (preset.version, *preset.sources, preset.rule, *preset.notes):
        assert " ".join(fact.split()) in words
    assert run("explain", preset.name).stdout == page.stdout


def test_the_list_of_engines() -> None:
    done = run("engines")
    assert done.code == 0
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    words = " ".join(done.stdout.split())
    for preset in presets():
        assert ", ".join((preset.name, *preset.aliases)) in words
        assert f"rule {preset.rule}; version {preset.version}" in words
    assert "\nengines\n" in run("explain").stdout


def test_the_page_writes_roles_as_recipes_with_places_for_values() -> None:
    page = run("engines", "vllm").stdout
    assert "temperature:T:at-least=0.01, min-p:M, top-k:K:ties=lowest-id" in " ".join(page.split())
    assert "  accept_target    as reference\n" in page
    assert "  accept_draft     one-hot\n" in page
    assert "uniform         2^24:ends=neither (applied only as --uniform)" in page
    assert "left unset      top-k 50" in run("engines", "hf").stdout
    assert run("engines", "vlm").code == 2


def test_the_environment_and_the_config_file_name_an_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def shown(setting: str) -> list[str]:
        lines = [line.split() for line in run("config").stdout.splitlines()]
        return next((line[1:] for line in lines if line[:1] == [setting]), [])

    monkeypatch.chdir(tmp_path)
    Path("specdist.toml").write_text('engine = "hf"\n')
    assert shown("engine") == ["transformers", "specdist.toml"]
    assert shown("top-k") == ["50", "engine", "transformers"]
    assert shown("zero-draft") == ["accept", "engine", "transformers"]
    assert shown("rule") == ["token", "engine", "transformers"]
    Path("specdist.toml").write_text('engine = "hf"\nrecipe = "top-p:0.9"\n')
    assert shown("top-k") == []
    monkeypatch.setenv("SPECDIST_ENGINE", "MLX_LM")
    assert shown("engine") == ["mlx-lm", "environment", "SPECDIST_ENGINE"]
    assert shown("rule") == ["exact-match", "engine", "mlx-lm"]
    assert shown("zero-draft") == ["error", "default"]
    monkeypatch.setenv("SPECDIST_ENGINE", "mlxx")
    done = run("check", "x.json")
    assert (done.code, done.stdout) == (2, "")
    assert "environment SPECDIST_ENGINE" in done.stderr


def test_an_option_without_a_place_ends_with_2() -> None:
    done = run("what-if", "--engine", "ollama", "--target", "1/2,1/2", "--draft", "1/2,1/2",
               "--repetition-penalty", "6/5")  # fmt: skip
    assert (done.code, done.stdout) == (2, "")
    words = " ".join(done.stderr.split())
    assert "engine ollama has no repetition-penalty" in words
    assert "one of top-k, temperature, top-p, min-p" in words


def test_what_the_engine_refuses_is_a_warning() -> None:
    done = run("what-if", "--engine", "vllm-v1", "--target", "1/2,1/2", "--draft", "1/2,1/2",
               "--min-p", "1/10")  # fmt: skip
    assert done.code == 0
    assert "warning: engine vllm-v1 refuses min-p with speculation" in done.stderr
    assert all(len(line) <= 80 for line in done.stderr.splitlines())
