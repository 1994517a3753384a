"""Steps for the pictures, as much of them as one page holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specdist.model.finding import Finding
from specdist.model.joint_report import JointResult, Marginal, MarginalToken, SequenceLine
from specdist.model.report import Report, StepResult
from specdist.model.verdict import Verdict
from specdist.reports import aggregate, cost_text, joint_tables, joint_text, path_text
from specdist.reports.finding_text import label, verdict_of
from specdist.reports.forms.clean_text import printable
from specdist.reports.forms.form import FormOptions
from specdist.reports.html.embedded import embedded_json
from specdist.reports.html.packed import Packer
from specdist.reports.html.packed_positions import (
    pack_bonus,
    pack_bounded,
    pack_bounded_bonus,
    pack_position,
)
from specdist.reports.html.unwrapped import paragraphs
from specdist.reports.rule_text import rule_title
from specdist.reports.view import View, place

Object = dict[str, object]
LARGEST = 2_300_000
"""Bytes that the steps of a page may take; the library and the rest take less than 700,000."""
_DRAWN = 1_900_000
_LARGE = 64
_FIRST = (Verdict.DIFFERENT, Verdict.UNDECIDED, Verdict.WITHIN_TOLERANCE, Verdict.EQUAL)


@dataclass(frozen=True, slots=True)
class PackedSteps:
    """The steps that are listed, in their order; how many of them are without their tokens, and
    how many are not listed. ``spelled``: long fractions are told in full. ``at`` finds a step."""

    steps: list[Object]
    texts: list[object]
    at: dict[int, int]
    without_tokens: int = 0
    unlisted: int = 0
    spelled: bool = True


def pack_steps(report: Report, options: FormOptions) -> PackedSteps:
    """Every step with exact numbers if they fit; else with short ones, and the steps that matter
    least without their tokens or not at all."""
    return _all(report, options) or _most(report, options)


def _all(report: Report, options: FormOptions) -> PackedSteps | None:
    packer = Packer(max(options.show, 1), exact=options.exact)
    steps: list[Object] = []
    used = 0
    for step in report.steps:
        steps.append(pack_step(step, packer))
        used += len(embedded_json(steps[-1])) + 1
        if used > LARGEST:
            return None
    if used + len(embedded_json(packer.texts)) > LARGEST:
        return None
    return PackedSteps(steps, packer.texts, {i: i for i in range(len(steps))})


def _most(report: Report, options: FormOptions) -> PackedSteps:
    packer = Packer(max(options.show, 1), spelled=False)
    steps: dict[int, Object] = {}
    used, bare = 0, 0
    for index in _by_weight(report.steps):
        known = len(packer.texts)
        packed = pack_step(report.steps[index], packer, tokens=not bare)
        used += len(embedded_json(packed)) + 1 + len(embedded_json(packer.texts[known:]))
        if used > LARGEST:
            break
        steps[index] = packed
        bare += bool(bare or used > _DRAWN)
    order = sorted(steps)
    return PackedSteps(
        steps=[steps[index] for index in order],
        texts=packer.texts,
        at={index: at for at, index in enumerate(order)},
        without_tokens=max(bare - 1, 0),
        unlisted=len(report.steps) - len(order),
        spelled=False,
    )


def _by_weight(steps: Sequence[StepResult]) -> list[int]:
    """Steps that differ first, those of largest total variation before the others."""

    def weight(index: int) -> tuple[int, float, int]:
        step = steps[index]
        return _FIRST.index(step.verdict), -aggregate.largest_of(step), index

    return sorted(range(len(steps)), key=weight)


def pack_step(step: StepResult, packer: Packer, tokens: bool = True) -> Object:
    """One step; without ``tokens`` only what stands in a list of steps and in the overview."""
    whole = place(step, None)
    packed: Object = {
        "id": printable(step.id),
        "v": step.verdict.value,
        "tv": packer.number(aggregate.largest_variation(step)),
        "f": [_finding(step, finding, packer, tokens) for finding in step.findings],
        "src": packer.text(printable(whole.removesuffix(f", step {step.id}"))),
    }
    if step.positions:
        packed["p"] = [pack_position(each, packer, tokens) for each in step.positions]
    if step.bounded:
        packed["b"] = [pack_bounded(each, packer, tokens) for each in step.bounded]
    if step.bonus is not None:
        packed["bonus"] = pack_bonus(step.bonus, packer, tokens)
    if step.bounded_bonus is not None:
        packed["bbonus"] = pack_bounded_bonus(step.bounded_bonus, packer, tokens)
    if step.joint is not None:
        packed["j"] = _joint(step, step.joint, packer, tokens)
    return packed | _told(step, packer) if tokens else packed


def _told(step: StepResult, packer: Packer) -> Object:
    """What a step says in words."""
    view = View(packer.show)
    options = [f"{name} {text}" for name, text in step.options.items()]
    told: Object = {"rule": packer.text(printable(rule_title(step.rule)))}
    length = packer.either(step.mean_acceptance_length, step.length_bounds)
    told |= {"len": length} if length is not None else {}
    told |= {"opt": packer.text(printable(", ".join(options)))} if options else {}
    if step.path is not None:
        told["path"] = printable("\n".join(path_text.tables([(step, step.path)], view)))
    if step.cost:
        told["cost"] = printable("\n".join(cost_text.lines(step.cost, view, "")))
    return told


def _finding(step: StepResult, finding: Finding, packer: Packer, whole: bool) -> list[object]:
    start, _ = label(finding, verdict_of(step, finding))
    kind = "allowed" if start.startswith(("allowed", "tolerated")) else finding.severity.value
    packed: list[object] = [kind, finding.ident, finding.position]
    if whole:
        packed += [
            packer.text(printable(finding.message)),
            [packer.text(printable(note)) for note in finding.notes],
            [packer.text(printable(words)) for words in finding.cause],
            printable(finding.reproduce) if finding.reproduce else 0,
        ]
    return packed


def _joint(step: StepResult, joint: JointResult, packer: Packer, whole: bool) -> Object:
    packed: Object = {
        "a": packer.number(joint.expected_accepted),
        "tv": packer.number(joint.total_variation),
        "s": [packer.number(figure) for figure in joint.survival],
    }
    if not whole:
        return packed
    view = View(packer.show)
    with_id = joint.vocab_size > _LARGE
    return packed | {
        "shape": joint.shape,
        "found": joint_text.found_by(joint),
        "l": [packer.number(figure) for figure in joint.accepted_length],
        "q": [_sequence(line, joint, packer) for line in joint.sequences[: packer.show]],
        "m": [_marginal(each, packer, with_id) for each in joint.marginals],
        "facts": [
            printable(text) for text in paragraphs(joint_text.figure_lines(step, joint, view))
        ],
        "ro": packer.roles(joint.roles),
    }


def _sequence(line: SequenceLine, joint: JointResult, packer: Packer) -> list[object]:
    name = joint_tables.written(line.tokens, line.texts, joint)
    name += " ..." if len(line.tokens) < joint.horizon else ""
    figures = (line.reference, line.output, line.difference)
    return [
        packer.text([printable(name), printable(name)]),
        *(packer.number(each) for each in figures),
    ]


def _marginal(marginal: Marginal, packer: Packer, with_id: bool) -> list[object]:
    def rank(token: MarginalToken) -> tuple[float, float, int]:
        return -abs(token.difference.approx), -token.reference.approx, token.id

    tokens = [
        [
            packer.token(token.text, token.id, with_id),
            *(packer.number(each) for each in (token.reference, token.output, token.difference)),
        ]
        for token in sorted(marginal.tokens, key=rank)[: packer.show]
    ]
    return [marginal.index, packer.number(marginal.total_variation), tokens]
