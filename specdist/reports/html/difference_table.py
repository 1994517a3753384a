"""The roles that disagree and the largest differences of a finding, as a table that needs no
script."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.figure import Figure
from specdist.model.finding import Finding
from specdist.model.joint_report import JointResult
from specdist.model.partial_report import BoundedBonus, BoundedPosition
from specdist.model.report import (
    BonusResult,
    BonusToken,
    PositionResult,
    StepResult,
    TokenLine,
)
from specdist.reports import bounded_text, joint_tables
from specdist.reports.aggregate import bounds_at
from specdist.reports.figure_text import Numerals, signed_decimal
from specdist.reports.html.markup import Html, element, html
from specdist.reports.layout import token as written_token
from specdist.reports.role_text import role_lines
from specdist.reports.view import View, plural

Subject = PositionResult | BonusResult | BoundedPosition | BoundedBonus | JointResult
_WIDTH = 72
_LARGE = 64
_MASSES = {"reference": "target", "drafted": "drafted", "tested": "tested", "output": "output"}
_BONUS = {"reference": "target", "output": "output"}


def roles_block(step: StepResult, finding: Finding) -> Html:
    """The roles that disagree at the place of an error; empty where none do."""
    subject = _subject(step, finding)
    lines = role_lines(subject.roles) if subject is not None else []
    return element("pre", "\n".join(lines), class_="roles") if lines else Html()


def difference_table(step: StepResult, finding: Finding, view: View) -> Html:
    """The largest differences, folded below the picture; empty without a place that has tokens."""
    subject = _subject(step, finding)
    if isinstance(subject, BoundedPosition | BoundedBonus):
        made = element("pre", "\n".join(bounded_text.panel(subject, view, _WIDTH)))
    elif isinstance(subject, JointResult):
        made = _outputs(subject, view)
    else:
        made = _tokens(subject, view) if subject is not None else Html()
    summary = element("summary", "the largest differences as a table")
    return element("details", summary, made, class_="more", data_print=True) if made else made


def _subject(step: StepResult, finding: Finding) -> Subject | None:
    if finding.severity.value != "error":
        return None
    if finding.position is None or step.joint is not None:
        return step.joint
    part = bounds_at(step, finding.position)
    if part is not None:
        return part
    if finding.position < 0:
        return step.bonus
    return next((p for p in step.positions if p.index == finding.position), None)


def _outputs(joint: JointResult, view: View) -> Html:
    names = [joint_tables.written(line.tokens, line.texts, joint) for line in joint.sequences]
    rows = [
        (name, [line.reference, line.output], line.difference)
        for name, line in zip(names, joint.sequences, strict=True)
    ]
    return _table("output", [*_BONUS.values()], rows[: view.show])


def _tokens(subject: PositionResult | BonusResult, view: View) -> Html:
    columns = _BONUS if isinstance(subject, BonusResult) else _MASSES
    tokens: list[TokenLine | BonusToken] = [*subject.tokens]
    ranked = sorted(tokens, key=lambda token: (-abs(token.difference.approx), token.id))
    with_id = subject.vocab_size > _LARGE
    rows = [
        (
            written_token(token.text, token.id, with_id),
            [getattr(token, column) for column in columns],
            token.difference,
        )
        for token in ranked[: view.show]
    ]
    hidden = subject.vocab_size - len(rows)
    more = element("p", f"and {plural(hidden, 'more token')}", class_="soft") if hidden else Html()
    table = _table("token", [*columns.values()], rows)
    return html(table, more) if table else table


def _table(
    first: str, columns: Sequence[str], rows: Sequence[tuple[str, list[Figure], Figure]]
) -> Html:
    if not rows:
        return Html()
    numerals = Numerals()
    head = [element("th", first, scope="col")]
    titles = [*columns, "output − target"]
    head += [element("th", title, scope="col", class_="number") for title in titles]
    lines = []
    for name, masses, difference in rows:
        cells = [element("td", numerals.number(mass), class_="number") for mass in masses]
        text = numerals.signed(difference)
        if numerals.is_fraction(difference) and "/" in text:
            text += f"  {signed_decimal(difference)}"
        cells.append(element("td", text, class_="number"))
        lines.append(element("tr", element("th", name, scope="row", class_="token"), *cells))
    table = element("table", element("thead", element("tr", *head)), element("tbody", *lines))
    return element(
        "div",
        table,
        class_="wide",
        tabindex="0",
        role="region",
        aria_label="differences, largest first",
    )
