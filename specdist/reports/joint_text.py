"""What is said of a step over conditional models: how it was found, lengths, optima, requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from specdist.model.figure import Figure
from specdist.model.finding import Severity
from specdist.model.joint_report import (
    Admission,
    AdmissionLine,
    JointBonus,
    JointResult,
    Optimum,
    RequestLine,
)
from specdist.model.report import StepResult
from specdist.reports import joint_tables, layout, page
from specdist.reports.view import View, is_zero, plural

_INDENT = "    "


def of(steps: Sequence[StepResult]) -> list[tuple[StepResult, JointResult]]:
    """The steps over conditional models, with their figures."""
    return [(step, step.joint) for step in steps if step.joint is not None]


def tables(located: Sequence[tuple[StepResult, JointResult]], view: View, alone: bool) -> list[str]:
    """The figures of one step, or a line for each of many; ``alone``: no other steps are shown."""
    if len(located) == 1:
        step, joint = located[0]
        if alone:
            return _unfolded(joint, view)
        head = f"  step {step.id}: {joint.shape}"
        return [head, *_unfolded(joint, view), "", *figure_lines(step, joint, view)]
    lines = [f"  {line}" for line in joint_tables.steps(located, view, page.columns() - 2)]
    if view.verbose:
        for step, joint in located:
            lines += ["", f"step {step.id}: {joint.shape}", *_unfolded(joint, view), ""]
            lines += figure_lines(step, joint, view)
    return lines


def _unfolded(joint: JointResult, view: View) -> list[str]:
    room = page.columns() - 2
    lines = [*layout.wrap(found_by(joint), width=room), ""]
    lines += joint_tables.lengths(joint, view, room)
    if view.verbose and joint.sequences:
        lines += ["", *joint_tables.sequences(joint, view, room)]
    if view.verbose or (joint.admission is not None and not joint.admission.constant):
        profile = joint_tables.admissions(joint, view, room)
        lines += ["", *profile] if profile else []
    return [f"  {line}".rstrip() for line in lines]


def found_by(joint: JointResult) -> str:
    """Which outputs were compared, and what was listed for it."""
    count = joint_tables.counted(joint.outcomes, "outcome")
    how = {
        "proposals": f"every proposal enumerated, {count} listed",
        "prefixes": f"found by recursion over prefixes, {count} listed",
    }[joint.route]
    outputs = f"outputs of {plural(joint.horizon, 'token')}"
    if joint.requests:
        outputs += f" from each of {plural(len(joint.requests), 'request')}"
    return f"{outputs} compared; {how}"


def panel(joint: JointResult, view: View, width: int) -> list[str]:
    """The largest differences of a step that failed: whole outputs, then place by place."""
    lines = joint_tables.sequences(joint, view, width)
    by_place = joint_tables.marginals(joint, view)
    lines += ["", *layout.wrap(by_place, "", "  ", width)] if by_place else []
    if joint.admission is not None and not joint.admission.constant:
        lines += ["", *joint_tables.admissions(joint, view, width)]
    return lines


def figure_lines(step: StepResult, joint: JointResult, view: View) -> list[str]:
    """The figures below the claim, a paragraph each; the acceptance length stands with the rate."""
    return [
        line
        for text in _facts(step, joint, view)
        for line in layout.wrap(text, _INDENT, _INDENT + "    ")
    ]


def _facts(step: StepResult, joint: JointResult, view: View) -> Iterator[str]:
    rate = view.numerals.rate
    yield (
        f"expected accepted tokens {rate(joint.expected_accepted)} a step, for the stated models, "
        "no independence assumed"
    )
    reached = any(best.attained for best in joint.optima)
    for best in joint.optima:
        if best.attained or view.verbose or not reached:
            yield _optimum(best, view)
    if joint.bonus is not None:
        yield _bonus(joint.bonus, view)
    if joint.admission is not None:
        yield _admission(joint, joint.admission, view)
    if not any(finding.severity is Severity.ERROR for finding in step.findings):
        yield from _beyond_findings(joint, view)
    yield from _requests(step, joint, view)
    if joint.unused_rows:
        yield f"{plural(joint.unused_rows, 'row')} for prefixes that no step reaches: not used"
    yield from joint.notes


def _beyond_findings(joint: JointResult, view: View) -> Iterator[str]:
    """What the notes of a finding say where there is one."""
    rate = view.numerals.rate
    if joint.forbidden_mass is not None and not is_zero(joint.forbidden_mass):
        yield f"mass {rate(joint.forbidden_mass)} on outputs that the reference never emits"
    if joint.correction is not None:
        made = joint.correction
        yield (
            f"made lossless with {made.options}: expected accepted tokens "
            f"{rate(made.expected_accepted)} a step, total variation {rate(made.total_variation)}"
        )


def _optimum(best: Optimum, view: View) -> str:
    """``block optimum 11/9 = 1.2222: this rule leaves 1/9 = 0.1111 tokens per step on the
    table``."""
    rate = view.numerals.rate
    name = best.name if "bound" in best.name else f"{best.name} optimum"
    name = f"optimum of {best.name}" if "draft" in best.name else name
    most = "" if best.attained else "at most "
    if is_zero(best.left):
        says = "this rule leaves nothing on the table"
    elif best.left.approx > 0:
        says = f"this rule leaves {most}{rate(best.left)} tokens per step on the table"
    else:
        says = f"this rule accepts {rate(negative(best.left))} more than any lossless one can"
    reached = "" if best.attained else " (an upper bound)"
    note = f"; {best.note}" if best.note else ""
    return f"{name} {rate(best.expected_accepted)}{reached}: {says}{note}"


def negative(figure: Figure) -> Figure:
    """The same figure with the other sign."""
    exact = None if figure.exact is None else -figure.exact
    return Figure(-figure.approx, exact, figure.bound)


def _bonus(bonus: JointBonus, view: View) -> str:
    rate = view.numerals.rate
    law = (
        "given the accepted tokens its law is the reference's"
        if is_zero(bonus.total_variation)
        else "given the accepted tokens its law has the mean total variation "
        f"{rate(bonus.total_variation)} from the reference's"
    )
    return f"bonus token after full acceptance, probability {rate(bonus.probability)}: {law}"


def _admission(joint: JointResult, admission: Admission, view: View) -> str:
    if admission.constant or admission.witness is None:
        return (
            "admission: whether a draft token is verified does not depend on that token, after "
            "any prefix"
        )
    if admission.revealed:
        return _unrevealed(joint, admission, view)
    first = _admitted(joint, admission.witness, view)
    other = "" if admission.against is None else f", {_admitted(joint, admission.against, view)}"
    known = f"admission depends on the token that is admitted: {first}{other}"
    if not is_zero(joint.total_variation):
        return known
    return (
        f"{known}; by itself this proves nothing, and for these rows the enumeration finds no "
        "difference"
    )


def _admitted(joint: JointResult, line: AdmissionLine, view: View) -> str:
    length = len(line.prefix)
    drafted = joint_tables.drafted(line.prefix, line.texts, joint)
    value = view.numerals.number(line.probability)
    whose = "length" if line.request is None else f"length of request {line.request}"
    return f"Pr({whose} >= {length} | {drafted}) = {value}"


def _unrevealed(joint: JointResult, admission: Admission, view: View) -> str:
    """Which token a schedule looks at too early, and what is verified of each request by then."""
    parts = (
        f"{joint_tables.drafted(tokens, (None,) * len(tokens), joint) or 'nothing'} of request {i}"
        for i, tokens in enumerate(admission.revealed)
    )
    ends = [line for line in (admission.witness, admission.against) if line is not None]
    each = ", ".join(
        f"{joint_tables.drafted(line.prefix, line.texts, joint)} of request {line.request} "
        f"{view.numerals.number(line.probability)} times"
        for line in ends
    )
    return (
        f"admission depends on a token that is not revealed: with {', '.join(parts)} verified, "
        f"drafted and verified against a fresh draw: {each}"
    )


def _requests(step: StepResult, joint: JointResult, view: View) -> Iterator[str]:
    """Two statements: what each request emits by itself, and what all emit together."""
    if not joint.requests:
        return
    each = "; ".join(_request(line, view) for line in joint.requests)
    yield f"each request by itself: {each}"
    together = view.numerals.rate(joint.total_variation)
    size = "" if is_zero(joint.total_variation) else f", total variation {together}"
    yield f"all requests jointly: {step.verdict.value}{size}"


def _request(line: RequestLine, view: View) -> str:
    rate = view.numerals.number
    variation = rate(line.total_variation)
    size = "" if is_zero(line.total_variation) else f", total variation {variation}"
    return (
        f"request {line.index} {line.verdict.value}{size}, {rate(line.expected_accepted)} accepted"
    )
