"""The options about cost: of a step that is checked, and of acceptances that are only stated."""

from __future__ import annotations

from fractions import Fraction

from specdist.cli.layers import Layered
from specdist.cli.option import Option
from specdist.cli.roofline_option import read_roofline
from specdist.errors import SettingsError
from specdist.model.cost import CostSettings
from specdist.model.value_texts import read_number, shortened

_COST, _STATED = (
    "Cost (speed is modelled, not measured)",
    "Cost of stated acceptances, without rows",
)
_VERIFY = (
    "A verification over a target step (default 1); or one number by draft tokens, as 1,1.1,1.3."
)
_ROOFLINE = "weights, bandwidth, flops, peak, also kv and batch=1+64 (specdist explain cost)."
_ACCEPTANCE = (
    "Acceptance at every position, or by position as 9/10,4/5; SHARE:... repeated for kinds."
)
_CHILD = "Chance that child 1, 2, ... of a node is the accepted one, as 1/2,1/4."
_MOST_CALLS = 10**12

_VERIFY_OPTION = Option("verify-cost", _COST, _VERIFY, "V")
_ROOFLINE_OPTION = Option("roofline", _COST, _ROOFLINE, "KEY=NUMBER,...")

COST: tuple[Option, ...] = (
    Option("draft-cost", _COST, "A draft step over a target step of one token, as 1/50.", "C"),
    _VERIFY_OPTION,
    Option("draft-operations", _COST, "Operations of a draft token over a target token.", "C"),
    Option("output-tokens", _COST, "Expected target calls of an output of N tokens.", "N"),
    _ROOFLINE_OPTION,
)

STATED: tuple[Option, ...] = (
    Option("acceptance", _STATED, _ACCEPTANCE, "A", form="list", in_config=False),
    Option("best-draft-length", _STATED, "Find it, exactly.", form="flag", in_config=False),
    Option("child-acceptance", _STATED, _CHILD, "A", in_config=False),
    Option(
        "tree-nodes", _STATED, "Nodes of the best tree, the root included.", "N", in_config=False
    ),
)


def cost_settings(chosen: Layered) -> CostSettings | None:
    """The costs that were given; None without any. Raises SettingsError naming the option."""
    found = CostSettings(
        draft_cost=chosen.get("draft-cost", _cost),
        verify_cost=chosen.get("verify-cost", _costs),
        draft_operations=chosen.get("draft-operations", _cost),
        output_tokens=chosen.get("output-tokens", _tokens),
        roofline=chosen.get("roofline", read_roofline),
    )
    if found.draft_cost is None and found.verify_cost is not None:
        raise SettingsError(
            "verify-cost is given without draft-cost",
            place=chosen.shown(_VERIFY_OPTION)[1],
            expected="--draft-cost C as well; 0 where drafting takes no time",
        )
    device = found.roofline
    if found.draft_cost is None and device is not None and not device.has_draft:
        raise SettingsError(
            "the roofline does not say what drafting costs",
            place=chosen.shown(_ROOFLINE_OPTION)[1],
            expected="draft-weights and draft-flops in --roofline, or --draft-cost C",
            advice="--draft-cost 0 where drafting takes no time",
        )
    return found if found.asked else None


def _cost(name: str, text: str) -> Fraction:
    """A relative cost, 0 or more."""
    expected = "a number, 0 or more, as 1/50 or 0.02"
    value = read_number(name, text)
    if value < 0:
        raise SettingsError(f"{name}={shortened(text)} is negative", expected=expected)
    return value


def _costs(name: str, text: str) -> tuple[Fraction, ...]:
    """Positive costs, by the number of draft tokens from 1 on."""
    values = tuple(_cost(name, part) for part in text.split(","))
    if not all(values):
        raise SettingsError(
            f"{name}={shortened(text)} has a 0",
            expected="numbers above 0; a verification takes time",
        )
    return values


def _tokens(name: str, text: str) -> int:
    """How long an output is."""
    value = read_number(name, text)
    if value.denominator != 1 or not 1 <= value <= _MOST_CALLS:
        raise SettingsError(
            f"{name}={shortened(text)} is out of range",
            expected=f"a whole number from 1 to {_MOST_CALLS}",
        )
    return int(value)
