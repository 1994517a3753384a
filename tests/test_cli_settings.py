"""Where settings come from, in which order, and what happens to a wrong one."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from specdist.cli.options import INPUT
from specdist.cli.settings import effective
from specdist.errors import SettingsError
from specdist.model.role import Role
from tests.cli import run


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPECDIST_FORMAT", raising=False)
    monkeypatch.delenv("SPECDIST_COLOR", raising=False)


def config(text: str, name: str = "specdist.toml") -> None:
    Path(name).write_text(text, encoding="utf-8")


def test_defaults() -> None:
    chosen = effective({})
    assert (chosen.output.format, chosen.output.show, chosen.output.color) == ("text", 10, "auto")
    assert chosen.settings.checking.overrides.numerics == {}
    assert chosen.settings.checking.draft_map is None
    assert chosen.settings.checking.workers is None
    assert {origin for _, origin in chosen.shown.values()} == {"default"}


def test_command_line_over_environment_over_file(monkeypatch: pytest.MonkeyPatch) -> None:
    config('format = "json"\nshow = 3\ncolor = "never"\n')
    assert effective({}).output.format == "json"
    monkeypatch.setenv("SPECDIST_FORMAT", "jsonl")
    assert effective({}).output.format == "jsonl"
    chosen = effective({"format": "text"})
    assert chosen.output.format == "text"
    assert chosen.shown["format"] == ("text", "command line")
    assert chosen.shown["show"] == ("3", "specdist.toml")
    assert chosen.settings.origins["color"] == "specdist.toml"
    assert effective({}).shown["format"] == ("jsonl", "environment SPECDIST_FORMAT")


def test_processing_is_kept_apart_so_that_a_capture_can_stand_between() -> None:
    config('temperature = 0.8\nrole = { drafted_from = "raw" }\ndraft-top-p = "9/10"\n')
    checking = effective({"top_k": "50", "draft_temperature": "1/2"}).settings.checking
    assert checking.overrides.target == {"top-k": "50"}
    assert checking.overrides.draft == {"temperature": "1/2"}
    assert checking.defaults.target == {"temperature": "0.8"}
    assert checking.defaults.draft == {"top-p": "9/10"}
    assert checking.defaults.roles == {Role.DRAFTED_FROM: "raw"}


def test_the_table_in_pyproject_and_the_file_that_wins() -> None:
    config('[tool.other]\nx = 1\n[tool.specdist]\nmin-acceptance = "7/10"\n', "pyproject.toml")
    chosen = effective({})
    assert chosen.settings.checking.min_acceptance == Fraction(7, 10)
    assert chosen.shown["min-acceptance"] == ("7/10", "pyproject.toml [tool.specdist]")
    config("max-tv = 1e-6\n")
    checking = effective({}).settings.checking
    assert (checking.min_acceptance, checking.max_tv) == (None, Fraction(1, 10**6))


def test_a_pyproject_without_a_table_is_no_config() -> None:
    config("[tool.other]\nx = 1\n", "pyproject.toml")
    assert {origin for _, origin in effective({}).shown.values()} == {"default"}


@pytest.mark.parametrize(
    ("text", "message", "help_"),
    [
        ("topp = 0.9", "unknown key 'topp'", "did you mean top-p"),
        ("target = 'a.npy'", "unknown key 'target'", "valid names|did you mean"),
        ("exit-zero = true", "unknown key 'exit-zero'", ""),
        ("exact = 'yes'", "exact='yes' has the wrong type", ""),
        ("show = [1]", "show=[1] has the wrong type", ""),
        ("workers = true", "workers=True has the wrong type", ""),
        ("allow = [1]", "allow=[1] has the wrong type", ""),
        ("format = 'xml'", "format=xml", ""),
        ("top-p = 1.5", "top-p", ""),
        ("rule = 'tokens'", "rule=tokens", "token"),
        ("show =", "not valid TOML", ""),
    ],
)
def test_a_wrong_config_file_is_exit_2(text: str, message: str, help_: str) -> None:
    config(text)
    result = run("config")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[invalid-settings]: ")
    assert message in result.stderr
    assert any(word in result.stderr for word in help_.split("|"))
    assert "--> specdist.toml" in result.stderr


@pytest.mark.parametrize(
    ("values", "message", "expected"),
    [
        ({"format": "jsno"}, "format=jsno", "text or json or jsonl"),
        ({"color": "yes"}, "color=yes", "auto or always or never"),
        ({"show": "-1"}, "show=-1", "0 or more"),
        ({"show": "ten"}, "show=ten", "0 or more"),
        ({"workers": "0"}, "workers=0", "1 or more"),
        ({"limit": "0"}, "limit=0", "1 or more"),
        ({"max_tv": "2"}, "max-tv=2", "0 to 1"),
        ({"max_tv": "nan"}, "max-tv=nan", "0 to 1"),
        ({"max_tv": "1/0"}, "max-tv=1/0", "0 to 1"),
        ({"min_acceptance": "-0.1"}, "min-acceptance=-0.1", "0 to 1"),
        ({"budget": "0"}, "budget=0", "above 0"),
        ({"allow": ["output-mismach"]}, "allow=output-mismach", "output-mismatch"),
        ({"kind": "logit"}, "kind=logit", "logits"),
        ({"zero_draft": "skip"}, "zero-draft=skip", "reject"),
        ({"history": "1,x"}, "history=x", "0 or more"),
        ({"role": ["drafted=raw"]}, "unknown role 'drafted'", "drafted_from"),
        ({"role": ["drafted_from"]}, "not ROLE=RECIPE", "drafted_from"),
        ({"role": ["drafted_from=raw", "drafted_from=raw"]}, "given twice", "one recipe"),
        ({"role": ["drafted_from=top-q:1"]}, "top-q", "top-p"),
        ({"role": ["reference=one-hot"]}, "one-hot", "accept_draft"),
        ({"rule": "toke"}, "rule=toke", "token"),
        ({"temperature": "-1"}, "temperature", ""),
        ({"top_p": "0"}, "top-p", ""),
        ({"top_k": "0"}, "top-k", ""),
        ({"draft_top_p": "3/2"}, "top-p", ""),
        ({"recipe": "temprature:1"}, "temprature", "temperature"),
        ({"recipe": "raw", "top_p": "1/2"}, "together", ""),
    ],
)
def test_a_wrong_value_names_option_value_and_range(
    values: dict[str, Any], message: str, expected: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        effective(values)
    error = caught.value
    assert message in error.message
    assert expected in f"{error.expected} {error.advice}"
    assert error.expected
    assert error.message == error.message.strip()
    assert not error.message.endswith(".")


def test_numbers_are_exact() -> None:
    checking = effective({"max_tv": "0.1", "min_acceptance": "9/10", "budget": "1e-1"})
    assert checking.settings.checking.max_tv == Fraction(1, 10)
    assert checking.settings.checking.min_acceptance == Fraction(9, 10)
    assert checking.settings.checking.budget == Fraction(1, 10)


def test_config_shows_values_and_origins(monkeypatch: pytest.MonkeyPatch) -> None:
    config('allow = ["output-mismatch"]\nverbose = true\nquiet = false\n')
    monkeypatch.setenv("SPECDIST_COLOR", "never")
    shown = json.loads(run("config", "--format", "json").stdout)
    assert shown["allow"] == {"value": ["output-mismatch"], "origin": "specdist.toml"}
    assert shown["color"] == {"value": "never", "origin": "environment SPECDIST_COLOR"}
    assert shown["format"] == {"value": "text", "origin": "default"}
    assert "quiet" not in shown
    text = run("config").stdout
    assert ["allow", "output-mismatch", "specdist.toml"] in [
        line.split() for line in text.splitlines()
    ]


@pytest.mark.parametrize("name", ["report", "capture"])
def test_config_prints_the_schemas(name: str) -> None:
    schema = json.loads(run("config", "--schema", name).stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_an_unknown_schema_is_refused() -> None:
    result = run("config", "--schema", "reports")
    assert (result.code, result.stdout) == (2, "")
    assert "did you mean report" in result.stderr


def test_no_input_option_is_a_config_key() -> None:
    for option in INPUT:
        config(f'{option.name} = "1"')
        with pytest.raises(SettingsError, match="unknown key"):
            effective({})
