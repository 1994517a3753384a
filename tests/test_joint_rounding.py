"""What rounded rows leave open over whole proposals: no verdict, cause or figure goes further."""

from __future__ import annotations

import pickle
from copy import copy, deepcopy
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import pytest

from specdist.exact.bounded import (
    Bounded,
    OpenComparisonError,
    at_most_one,
    bounded,
    bounded_law,
    error_of,
    plain,
)
from specdist.exact.law import RationalLaw
from specdist.model.draft_tree import SIBLINGS
from specdist.model.options import ProcessingOptions
from specdist.model.role import ONE_HOT_ROLES, Role
from specdist.model.settings import CheckSettings
from specdist.rules.joint.draws import top_of
from specdist.verify.joint.figures import bonus_figures
from specdist.verify.joint.gathering import Gathered
from specdist.verify.joint.step import joint_setup
from specdist.verify.plan import Plans
from tests.joint_captures import checked, document
from tests.test_json_models import steps_of

F = Fraction
NEAR = "0.0000000000000000001"  # a logit whose weight rounds to that of 0
USER_RULES = '''
class Emits:
    """Emits the target without testing anything."""
    def outcomes(self, proposal, models):
        yield 1, (), models.law("reference")

class Token:
    """Token verification of the first draft token."""
    def outcomes(self, proposal, models):
        x, p, q = proposal.tokens[0], models.law("accept_target"), models.law("accept_draft")
        chance = min(1, p[x] / q[x])
        yield chance, (x,), models.law("bonus_from", (x,)), True
        if chance < 1:
            left = [max(a - b, 0) for a, b in zip(p, q)]
            yield 1 - chance, (), [mass / sum(left) for mass in left]
'''


def logits(target: list[str], draft: list[str], **more: Any) -> dict[str, Any]:
    models = {"target": {"default": target}, "draft": {"default": draft}}
    return {"models": models, "draft_length": 1, **more}


