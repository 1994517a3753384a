"""``check --texts`` as text: that only texts were compared comes first, then every difference."""

from __future__ import annotations

from specdist.model.texts import Excerpt, Match, OutputPair, TextsReport, Weighed
from specdist.reports import layout
from specdist.reports.view import View, plural

_FIRST = "texts only: one recorded run against another, and no law was checked"
_SAID = {
    Match.IDENTICAL: "the outputs of these two runs are the same",
    Match.NEAR_TIE: "every difference begins where one rounding can turn the choice",
    Match.OPEN: "the outputs differ, and nothing here tells whether a near-tie explains all of it",
    Match.UNEXPLAINED: "the outputs differ where no single rounding can turn the choice",
    Match.EMPTY: "nothing was compared: the outputs are empty",
}
_STYLE = {
    Match.IDENTICAL: "good",
    Match.NEAR_TIE: "warn",
    Match.OPEN: "warn",
    Match.UNEXPLAINED: "bad",
    Match.EMPTY: "warn",
}


def render(report: TextsReport, view: View) -> str:
    """The report as text of at most 80 columns, ending in a line break."""
    parted = [pair for pair in report.pairs if pair.difference is not None]
    if view.quiet:
        return "\n".join([*(_line(pair, view) for pair in parted), *_summary(report)]) + "\n"
    limit = len(parted) if view.limit is None else max(view.limit, 1)
    lines = [*layout.wrap(_FIRST), ""]
    for word, source, form in zip(("first", "second"), report.sources, report.forms, strict=True):
        lines += layout.wrap(f"{source}  {form}", f"  {word:<8}  ")
    lines += layout.wrap(report.sampling, "  sampling  ")
    for pair in parted[:limit]:
        lines += ["", *_difference(pair, view)]
    if len(parted) > limit:
        hidden = plural(len(parted) - limit, "more difference")
        lines += ["", f"... {hidden} (--show N lists more, -v all)"]
    for note in report.notes:
        lines += ["", *layout.wrap(note, "note: ", "  ")]
    said = layout.wrap(f"{report.match.value}: {_SAID[report.match]}", "", "  ")
    said[0] = _painted(report.match, said[0], view)
    scope = layout.wrap(f"scope: {'; '.join(report.scope)} (specdist explain claims)", "", "  ")
    return "\n".join([*lines, "", *said, *_compared(report), "", *scope, *_summary(report)]) + "\n"


def _painted(match: Match, line: str, view: View) -> str:
    word = f"{match.value}:"
    return view.paint(_STYLE[match], word) + line[len(word) :]


def _difference(pair: OutputPair, view: View) -> list[str]:
    found = pair.difference
    if found is None:
        return []
    head = f"{pair.match.value}: output {pair.index} parts at {pair.unit} {found.index}"
    lines = [_painted(pair.match, head, view)]
    for where in pair.places:
        lines += layout.wrap(where, "  --> ", "      ")
    lines.append("   |")
    for word, side in (("first", found.first), ("second", found.second)):
        lines += layout.wrap(_excerpt(side), f"   |  {word:<6}  ", "   |          ")
    lines.append("   |")
    for each in found.weighed:
        lines += layout.wrap(_weighed(each), "   = ", "     ")
    if found.reason:
        lines += layout.wrap(found.reason, "   = ", "     ")
    for note in pair.notes:
        lines += layout.wrap(note, "   = note: ")
    return lines


def _excerpt(side: Excerpt) -> str:
    if side.here is None:
        return f"{side.before}  >>> ends here"
    return f"{side.before}  >>> {side.here} <<<  {side.after}".rstrip()


def _weighed(each: Weighed) -> str:
    return f"{each.place}: {each.says}"


def _line(pair: OutputPair, view: View) -> str:
    found = pair.difference
    if found is None:
        return ""
    says = "; ".join(
        [*(each.says for each in found.weighed), *([found.reason] * bool(found.reason))]
    )
    line = f"{pair.match.value}: output {pair.index}, {pair.unit} {found.index}: {says}"
    return _painted(pair.match, line, view)


def _compared(report: TextsReport) -> list[str]:
    """How much of it was compared, and found the same."""
    units: dict[str, int] = {}
    for pair in report.pairs:
        units[pair.unit] = units.get(pair.unit, 0) + pair.compared
    same = " and ".join(plural(count, unit) for unit, count in units.items())
    parted = any(pair.difference is not None for pair in report.pairs)
    where = " before the first difference of each output" if parted else ""
    return layout.wrap(f"{same} found the same{where}", "    ")


def _summary(report: TextsReport) -> list[str]:
    """``3 outputs compared: 2 identical, 1 near-tie, 0 open, 0 unexplained``."""
    words = (Match.IDENTICAL, Match.NEAR_TIE, Match.OPEN, Match.UNEXPLAINED)
    parts = [f"{report.counts[match]} {match.value}" for match in words]
    empty = report.counts[Match.EMPTY]
    parts += [f"{empty} empty"] if empty else []
    return [f"{plural(len(report.pairs), 'output')} compared: {', '.join(parts)}"]
