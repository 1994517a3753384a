"""What is said of a joint law that differs, or that is left open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdist.model.capture import Step, Vocab
from specdist.model.finding import Finding, Severity, Shown
from specdist.model.joint_report import JointResult
from specdist.model.role import Role
from specdist.model.settings import CheckSettings
from specdist.verify.cause_words import repair_words
from specdist.verify.diagnosis import ROUNDING
from specdist.verify.joint.correction import admission_notes
from specdist.verify.joint.joint_repairs import (
    JointRepairs,
    Repair,
    is_exact,
    law_of,
    minimal_repairs,
    repaired,
    same_output,
)
from specdist.verify.joint.joint_setup import JointSetup
from specdist.verify.joint.output import forbidden_starts
from specdist.verify.joint.reproduction import reproduction
from specdist.verify.joint.verdict import JointChecked
from specdist.verify.plan import Plan
from specdist.verify.repairs import NUMERIC
from specdist.verify.wording import figure, named, written

_DIFFERS = "the joint law of what a step emits differs from the target's"
_MESSAGES = {
    "lossless-for-another-target": "the joint law is exact, but for another target than the "
    "reference",
    "anticipating-length-rule": f"{_DIFFERS}: which draft tokens are verified depends on them",
}
_RULE_WORDS = "follow the rule as it is published, without its known mistakes"
_TARGETS = {"accept_target", "residual_target"}


def output_findings(
    checked: JointChecked, result: JointResult, step: Step, plan: Plan, settings: CheckSettings
) -> list[Finding]:
    """The main finding of a step whose joint law differs, then what is shown with it."""
    setup = checked.setup
    idents, repairs = _diagnosed(checked)
    main = Finding(
        idents[0],
        Severity.ERROR,
        _message(idents[0], setup),
        notes=tuple(_notes(checked, result, repairs, step.vocab)),
        repairs=repairs.sets,
        reproduce=reproduction(step, setup, plan, settings, checked.verdict),
        cause=tuple(_words(repair, setup, result) for repair in repairs.sets),
        restores="the law that the rule aims at" if setup.lossy else "equality",
    )
    more = [
        Finding(ident, Severity.ERROR, _message(ident, setup), shown=Shown.INSIDE)
        for ident in idents[1:]
    ]
    return [main, *more, *_impossible(checked, result)]


def open_findings(checked: JointChecked, result: JointResult) -> list[Finding]:
    """Why the verdict is undecided."""
    law, setup = checked.law, checked.setup
    if law.unnamed:
        message = (
            f"mass {written(law.unnamed)} is rejected, and the residual that should replace it"
        )
        note = "--empty-residual says what the engine emits there"
        return [_open("configuration-needed", f"{message} is empty", note)]
    if checked.other is not None:
        message = "tokens are drafted whose tested probability is 0: engines differ in target/0"
        note = (
            f"read as infinite the total variation is {written(law.total_variation)}, read as 0 "
            f"it is {written(checked.other.total_variation)}; --zero-draft accept or reject says "
            "which reading the engine has"
        )
        return [_open("configuration-needed", message, note)]
    if setup.laws.met.open:
        message = "the verdict hangs on a cut that is closer than the weights are rounded"
        return [replace(_open("undecided-precision", message), notes=tuple(setup.laws.met.open))]
    message = f"total variation {figure(result.total_variation)} is not above its rounding bound"
    note = (
        "equality is proven where all roles of a side share one recipe; rows that are exact "
        "(probabilities, temperature 1/n) have no rounding"
        if setup.laws.met.bound
        else "probabilities of this rule are irrational: an enclosure proves no equality"
    )
    return [_open("undecided-precision", message, note)]


def _open(ident: str, message: str, *notes: str) -> Finding:
    return Finding(ident, Severity.WARNING, message, notes=notes)


def _diagnosed(checked: JointChecked) -> tuple[list[str], JointRepairs]:
    """The idents of a step that differs, the main one first, and its repairs."""
    setup, law = checked.setup, checked.law
    aim = goal = None
    if setup.lossy:
        aim = repaired(setup, _everything(setup))
        goal = law_of(aim, law.horizon)
        if goal is None or same_output(goal, law, setup.laws):
            return ["lossy-by-design"], JointRepairs()
    repairs = minimal_repairs(setup, aim, law.horizon)
    by_design = ["lossy-by-design"] if goal is not None and goal.total_variation else []
    return [*_idents(checked, repairs), *by_design], repairs


def _everything(setup: JointSetup) -> list[str]:
    """Every repair but that of the rule; the draft keeps the law it was drafted from."""
    names = ["accept_draft", "residual_draft", "keep", *NUMERIC]
    targets = ["accept_target", "residual_target", "bonus_from"]
    return [*names, *(name for name in targets if name not in setup.open_roles)]


def _idents(checked: JointChecked, repairs: JointRepairs) -> list[str]:
    if _exact_for_used(checked):
        return ["lossless-for-another-target"]
    if not repairs.sets:
        return ["output-mismatch"]
    smallest = min(repairs.sets, key=lambda repair: (len(repair), repair != ("rule",)))
    names = set(smallest)
    idents = []
    if names & {"drafted_from", "accept_draft"}:
        idents.append("drafted-mismatch")
    elif names & {"residual_draft", "recovery"}:
        idents.append("residual-mismatch")
    if names & _TARGETS:
        idents.append("target-mismatch")
    if "bonus_from" in names:
        idents.append("bonus-mismatch")
    if "rule" in names:
        idents.append("rule-mismatch")
    if "keep" in names:
        idents.append("anticipating-length-rule")
    if names & set(NUMERIC):
        small = checked.law.total_variation <= ROUNDING
        idents.append("numeric-rounding" if small or "sums" not in names else "row-not-normalised")
    return idents or ["output-mismatch"]


def _exact_for_used(checked: JointChecked) -> bool:
    """Whether the output is the joint law of the target that test and residual used."""
    setup = checked.setup
    if setup.laws.same(Role.ACCEPT_TARGET, Role.REFERENCE):
        return False
    sources = {**setup.laws.sources, Role.REFERENCE: Role.ACCEPT_TARGET}
    other = replace(setup, laws=setup.laws.with_sources(sources))
    return is_exact(other, checked.law.horizon)


def _message(ident: str, setup: JointSetup) -> str:
    if ident == "lossy-by-design":
        return f"rule {setup.use.text} is not meant to keep the target's law"
    return _MESSAGES.get(ident, _DIFFERS)


def _words(repair: Repair, setup: JointSetup, result: JointResult) -> str:
    plain = tuple(name for name in repair if name != "rule")
    bonus = "the bonus token" + (" and what replaces a dropped one" if setup.proposal else "")
    words = [repair_words(plain, result.roles, "", bonus)] if plain else []
    if "rule" in repair:
        words.append(f"{_RULE_WORDS}: --rule {repaired(setup, ('rule',)).use.text}")
    return "; ".join(words)


def _notes(
    checked: JointChecked,
    result: JointResult,
    repairs: JointRepairs,
    vocab: Vocab | None,
) -> Iterator[str]:
    variation = written(checked.law.total_variation)
    yield (
        f"total variation {variation} over the first {checked.law.horizon} tokens; expected "
        f"accepted draft tokens {figure(result.expected_accepted)} a step"
    )
    every_place = len(result.marginals) == checked.law.horizon
    if every_place and not any(m.total_variation.exact for m in result.marginals):
        yield "the law of every single token is right: only their joint law shows it"
    yield from admission_notes(result.admission, result.correction, vocab, result.vocab_size)
    if result.bonus is not None and result.bonus.total_variation.exact:
        yield (
            "the bonus token's law after accepted drafts is off by "
            f"{figure(result.bonus.total_variation)} on average"
        )
    if repairs.cut_off:
        yield f"the search for repairs ended after {repairs.tried} enumerations"
    elif repairs.tried and not repairs.sets:
        yield f"no cause is proven: none of {repairs.tried} combinations of repairs restores it"


def _impossible(checked: JointChecked, result: JointResult) -> Iterator[Finding]:
    """`impossible-token`: mass on outputs that the target never emits."""
    forbidden = forbidden_starts(checked.law, checked.setup.laws)
    if not forbidden or result.forbidden_mass is None:
        return
    worst = max(forbidden, key=forbidden.__getitem__)
    shown = " ".join(named(token, None, result.vocab_size) for token in worst)
    yield Finding(
        "impossible-token",
        Severity.ERROR,
        f"mass {figure(result.forbidden_mass)} on outputs that the target never emits, as {shown}",
        shown=Shown.INSIDE,
    )
