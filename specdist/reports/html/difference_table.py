"""The roles that disagree and the largest differences of a finding, as a table that needs no
script."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.figure import Figure
from specdist.model.finding import Finding
from specdist.model.report import (
    BonusResult,
    BonusToken,
    PositionResult,
    RoleUse,
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

_WIDTH = 72
_LARGE = 64
_MASSES = {"reference": "target", "drafted": "drafted", "tested": "tested", "output": "output"}
_BONUS = {"reference": "target", "output": "output"}


def difference_table(step: StepResult, finding: Finding, view: View) -> Html:
    """For an error at a place whose rows the report holds; empty otherwise."""
    if finding.severity.value != "error":
        return Html()
    part = bounds_at(step, finding.position)
    if part is not None:
        lines = bounded_text.panel(part, view, _WIDTH)
        return html(_roles(part.roles), element("pre", "\n".join(lines)))
    if finding.position is not None:
        return _at(step, finding.position, view)
    if step.joint is None:
        return Html()
    names = [
        joint_tables.written(line.tokens, line.texts, step.joint) for line in step.joint.sequences
    ]
    rows = [
        (name, [line.reference, line.output], line.difference)
        for name, line in zip(names, step.joint.sequences, strict=True)
    ][: view.show]
    return html(_roles(step.joint.roles), _table("output", [*_BONUS.values()], rows))


def _at(step: StepResult, position: int, view: View) -> Html:
    subject: PositionResult | BonusResult | None = step.bonus
    if position >= 0:
        subject = next((p for p in step.positions if p.index == position), None)
    if subject is None:
        return Html()
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
    return html(_roles(subject.roles), _table("token", [*columns.values()], rows), more)


def _roles(uses: Sequence[RoleUse]) -> Html:
    lines = role_lines(uses)
    return element("pre", "\n".join(lines)) if lines else Html()


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