def verdict(
    step: dict[str, Any], folder: Path, *options: object, kind: str = "logits"
) -> dict[str, Any]:
    (found,) = checked([step], folder, "--kind", kind, *options).json()["steps"]
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["Emits", "Token"])
def test_a_users_claim_proves_nothing_about_rounded_rows(name: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(USER_RULES)
    rule = f"{tmp_path / 'own.py'}:{name}"
    step = logits(["0", "1", "2"], ["1", "0", "3"])
    found = verdict(step, tmp_path, "--rule", rule)
    assert found["verdict"] == "undecided"
    assert "a rule of your own sees the represented numbers" in found["joint"]["notes"][0]
    exact = {**step}
    exact["models"] = {
        "target": {"default": ["1/2", "1/4", "1/4"]},
        "draft": {"default": ["1/4", "1/4", "1/2"]},
    }
    assert verdict(exact, tmp_path, "--rule", rule, kind="probabilities")["verdict"] == "equal"


COINS = {
    "models": {"target": {"default": ["1/2", "1/2", 0]}, "draft": {"default": ["1/2", "1/2", 0]}},
}
ONE_HOT = ["--role", "accept_draft=one-hot", "--role", "residual_draft=one-hot"]


def test_enclosed_probabilities_prove_no_equality(tmp_path: Path) -> None:
    """Symmetry makes the output uniform whatever the irrational chances are."""
    options = ["--rule", "block:coins=product", *ONE_HOT]
    step = {**COINS, "draft_length": 3}
    assert verdict(step, tmp_path, *options, kind="probabilities")["verdict"] == "undecided"
    batch = {
        "requests": [{"models": COINS["models"], "draft_length": 3}],
        "schedule": {"blocks": {"": [3]}},
    }
    assert verdict(batch, tmp_path, *options, kind="probabilities")["verdict"] == "undecided"


PROVEN = {
    "rrs": {"iid", "without-replacement"},
    "traversal": {"iid", "without-replacement"},
    "k-seq:2": {"iid"},
    "greedy-drafts": {"top-then-sampled", "without-replacement"},
    "spechub": {"hub", "top-then-sampled"},
    "target-only": set(SIBLINGS),
    "sample-and-compare": set(SIBLINGS),
}


@pytest.mark.parametrize("rule", PROVEN)
@pytest.mark.parametrize("siblings", SIBLINGS)
def test_roles_prove_a_law_only_where_the_rule_knows_the_draws(
    rule: str, siblings: str, tmp_path: Path
) -> None:
    step: dict[str, Any] = logits(["0", "1", "2"], ["1", "0", "3"], tree={"children": [2]})
    del step["draft_length"]
    step |= {"siblings": siblings} | ({"draft_tokens": [0, 1]} if siblings == "given" else {})
    (read,) = steps_of(tmp_path, document([step]))
    proven = []
    for roles in ({}, dict.fromkeys(ONE_HOT_ROLES, "one-hot")):
        settings = CheckSettings(overrides=ProcessingOptions(rule=rule, roles=roles))
        proven.append(joint_setup(read, Plans(settings).of(read), settings).as_specified)
    assert proven == [siblings in PROVEN[rule], True]


def test_a_top_token_within_rounding_is_open(tmp_path: Path) -> None:
    step = logits(["2", "0", "1"], ["0", NEAR, "-1"], siblings="top")
    found = verdict(step, tmp_path, "--rule", "token-chain")
    assert found["verdict"] == "undecided"
    dumped = RationalLaw((F(1, 3) + F(1, 10**17), F(1, 3), F(1, 3) - F(1, 10**17)), F(1, 10**16))
    with pytest.raises(OpenComparisonError):
        top_of(bounded_law(dumped))
    tied = RationalLaw((F(1, 3), F(1, 3), F(1, 3)), F(1, 10**16))
    assert top_of(bounded_law(tied)) == 0


@pytest.mark.parametrize("rule", ["token", "token-chain"])
def test_a_length_that_hangs_on_rounding_is_open(rule: str, tmp_path: Path) -> None:
    """The draft's probability of token 0 is 1/3 once it is rounded, and not before."""
    step = logits(["0", "1", "0"], ["0", "0.6931471805599453", "-inf"])
    options = ["--rule", rule, "--length"]
    assert verdict(step, tmp_path, *options, "own-probability:1/3")["verdict"] == "undecided"
    assert verdict(step, tmp_path, *options, "own-probability:1/2")["verdict"] == "different"
    predictable = verdict(step, tmp_path, *options, "stop-after:1/3")["verdict"]
    assert predictable == ("equal" if rule == "token" else "undecided")


def test_a_cause_is_proven_in_real_numbers(tmp_path: Path) -> None:
    """The temperature of the test rounds to the same weights, so that no cut of the draft alone is
    proven to be the fault."""
    step = logits(["0", "1", "2"], ["1", "0", "3"])
    cut = ["--rule", "token-chain", "--role", "drafted_from=top-k:2"]
    (finding,) = verdict(step, tmp_path, *cut)["findings"][:1]
    assert ["accept_draft", "residual_draft"] in finding["repairs"]
    warm = ["--role", "accept_target=temperature:1.00000000000000000001"]
    (finding,) = verdict(step, tmp_path, *cut, *warm)["findings"][:1]
    assert finding["repairs"]
    assert all("accept_target" in repair for repair in finding["repairs"])


def test_a_share_of_little_mass_is_known_less_well() -> None:
    class Laws:
        size, one_hot = 2, frozenset[Role]()

        def law(self, role: Role, prefix: tuple[int, ...], rank: int = 0) -> tuple[Fraction, ...]:
            return F(1, 2), F(1, 2)

    few = Gathered(bonus={(0,): [F(3, 4000), F(1, 4000)]})
    found = bonus_figures(few, Laws(), F(1, 10**6))
    assert found is not None
    assert found.total_variation.exact == F(1, 4)
    off = (F(1, 4000) + F(1, 10**6)) / (F(1, 1000) - F(1, 10**6)) - F(1, 4)
    assert off <= (found.total_variation.bound or 0)
    nothing = bonus_figures(few, Laws(), F(1, 100))
    assert nothing is not None
    assert nothing.total_variation.bound == 1


def test_no_row_is_needed_behind_a_token_that_follows_the_reference(tmp_path: Path) -> None:
    row = ["1/2", "1/4", "1/4"]
    models = {
        "target": {"rows": {"": row, "0": row, "1": row}},
        "draft": {"default": ["1/2", "1/2", 0]},
    }
    step = {"models": models, "draft_length": 1}
    found = verdict(step, tmp_path, "--rule", "token", kind="probabilities")
    assert found["verdict"] == "equal"
    assert len(found["joint"]["marginals"]) == 1


def test_no_operation_forgets_the_error() -> None:
    number = Bounded(F(7, 2), F(1, 100))
    for same in (+number, copy(number), deepcopy(number), pickle.loads(pickle.dumps(number))):
        assert (plain(same), error_of(same)) == (F(7, 2), F(1, 100))
    for whole in (floor, round, int, lambda x: x // 1, lambda x: x % 2, lambda x: 2**x):
        with pytest.raises(OpenComparisonError):
            whole(number)


def test_acceptance_where_the_divisor_may_be_anything() -> None:
    tiny = bounded((F(1, 2**1074), 1 - F(1, 2**1074)), F(1, 2**50))[0]
    assert error_of(tiny) >= F(1, 2**960)
    chance = at_most_one(F(1, 2), tiny)
    assert plain(chance) - error_of(chance) <= 0 <= 1 <= plain(chance) + error_of(chance)
    assert at_most_one(F(1, 2), F(2, 3)) == F(3, 4)
    assert at_most_one(F(2, 3), F(1, 2)) == 1


def test_weights_that_may_be_anything_are_no_probabilities() -> None:
    with pytest.raises(OpenComparisonError):
        bounded_law(RationalLaw((F(1, 2), F(1, 2)), F(1)))
    assert bounded_law(RationalLaw((F(1, 2), F(1, 2)))) == (F(1, 2), F(1, 2))


def test_underflowed_drafts_are_accepted_or_not(tmp_path: Path) -> None:
    """Target and tested draft of the last token are both below float64; it is drafted often."""
    step = logits(["0", "1/2", "-760"], ["0", "0", "-750"])
    options = ["--rule", "token-chain", "--role", "drafted_from=temperature:1000"]
    found = verdict(step, tmp_path, *options)
    assert found["verdict"] == "undecided"
    bound = found["joint"]["expected_accepted"]["bound"]
    assert bound > 0.1


def test_a_cost_figure_whose_divisor_may_be_anything_is_none(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(USER_RULES)
    step = logits(["0", "1", "2"], ["1", "0", "3"])
    options = ["--rule", f"{tmp_path / 'own.py'}:Token", "--draft-operations", "1/10"]
    found = verdict(step, tmp_path, *options, "--output-tokens", "5")
    lines = {line["name"]: line for line in found["cost"]}
    assert lines["operations factor"]["value"] is None
    assert "not determined" in lines["operations factor"]["text"]
    bounds = [line["value"]["bound"] for line in lines.values() if line["value"]]
    assert all(bound > 0 for bound in bounds)
