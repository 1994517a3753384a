"""Numbers and texts as the scripts of a page read them: short, and each text once.

A number is a label, or ``[label, exact, bound, closed form]`` where more is known than the label
says; an interval is ``[least, most, label]`` with the ends rounded outwards.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.exact.outward import outward_float
from specdist.model.figure import Figure
from specdist.model.report import RoleUse
from specdist.reports import interval_text, layout
from specdist.reports.figure_text import Numerals, bound, decimal, fraction, is_worth_a_bound
from specdist.reports.forms.clean_text import printable
from specdist.reports.role_text import recipe_words, role_lines

Packed = str | list[object] | None
_SHORT = Numerals()
_LONGEST_DENOMINATOR = 10**200
_LONGEST_NAME = 200


@dataclass
class Packer:
    """Packs what belongs to one page. ``show`` is the tokens of a position; with ``spelled`` long
    fractions come along, those of any length with ``exact``. ``texts`` are referred to by index."""

    show: int
    spelled: bool = True
    exact: bool = False
    texts: list[object] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)

    def text(self, value: object) -> int:
        """The index of a text, or of another value that is often the same."""
        key = json.dumps(value)
        if key not in self._known:
            self._known[key] = len(self.texts)
            self.texts.append(value)
        return self._known[key]

    def number(self, figure: Figure | None) -> Packed:
        """A figure of the report."""
        if figure is None:
            return None
        label = _SHORT.number(figure)
        spelled = self._spelled(figure.exact, label)
        within = bound(figure.bound) if is_worth_a_bound(figure) else 0
        if figure.symbolic is not None:
            return [label, spelled, within, printable(figure.symbolic)]
        if within:
            return [label, spelled, within]
        return [label, spelled] if spelled else label

    def mass(self, figure: Figure | None) -> Packed:
        """A mass of a token: without ``spelled`` its six digits alone."""
        if figure is None or self.spelled or figure.symbolic is not None:
            return self.number(figure)
        return _SHORT.number(figure)

    def rough(self, figure: Figure) -> Packed:
        """A figure of which three digits are known where it is not exact."""
        return decimal(figure, 3) if figure.exact is None else self.number(figure)

    def _spelled(self, value: Fraction | None, label: str) -> str | int:
        if value is None or not self.spelled or "/" in label or value.denominator == 1:
            return 0
        if value.denominator >= _LONGEST_DENOMINATOR and not self.exact:
            return 0
        return fraction(value)

    def interval(self, value: Interval) -> Packed:
        """An interval of the report."""
        least, most = outward_float(value.least, up=False), outward_float(value.most, up=True)
        return [least, most, interval_text.interval(value, _SHORT)]

    def either(self, figure: Figure | None, bounds: Interval | None) -> Packed:
        """A figure, or an interval where there are bounds."""
        return self.number(figure) if bounds is None else self.interval(bounds)

    def token(self, text: str | None, ident: int, with_id: bool) -> int:
        """A token as a report writes it; one that is cut there is spelled out beside it."""
        short = layout.token(text, ident, with_id)
        whole = short if text is None else f"{ident} {text[:_LONGEST_NAME]!r}"
        if text is not None and len(text) > _LONGEST_NAME:
            whole += f"... ({len(text):,} characters)"
        return self.text([short, whole])

    def roles(self, uses: Sequence[RoleUse]) -> list[object]:
        """What fills each role: the recipes, how many tokens each makes possible, and the lines
        that point at roles which disagree."""
        recipes = [[use.role, use.side, printable(recipe_words(use.recipe))] for use in uses]
        lines = printable("\n".join(role_lines(uses)))
        return [self.text(recipes), [use.support for use in uses], self.text(lines)]
