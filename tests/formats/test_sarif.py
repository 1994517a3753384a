"""SARIF logs under Microsoft's validator, with its rules for code scanning, and a second schema."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from specdist.reports.forms.form import FormOptions
from specdist.reports.forms.sarif import render
from tests.form_samples import SAMPLES, steps_of
from tests.formats.outside import NODE_MODULES, documents, found

#: Advice that this project cannot follow, or not with honesty.
ADVICE = {
    "SARIF2002",  # messages by reference: texts differ from finding to finding
    "SARIF2003",  # version control: the renderer looks at nothing but the report
    "SARIF2005",  # a web page of the tool: there is none
    "SARIF2009",  # idents as ABC123: they are words, so that --allow reads well
    "SARIF2010",  # snippets of a capture, and what stands around them (2011)
    "SARIF2011",
    "SARIF2012",  # a web page for each rule: the log holds the page itself
    "SARIF2013",  # embedded files: captures are large
    "SARIF2016",  # relative URIs: a file outside of the repository has none
    "SARIF2017",  # regions: the line is told where it is known
}
#: Rules that ask the network.
NO_NETWORK = """<?xml version="1.0" encoding="utf-8"?>
<Properties>
  <Properties Key="SARIF2006.UrisShouldBeReachable.Options">
    <Property Key="RuleEnabled" Value="Disabled" Type="Driver.RuleEnabledState" />
  </Properties>
</Properties>
"""


def validated(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """What the multitool says of each file of a folder: rule and message."""
    program = found(next(iter(NODE_MODULES.glob("@microsoft/sarif-multitool-*/Sarif.Multitool"))))
    out, policy = folder / "out" / "said.json", folder / "out" / "policy.xml"
    out.parent.mkdir()
    policy.write_text(NO_NETWORK)
    done = subprocess.run(
        [
            *(program, "validate", f"{folder}/*.sarif", "--output", out, "--config", policy),
            *("--rule-kind", "Sarif;Ghas", "--level", "Error;Warning;Note"),
        ],
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert out.exists(), f"{done.stdout}\n{done.stderr}"
    (run,) = json.loads(out.read_text("utf-8-sig"))["runs"]
    notified = run["invocations"][0].get("toolExecutionNotifications", [])
    assert not [n for n in notified if n.get("level") == "error"], notified
    said: dict[str, list[tuple[str, str]]] = {path.name: [] for path in folder.glob("*.sarif")}
    for result in run["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        words = " ".join(result["message"].get("arguments", []))
        said[uri.rpartition("/")[2]].append((result["ruleId"], words))
    return said


def test_every_log_passes_the_validator(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for number, (_, text) in enumerate(documents("sarif", tmp_path)):
        (logs / f"{number}.sarif").write_text(text, "utf-8")
    said = validated(logs)
    assert len(said) > 25
    assert any(words for words in said.values())
    blamed = {
        name: [each for each in words if each[0] not in ADVICE] for name, words in said.items()
    }
    assert {name: words for name, words in blamed.items() if words} == {}


def _without_places(run: dict[str, Any]) -> None:
    run["results"][0]["locations"] = []


def _wrong_index(run: dict[str, Any]) -> None:
    run["results"][0]["ruleIndex"] = 9


def _odd_artifact(run: dict[str, Any]) -> None:
    run["artifacts"][0]["artifactLocation"] = {"uri": "a"}


@pytest.mark.parametrize(
    ("damage", "rule"),
    [
        (_without_places, "GH1015"),
        (_wrong_index, "SARIF1009"),
        (_odd_artifact, "JSON"),
    ],
)
def test_the_validator_sees_what_is_wrong(damage: Any, rule: str, tmp_path: Path) -> None:
    log = json.loads(render(SAMPLES["mixed"][0], FormOptions()))
    damage(log["runs"][0])
    (tmp_path / "bad.sarif").write_text(json.dumps(log), "utf-8")
    assert any(ident.startswith(rule) for ident, _ in validated(tmp_path)["bad.sarif"])


def test_every_log_follows_the_schema_of_jest_sarif(tmp_path: Path) -> None:
    folder = NODE_MODULES / "@microsoft" / "jest-sarif" / "lib" / "schemas"
    schema = json.loads(found(folder / "sarif-2.1.0-rtm.5.json").read_text("utf-8"))
    validator = jsonschema.validators.validator_for(schema)(schema)
    names = []
    for name, text in documents("sarif", tmp_path):
        assert list(validator.iter_errors(json.loads(text))) == [], name
        names.append(name)
    assert len(names) > 25
    log = json.loads(render(SAMPLES["mixed"][0], FormOptions()))
    log["runs"][0]["results"][0]["kind"] = "undecided"
    assert not validator.is_valid(log)


def test_the_largest_log_is_within_what_code_scanning_takes() -> None:
    text = render(steps_of(26_000, failing=lambda number: True), FormOptions(code=1))
    (run,) = json.loads(text)["runs"]
    assert len(run["results"]) == 25_000
    assert run["properties"]["results_left_out"] == 1_000
    assert len(gzip.compress(text.encode())) < 10 * 1024 * 1024
