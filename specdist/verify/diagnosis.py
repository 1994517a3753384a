"""Why an output law differs: the ident of a finding, from the repairs that bring the law back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from specdist.errors import SpecdistError
from specdist.model.report import Correction
from specdist.model.role import Role
from specdist.model.verdict import Verdict
from specdist.verify.comparison import compare_laws
from specdist.verify.correction import corrected
from specdist.verify.position import Checked
from specdist.verify.repairs import NUMERIC, repaired
from specdist.verify.signatures import is_upside_down
from specdist.verify.variants import Repair, Repairs, Variants, known_repairs, minimal_repairs

SEARCHED = 16
"""Positions of a step whose repairs are searched in full; later ones try what was found before."""

ROUNDING = Fraction(1, 2**20)
"""Up to this total variation a numeric cause is called rounding."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a position that differs is called, and what was proven about its cause.

    ``idents``: the main finding's first; the further ones name independent causes, so that
    allowing one hides no other. ``of_rule``: the repairs restore the law that a lossy rule aims at,
    not the reference.
    """

    idents: tuple[str, ...]
    repairs: Repairs = field(default_factory=Repairs)
    of_rule: bool = False
    correction: Correction | None = None


class Causes:
    """Diagnoses the positions of one step, the first `SEARCHED` of them with a full search."""

    def __init__(self) -> None:
        self._diagnosed = 0
        self._known: dict[Repair, None] = {}

    @property
    def diagnosed(self) -> int:
        """How many positions were diagnosed so far."""
        return self._diagnosed

    def of(self, checked: Checked) -> Diagnosis:
        """The diagnosis of a position whose output law differs from the reference."""
        variants = Variants(checked.setup, checked.laws)
        self._diagnosed += 1
        search = partial(minimal_repairs, variants)
        if self._diagnosed > SEARCHED:
            search = partial(known_repairs, variants, list(self._known))
        found = _diagnosed(checked, variants, search)
        self._known |= dict.fromkeys(found.repairs.sets)
        return found


def ident_of(checked: Checked, within: Repair | None = None) -> str:
    """The ident of a position's main finding; with ``within`` no other repairs are tried."""
    variants = Variants(checked.setup, checked.laws)
    search = partial(minimal_repairs, variants, within)
    return _diagnosed(checked, variants, search).idents[0]


def _diagnosed(checked: Checked, variants: Variants, search: Callable[[], Repairs]) -> Diagnosis:
    setup = checked.setup
    by_design = False
    if setup.rule.lossy(setup.use):
        by_design, strays = _lossy(checked, variants)
        if not strays:
            return Diagnosis(("lossy-by-design",))
    repairs = search()
    idents = _idents(checked, variants, repairs)
    correction = None
    if "anticipating-length-rule" in idents:
        correction = corrected(variants)
    if by_design:
        idents = [*idents, "lossy-by-design"]
    return Diagnosis(tuple(dict.fromkeys(idents)), repairs, by_design, correction)


def _lossy(checked: Checked, variants: Variants) -> tuple[bool, bool]:
    """Whether a lossy rule misses the reference even as it is meant, and whether the position
    strays from what the rule is meant to yield."""
    try:
        own, is_aim = variants.own_law(variants.setup)
    except SpecdistError:
        return True, False
    if own is None:
        return True, False
    reference = checked.laws[Role.REFERENCE]
    misses = compare_laws(own, reference, same=False).verdict is not Verdict.EQUAL
    compared = None if is_aim else variants.compared(variants.setup)
    strays = compared is not None and compared.verdict is Verdict.DIFFERENT
    return misses or not strays, strays


def _idents(checked: Checked, variants: Variants, repairs: Repairs) -> list[str]:
    """The idents of the causes that the first smallest set of repairs is made of."""
    used = checked.result.used_target
    if used is not None and used.verdict is Verdict.EQUAL:
        return ["lossless-for-another-target"]
    if not repairs.sets:
        return ["output-mismatch"]
    if is_upside_down(checked):
        return ["rule-mismatch"]
    smallest = min(repairs.sets, key=lambda repair: (len(repair), repair != ("residual_draft",)))
    idents = _draft_idents(smallest) + _target_idents(smallest, variants)
    idents += _model_idents(smallest, checked)
    return idents or ["output-mismatch"]


def _draft_idents(repair: Repair) -> list[str]:
    if {"drafted_from", "accept_draft"} & set(repair):
        return ["drafted-mismatch"]
    return ["residual-mismatch"] if {"residual_draft", "recovery"} & set(repair) else []


def _target_idents(repair: Repair, variants: Variants) -> list[str]:
    targets = {Role.ACCEPT_TARGET.value, Role.RESIDUAL_TARGET.value}
    idents = []
    if targets <= set(repair) and _exact_for_used(variants, set(repair) - targets):
        idents.append("lossless-for-another-target")
    elif targets & set(repair):
        idents.append("target-mismatch")
    return idents + (["bonus-mismatch"] if Role.BONUS_FROM.value in repair else [])


def _exact_for_used(variants: Variants, others: set[str]) -> bool:
    """Whether with the other repairs the output is what the rule aims at for the used target."""
    setup = repaired(variants.setup, others)
    if not setup.same(Role.ACCEPT_TARGET, Role.RESIDUAL_TARGET):
        return False
    compared = variants.compared(setup.with_reference(Role.ACCEPT_TARGET))
    return compared is not None and compared.verdict is Verdict.EQUAL


def _model_idents(repair: Repair, checked: Checked) -> list[str]:
    idents = []
    if "rule" in repair:
        faulty = checked.setup.rule.kind == "faulty"
        idents.append("reused-randomness" if faulty else "rule-mismatch")
    if "keep" in repair:
        idents.append(_keep_ident(checked))
    if set(NUMERIC) & set(repair):
        idents.append(_numeric_ident(repair, checked))
    return idents


def _keep_ident(checked: Checked) -> str:
    """A keep rule is anticipating where it looks at the token, or at what became of it."""
    figures, proposal = checked.result.proposal, checked.setup.proposal
    constant = figures is not None and figures.witness is None
    after = proposal is not None and proposal.after_test
    return "residual-mismatch" if constant and not after else "anticipating-length-rule"


def _numeric_ident(repair: Repair, checked: Checked) -> str:
    if checked.comparison.total_variation <= ROUNDING:
        return "numeric-rounding"
    if "sums" in repair:
        return "row-not-normalised"
    if {"residual_floor", "empty_residual"} & set(repair):
        return "residual-mismatch"
    return "numeric-rounding"
