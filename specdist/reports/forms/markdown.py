"""Markdown: a comment on a merge request, and the job summary of GitHub Actions.

The verdict stands first, then the steps, the findings with their lesson, the scope and the
settings. GitHub refuses a comment of more than 65,536 characters, and a job summary of more than
1 MiB: whole rows and whole findings are left out beyond that, and the text says how many. The scope
is never left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.model.outcome import Outcome
from specdist.reports.forms.clean_text import cut
from specdist.reports.forms.entries import Entry, Weight, entries
from specdist.reports.forms.form import AnyReport, FormOptions
from specdist.reports.forms.markdown_text import block, code, row, table, words
from specdist.reports.forms.shown_figures import setting_texts, text_of
from specdist.reports.outline import Case, Outline
from specdist.reports.outlines import outline_of
from specdist.reports.view import plural

MOST = 65_536
_ROWS_UP_TO = MOST // 3
_ENDED = 400
"""Room for the sentences that say what was left out."""
_LONGEST, _CELL, _MOST_FIGURES = 8000, 200, 3
_LARGEST = "largest total variation"
"""The column of steps of several positions, which have too many figures for a table."""

NOUNS = {"replay": ("check", "capture"), "audit": ("table", "adapter")}
"""What a case is, and what it is of."""

WORDS = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.ALLOWED: "differs, allowed",
    Outcome.UNDECIDED: "undecided",
    Outcome.NOTHING_CHECKED: "nothing checked",
}
RANKS = {
    Outcome.FAILED: 0,
    Outcome.UNDECIDED: 1,
    Outcome.NOTHING_CHECKED: 2,
    Outcome.ALLOWED: 3,
    Outcome.PASSED: 4,
}
LABELS = {
    Weight.BROKEN: "error",
    Weight.FAILS: "error",
    Weight.OPEN: "undecided",
    Weight.WARNING: "warning",
    Weight.TOLERATED: "tolerated",
    Weight.ALLOWED: "allowed",
    Weight.NOTE: "note",
}


def render(report: AnyReport, options: FormOptions) -> str:
    """The page, of at most 65,536 characters."""
    outline = outline_of(report, options)
    head, tail = _head(outline, options), _tail(outline)
    room = MOST - len(head) - len(tail) - _ENDED
    cases = _cases(outline, options, min(room, _ROWS_UP_TO))
    found = _findings(outline, room - len(cases))
    return head + cases + found + tail


def _head(outline: Outline, options: FormOptions) -> str:
    title = f"## specdist {outline.command}: {WORDS[outline.outcome]}\n\n"
    figures = [f"{name} {text_of(f, options.exact)}" for name, f in outline.figures]
    listed = "".join(f"- {words(line)}\n" for line in figures)
    return f"{title}{words(outline.headline)}\n" + (f"\n{listed}" if listed else "")


def _cases(outline: Outline, options: FormOptions, room: int) -> str:
    """The steps, those that did not pass first; of those that passed at most ``show``."""
    if not outline.cases:
        return ""
    names = list(dict.fromkeys(name for case in outline.cases for name, _ in case.figures))
    names = names if len(names) <= _MOST_FIGURES else [_LARGEST]
    noun, origin = NOUNS.get(outline.command, ("step", "capture"))
    head = "\n" + table(["verdict", noun, origin, *names], len(names))
    order = sorted(outline.cases, key=lambda case: RANKS[case.outcome])
    others = sum(case.outcome is not Outcome.PASSED for case in order)
    listed = order[: others + max(options.show, 1)]
    rows, shown = fitting((_row(case, names, options) for case in listed), room - len(head))
    left = Counter(case.verdict for case in order[shown:])
    if not left:
        return head + rows
    kinds = ", ".join(f"{count} {verdict}" for verdict, count in left.items())
    return f"{head}{rows}\n{plural(left.total(), f'more {noun}')} not listed: {kinds}.\n"


def _row(case: Case, names: Sequence[str], options: FormOptions) -> str:
    figures = dict(case.figures)
    sizes = [figure for name, figure in case.figures if name.startswith("total variation")]
    if sizes:
        figures[_LARGEST] = max(sizes, key=_height)
    shown = [text_of(figures[n], options.exact) if n in figures else "" for n in names]
    allowed = " (allowed)" if case.outcome is Outcome.ALLOWED else ""
    cells = [code(cut(case.id, _CELL)), code(cut(case.source, _CELL)), *map(words, shown)]
    return row([case.verdict + allowed, *cells])


def _height(figure: Figure | Interval) -> float:
    return float(figure.most) if isinstance(figure, Interval) else figure.approx


def _findings(outline: Outline, room: int) -> str:
    """The lessons, worst first, and the notes a line each by ident."""
    found = [entry for entry in entries(outline) if entry.message != outline.headline]
    loud = [entry for entry in found if entry.weight is not Weight.NOTE]
    notes = list(_notes(found))
    text, shown = fitting(chain(map(_lesson, loud), notes), room)
    left = len(loud) + len(notes) - shown
    if left:
        text += (
            f"\n{plural(left, 'more finding')} left out: a comment ends at {MOST:,} characters.\n"
        )
    return f"\n### Findings\n{text}" if text else ""


def _lesson(entry: Entry) -> str:
    place = f" at {code(cut(entry.place, _CELL))}" if entry.place else ""
    lesson = block(cut(entry.lesson, _LONGEST))
    return f"\n{LABELS[entry.weight]} {code(entry.ident)}{place}\n\n{lesson}"


def _notes(found: Sequence[Entry]) -> Iterator[str]:
    folded: dict[str, list[Entry]] = {}
    for entry in found:
        if entry.weight is Weight.NOTE:
            folded.setdefault(entry.ident, []).append(entry)
    for ident, group in folded.items():
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        place = f" ({code(cut(group[0].place, _CELL))}{more})" if group[0].place else more
        yield f"\nnote {code(ident)}: {words(cut(group[0].message, _LONGEST))}{place}\n"


def _tail(outline: Outline) -> str:
    """What was assumed and the settings, each in an eighth of the page; the whole scope."""
    text = ""
    if outline.against:
        text += f"\n### Baseline\n\n{block(cut(chr(10).join(outline.against), _LONGEST))}"
    if outline.facts:
        facts, shown = fitting((f"- {code(fact)}\n" for fact in outline.facts), MOST // 8)
        left = len(outline.facts) - shown
        text += f"\n### Read as\n\n{facts}" + (f"- {left} more\n" if left else "")
    if outline.scope:
        text += "\n### Scope\n\n" + "".join(f"- {words(said)}\n" for said in outline.scope)
    named = setting_texts(outline.settings)
    lines = (row([code(cut(k, _CELL)), code(cut(v, _CELL))]) for k, v in named.items())
    settings, _ = fitting(lines, MOST // 8)
    if settings:
        text += "\n<details><summary>Settings</summary>\n\n" + table(["setting", "value"])
        text += f"{settings}\n</details>\n"
    return f"{text}\nspecdist {words(outline.version)}\n"


def fitting(pieces: Iterable[str], room: int) -> tuple[str, int]:
    """The first pieces that fit the room, whole and joined, and how many they are."""
    found: list[str] = []
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            break
        found.append(piece)
    return "".join(found), len(found)
