"""Tables of steps over conditional models: lengths, whole outputs, admission, a line a step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from specdist.model.conditional import Prefix
from specdist.model.figure import Figure
from specdist.model.joint_report import AdmissionLine, JointResult, SequenceLine
from specdist.model.report import StepResult
from specdist.reports import layout
from specdist.reports.difference_text import TITLE, differences
from specdist.reports.figure_text import Numerals, fraction
from specdist.reports.view import View, is_zero, plural
from specdist.verify.joint_summary import tightest

_SURE = Figure.of(1)
Named = tuple[str, str, Figure]


def lengths(joint: JointResult, view: View, width: int) -> list[str]:
    """A row for each number of accepted draft tokens: how likely it is, and how likely at least
    as many are."""
    least = (_SURE, *joint.survival)
    rows = [*enumerate(zip(joint.accepted_length, least, strict=True))]

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        cells = [[str(n), *(numerals.number(figure, digits) for figure in row)] for n, row in rows]
        return layout.table(["accepted", "probability", "at least"], cells, gap=gap)

    lines, wide = view.table(build, width)
    if wide:
        named = [(f"{n} accepted", "probability", row[0]) for n, row in rows]
        named += [(f"{n} accepted", "at least", row[1]) for n, row in rows]
        lines += exact_values(named)
    return lines


def sequences(joint: JointResult, view: View, width: int) -> list[str]:
    """The outputs whose law differs most, largest first; those of largest mass where none does."""
    shown = joint.sequences[: view.limit]
    names = [_output(line, joint) for line in shown]

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        return _named_table(shown, names, numerals, digits, gap)

    lines, wide = view.table(build, width)
    if any(layout.width_of(line) > width for line in lines):
        lines, wide = view.table(lambda *form: _named_table(shown, [""] * len(names), *form), width)
        lines = _interleaved(names, lines, width)
    lines += _hidden(joint, shown)
    if wide:
        columns = ("reference", "output", "difference")
        named = [
            (name, column, getattr(line, column))
            for name, line in zip(names, shown, strict=True)
            for column in columns
        ]
        lines += exact_values(named)
    return lines


def _hidden(joint: JointResult, shown: Sequence[SequenceLine]) -> list[str]:
    """How many outputs are not shown, where every line is a whole output."""
    lengths = {len(line.tokens) for line in shown}
    if lengths != {joint.horizon * max(len(joint.requests), 1)}:
        return ["..."] if len(shown) < len(joint.sequences) else []
    left = joint.vocab_size ** min(lengths) - len(shown)
    return [f"... {counted(left, 'more output')}"] if left else []


def _named_table(
    shown: Sequence[SequenceLine], names: Sequence[str], numerals: Numerals, digits: int, gap: int
) -> list[str]:
    ends = differences([line.difference for line in shown], numerals, digits)
    rows = [
        [name, numerals.number(line.reference, digits), numerals.number(line.output, digits), end]
        for name, line, end in zip(names, shown, ends, strict=True)
    ]
    return layout.table(["tokens", "reference", "output", TITLE], rows, gap=gap, least=7)


def _interleaved(names: Sequence[str], lines: Sequence[str], width: int) -> list[str]:
    """Names that do not fit beside their numbers, each on lines of its own above them."""
    header, *rows = lines
    found = [header]
    for name, row in zip(names, rows, strict=True):
        found += [*layout.wrap(name, "", "  ", width), row]
    return found


def _output(line: SequenceLine, joint: JointResult) -> str:
    """Tokens of an output; all outputs that begin so, where the rest is drawn from the target."""
    text = written(line.tokens, line.texts, joint)
    return f"{text} ..." if len(line.tokens) < joint.horizon else text


def written(tokens: Prefix, texts: Sequence[str | None], joint: JointResult) -> str:
    """``'A' 'B'``, or ``0,2`` without texts; the outputs of several requests behind bars."""
    size = joint.horizon if len(tokens) > joint.horizon > 0 else max(len(tokens), 1)
    parts = [
        _spelled(tokens[at : at + size], texts[at : at + size], joint.vocab_size > 64)
        for at in range(0, len(tokens), size)
    ]
    return " | ".join(parts)


def drafted(tokens: Prefix, texts: Sequence[str | None], joint: JointResult) -> str:
    """The draft tokens of one request."""
    return _spelled(tokens, texts, joint.vocab_size > 64)


def _spelled(tokens: Prefix, texts: Sequence[str | None], with_id: bool) -> str:
    if all(text is None for text in texts):
        return ",".join(map(str, tokens))
    pairs = zip(tokens, texts, strict=True)
    return " ".join(layout.token(text, token, with_id) for token, text in pairs)


def admissions(joint: JointResult, view: View, width: int) -> list[str]:
    """``Pr(length >= k | first k drafted tokens)`` for each drafted prefix."""
    lines = () if joint.admission is None else joint.admission.lines
    shown = lines[: view.limit]
    if not shown:
        return []
    names = [_admitted(line, joint) for line in shown]

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        rows = [
            [name, str(len(line.prefix)), numerals.number(line.probability, digits)]
            for name, line in zip(names, shown, strict=True)
        ]
        return layout.table(["drafted so far", "k", "k are verified"], rows, gap=gap)

    table, wide = view.table(build, width)
    if any(layout.width_of(line) > width for line in table):
        table = []
        for name, line in zip(names, shown, strict=True):
            value = view.numerals.number(line.probability)
            text = f"{name}: {len(line.prefix)} are verified with probability {value}"
            table += layout.wrap(text, "", "  ", width)
    hidden = len(lines) - len(shown)
    table += [f"... {plural(hidden, 'more prefix', 'more prefixes')}"] if hidden else []
    if wide:
        pairs = zip(names, shown, strict=True)
        table += exact_values((name, "probability", line.probability) for name, line in pairs)
    return table


def _admitted(line: AdmissionLine, joint: JointResult) -> str:
    name = drafted(line.prefix, line.texts, joint)
    return name if line.request is None else f"request {line.request}: {name}"


def steps(located: Sequence[tuple[StepResult, JointResult]], view: View, width: int) -> list[str]:
    """A line a step: what it accepts and emits, what it leaves against its optimum, the verdict."""
    shown = located[: view.limit]

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        rows = []
        for step, joint in shown:
            best = tightest(joint)
            figures = (joint.expected_accepted, joint.expected_tokens)
            cells = [numerals.number(figure, digits) for figure in figures]
            cells.append("-" if best is None else numerals.number(best.left, digits))
            cells.append(numerals.number(joint.total_variation, digits))
            rows.append([step.id, *cells, step.verdict.value])
        titles = ["step", "accepted", "tokens", "left", "total variation", "verdict"]
        return layout.table(titles, rows, gap=gap)

    lines, _ = view.table(build, width)
    hidden = len(located) - len(shown)
    if hidden:
        lines.append(f"... {plural(hidden, 'more step')} (all with -v or --format json)")
    return lines


def counted(count: int, noun: str) -> str:
    """``1,024 outcomes``."""
    return plural(count, noun).replace(str(count), f"{count:,}", 1)


def exact_values(named: Iterable[Named]) -> list[str]:
    """Values that are too long for a table, one a line."""
    lines = ["", "exact values"]
    for name, column, figure in named:
        if figure.exact is not None and not Numerals().is_fraction(figure):
            lines.append(f"{name}  {column}  {fraction(figure.exact)}")
    return lines


def marginals(joint: JointResult, view: View) -> str:
    """The total variation of the token at each place of the output, request by request in a batch;
    empty where all are 0."""
    if all(is_zero(marginal.total_variation) for marginal in joint.marginals):
        return ""
    parts = [view.numerals.number(marginal.total_variation) for marginal in joint.marginals]
    said = ", ".join(parts)
    if len(parts) == joint.horizon * len(joint.requests):
        said = "; ".join(
            f"request {request.index} {', '.join(parts[i * joint.horizon :][: joint.horizon])}"
            for i, request in enumerate(joint.requests)
        )
    return f"total variation by place of the output: {said}"
