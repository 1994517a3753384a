"""Rules as they are written: canonical text, and what is refused, by name and with advice."""

from __future__ import annotations

from fractions import Fraction

import pytest

from specdist.errors import SettingsError
from specdist.rules.registry import RULES, read_rule
from tests.cli import run
from tests.rule_laws import place, place_of

F = Fraction
TARGET, DRAFT = [F(1, 2), F(3, 10), F(1, 5)], [F(1, 5), F(3, 10), F(1, 2)]

WRITTEN = {
    "token": "token",
    "token:recovery=residual": "token",
    "token:recovery=target": "token:recovery=target",
    "exact_match": "exact-match",
    "lenience:0.5": "lenience:1/2",
    "lenience:1/2:recovery=scaled": "lenience:1/2:recovery=scaled",
    "typical:0.09:delta=0.3:recovery=argmax": "typical:9/100:delta=3/10:recovery=argmax",
    "relaxed:10:delta=0.6": "relaxed:10:delta=3/5",
    "relaxed:10:recovery=set:delta=0": "relaxed:10:delta=0:recovery=set",
    "thresholds:acc=1:single=1": "thresholds",
    "thresholds:children=2+1:acc=0.5": "thresholds:acc=1/2:children=2+1",
    "divergence-gate:0.25:divergence=tv": "divergence-gate:1/4",
    "judge:2+0+2:recovery=target": "judge:0+2:recovery=target",
    "shared-noise:minhash-dart": "shared-noise:minhash-dart",
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_rule_is_written_back(text: str) -> None:
    _, use = read_rule(text)
    assert use.text == WRITTEN[text]
    assert read_rule(use.text)[1].text == use.text


#: Rule as written -> what the message and its help say.
REFUSED = {
    "tokn": "did you mean 'token'",
    "token:1": "no option '1'",
    "token:recovery=set": "one of residual, target, argmax, softmax",
    "exact-match:recovery=target": "no option",
    "lenience": "lenience needs a number",
    "lenience:0": "above 0 and at most 1",
    "lenience:2": "above 0 and at most 1",
    "lenience:1/2:recovery=argmax": "one of residual, scaled, target",
    "typical:1/4:recovery=target": "needs the option 'delta'",
    "typical:1/4:delta=1/2": "needs the option 'recovery'",
    "typical:2:delta=1/2:recovery=set": "at least 0 and at most 1",
    "typical:1/4:delta=0:recovery=set": "above 0",
    "cascade:1/2": "needs the option 'recovery'",
    "cascade:0:recovery=target": "above 0",
    "relaxed:0:delta=0": "at least 1",
    "relaxed:3": "needs the option 'delta'",
    "relaxed:3:delta=2": "at most 1",
    "top-beta:3": "needs the option 'factor'",
    "top-beta:3:factor=0": "above 0",
    "top-beta:1/2:factor=1": "whole number",
    "thresholds:single=0": "at least 1/1000000000",
    "thresholds:acc=1e-10": "at least 1/1000000000",
    "thresholds:acc=2": "at most 1",
    "thresholds:children=": "names no token",
    "thresholds:children=a": "not a token id",
    "mixture:2": "at most 1",
    "cactus:-1": "at least 0",
    "divergence-gate:2": "at most 1",
    "divergence-gate:1/2:divergence=kl": "one of tv",
    "judge:0+1": "needs the option 'recovery'",
    "judge::recovery=target": "names no token",
    "synthetic:2": "at most 1",
    "optimal-loss:-1": "at least 0",
    "shared-noise": "one of gumbel, minhash, minhash-dart, inverse-cdf",
    "shared-noise:max": "one of gumbel",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_a_rule_refuses(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_rule(text)
    assert REFUSED[text] in str(caught.value)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_required_option_says_what_it_chooses(rule: object) -> None:
    for name in rule.required:  # type: ignore[attr-defined]
        (option,) = [o for o in rule.options if o.name == name]  # type: ignore[attr-defined]
        assert option.summary


#: Valid as written, and refused on these rows.
ON_ROWS = {
    "judge:3:recovery=target": "token ids from 0 to 2",
    "thresholds:children=1+3": "token ids from 0 to 2",
    "thresholds:children=1+1": "twice",
    "optimal-loss:31/100": "the rows are 0.3 apart",
    "given": '"accept"',
}


@pytest.mark.parametrize("text", ON_ROWS)
def test_what_a_rule_refuses_on_some_rows(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        place(TARGET, DRAFT).outcomes(text)
    assert ON_ROWS[text] in str(caught.value)


def test_rejection_sampling_needs_a_draft_that_covers_the_target() -> None:
    holed = [F(1, 2), F(1, 2), F(0)]
    with pytest.raises(SettingsError, match="token 2 probability 0"):
        place(TARGET, holed).outcomes("classical")
    rows = {"P": holed, "S": holed, "D": [F(0), F(0), F(1)], "Q": TARGET, "U": TARGET}
    with pytest.raises(SettingsError, match="the envelope is 0"):
        place_of(rows).outcomes("classical")


@pytest.mark.parametrize("text", ["classical", "divergence-gate:1/2", "optimal-loss:0"])
def test_rules_that_need_a_draft_row(text: str) -> None:
    rows = {"P": TARGET, "S": TARGET, "D": DRAFT, "Q": None, "U": None}
    with pytest.raises(SettingsError, match="one-hot"):
        place_of(rows).outcomes(text)


def test_a_cactus_needs_whole_laws() -> None:
    with pytest.raises(SettingsError, match="unnormalised"):
        place(TARGET, DRAFT, unnormalised="yes").outcomes("cactus:1/8")


def test_races_are_enumerated_for_small_vocabularies() -> None:
    even = [F(1, 600)] * 600
    slanted = [F(1, 1200)] * 300 + [F(3, 1200)] * 300
    with pytest.raises(SettingsError, match="at most 256 possible tokens"):
        place(even, slanted).outcomes("reused-noise")


def test_given_rows_must_be_what_they_are_called() -> None:
    rule, use = read_rule("given")
    laws = place(TARGET, DRAFT).role_laws({"accept": [F(2), F(0), F(0)], "recovery": TARGET})
    with pytest.raises(SettingsError, match="acceptance probability is 2"):
        rule.outcomes(laws, use)
    laws = place(TARGET, DRAFT).role_laws({"accept": TARGET, "recovery": [F(1), F(1), F(0)]})
    with pytest.raises(SettingsError, match="sums to 2"):
        rule.outcomes(laws, use)


KEEPLESS = ("shared-noise:gumbel", "reused-noise", "thresholds:children=0+1")


@pytest.mark.parametrize("text", KEEPLESS)
def test_rules_without_a_token_to_drop(text: str) -> None:
    result = run(
        "what-if", "--target", "1/2,3/10,1/5", "--draft", "1/5,3/10,1/2",
        "--rule", text, "--keep", "share:1/2",
    )  # fmt: skip
    assert result.code == 2
    assert "could be dropped" in " ".join(result.stderr.split())


def test_messages_are_narrow() -> None:
    for text in REFUSED:
        result = run("what-if", "--target", "1/2,1/2", "--draft", "1/2,1/2", "--rule", text)
        assert result.code == 2
        assert [line for line in result.stderr.splitlines() if len(line) > 80] == []
