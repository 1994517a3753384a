"""Expected facts of a field case about a step over conditional models, a path, or costs.

``joint`` holds

- figures by the names of the report (``total_variation``, ``expected_accepted``,
  ``expected_tokens``) and lists of them (``survival``, ``accepted_length``);
- plain values: ``horizon``, ``nodes``, ``depth``, ``route``, ``unused_rows``;
- ``output`` and ``reference``: the laws of whole outputs, {"0,1": "1/2"}, zeros left out;
- ``marginals``: {"0": the law of the first output token};
- ``optima``: expected accepted tokens by name, ``left``: what the rule leaves against each;
- ``bonus``: probability and total variation;
- ``admission``: ``constant``, ``lines`` by prefix, ``witness`` and ``against``: prefixes or null;
- ``requests``: verdict and figures of each; ``correction``: figures.

``path`` holds ``ratios``, ``thresholds``, ``token_acceptances`` and the two expected lengths.
``costs`` maps names of cost lines to numbers, to null where a line has none, or to a rounded number
("~3.817").
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from tests.cli import exact

FIGURES = ("total_variation", "expected_accepted", "expected_tokens")
LISTS = ("survival", "accepted_length")
PLAIN = ("horizon", "nodes", "depth", "route", "unused_rows")
OTHERS = ("output", "reference", "marginals", "optima", "left", "bonus", "admission", "requests",
          "correction")  # fmt: skip
PATH = {
    "ratios": "ratio", "thresholds": "threshold", "token_acceptances": "token_acceptance",
}  # fmt: skip
PATH_FIGURES = ("expected_accepted_token", "expected_accepted_block")


def compare(step: dict[str, Any], expect: dict[str, Any]) -> None:
    """The facts of a step that has them."""
    close = Fraction(expect.get("tolerance", 0))
    if "joint" in expect:
        _joint(step["joint"], expect["joint"], close)
    if "path" in expect:
        _path(step["path"], expect["path"])
    if "costs" in expect:
        costs(step["cost"], expect["costs"])


def _joint(found: dict[str, Any], wanted: dict[str, Any], close: Fraction) -> None:
    assert wanted.keys() <= {*FIGURES, *LISTS, *PLAIN, *OTHERS}
    _figures(found, wanted, FIGURES, close)
    for name in LISTS:
        if name in wanted:
            _numbers(found[name], wanted[name], close)
    for name in PLAIN:
        assert name not in wanted or found[name] == wanted[name], name
    for name in ("output", "reference"):
        if name in wanted:
            _law(found["sequences"], name, wanted[name], close)
    for index, law in wanted.get("marginals", {}).items():
        (place,) = (place for place in found["marginals"] if place["index"] == int(index))
        tokens = sorted(place["tokens"], key=lambda token: token["id"])
        _numbers([token["output"] for token in tokens], law, close)
    for member, figure in (("optima", "expected_accepted"), ("left", "left")):
        by_name = {optimum["name"]: optimum for optimum in found["optima"]}
        for name, value in wanted.get(member, {}).items():
            assert exact(by_name[name][figure]) == Fraction(value), (member, name)
    for name in ("bonus", "correction"):
        if name in wanted:
            _figures(found[name], wanted[name], wanted[name], close)
    if "admission" in wanted:
        _admission(found["admission"], wanted["admission"])
    if "requests" in wanted:
        assert len(found["requests"]) == len(wanted["requests"])
        for line, facts in zip(found["requests"], wanted["requests"], strict=True):
            assert line["verdict"] == facts.get("verdict", line["verdict"])
            _figures(line, facts, FIGURES, close)


def _figures(
    found: dict[str, Any], wanted: dict[str, Any], names: Iterable[str], close: Fraction
) -> None:
    for name in names:
        if name in wanted:
            _numbers([found[name]], [wanted[name]], close)


def _numbers(found: list[dict[str, Any]], wanted: list[str], close: Fraction) -> None:
    values = [exact(number) for number in found]
    assert len(values) == len(wanted)
    for value, text in zip(values, wanted, strict=True):
        assert value is not None
        assert abs(value - Fraction(text)) <= close, (values, wanted)


def _law(lines: list[dict[str, Any]], column: str, wanted: dict[str, str], close: Fraction) -> None:
    law = {",".join(map(str, line["tokens"])): exact(line[column]) for line in lines}
    positive = {tokens: mass for tokens, mass in law.items() if mass}
    assert positive.keys() == wanted.keys()
    for tokens, mass in positive.items():
        assert mass is not None
        assert abs(mass - Fraction(wanted[tokens])) <= close, (tokens, law)


def _admission(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found["constant"] == wanted["constant"]
    lines = {_prefix(line): exact(line["probability"]) for line in found["lines"]}
    for prefix, share in wanted.get("lines", {}).items():
        assert lines[prefix] == Fraction(share), lines
    for name in ("witness", "against"):
        if name in wanted:
            line = found[name]
            assert (None if line is None else _prefix(line)) == wanted[name]


def _prefix(line: dict[str, Any]) -> str:
    return ",".join(map(str, line["prefix"]))


def _path(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert wanted.keys() <= {*PATH, *PATH_FIGURES}
    for name, member in PATH.items():
        if name in wanted:
            _numbers([place[member] for place in found["positions"]], wanted[name], Fraction(0))
    _figures(found, wanted, PATH_FIGURES, Fraction(0))


def costs(lines: list[dict[str, Any]], wanted: dict[str, str | None]) -> None:
    by_name = {line["name"]: line for line in lines}
    assert len(by_name) == len(lines), "every name once"
    for name, text in wanted.items():
        value = exact(by_name[name]["value"])
        if text is None:
            assert value is None, name
        elif text.startswith("~"):
            digits = len(text.partition(".")[2])
            assert value is not None
            assert f"{float(value):.{digits}f}" == text[1:], name
        else:
            assert value == Fraction(text), name
        assert not by_name[name]["measured"]
