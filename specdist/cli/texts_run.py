"""``specdist check --texts A B``: two recorded outputs, compared as texts.

Exit codes, a function of the report alone. 0: the texts are identical, or every first difference is
a near-tie in the format that is stated or stored; that is a tolerance which somebody declared, and
the report prints it. 1: a first difference that no single rounding explains. 4: one about which the
files tell nothing, or sampling, where a difference proves nothing. 3: the outputs are empty. A 0
has compared texts, so it did not check nothing; that it checked no law is the report's first line,
and its words (identical, near-tie, open, unexplained) are never those of a law.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from specdist.cli.exit_codes import ExitCode, forgiven, texts_exit_code
from specdist.cli.option import Option
from specdist.cli.options import OUTPUT
from specdist.errors import SettingsError

if TYPE_CHECKING:
    from specdist.cli.settings import Effective
    from specdist.model.texts import TextsReport

TEXTS: tuple[Option, ...] = (
    Option(
        "texts",
        "Input",
        "Compare two recorded outputs of one run each; no law is checked (explain claims).",
        "A B",
        form="pair",
        in_config=False,
    ),
)
_HEEDED = {"texts", "target", "numbers", "temperature", "vocab", *(o.name for o in OUTPUT)}
_FORMS = ("text", "json")


def run_texts(
    values: Mapping[str, Any], captures: Sequence[str], known: Sequence[Option]
) -> ExitCode:
    """Compares, writes the report in the chosen form, gives the exit code. ``known`` are all
    options of the command. Raises SpecdistError."""
    from specdist.cli import console, exports
    from specdist.cli.settings import effective
    from specdist.reports import page

    first, second = values["texts"]
    _refuse_others(values, captures, known)
    # The configured processing is that of captures: what texts were drawn with, only they can say.
    chosen = effective({**values, "target": None})
    output = chosen.output
    exports.check_forms(output.format, output.exports, "a comparison of texts", _FORMS)
    named = (first, second, values["target"])
    exports.check_paths(output.exports, [name for name in named if name])
    _refuse_same(first, second)
    report = _report(first, second, values, chosen)
    with page.at(page.WIDTH):
        texts = {export: _rendered(report, chosen, export.form) for export in output.exports}
    exports.write_texts(texts)
    console.out(_rendered(report, chosen, output.format, printed=True))
    code = texts_exit_code(report)
    return forgiven(code) if output.exit_zero else code


def _report(first: str, second: str, values: Mapping[str, Any], chosen: Effective) -> TextsReport:
    from specdist.readers.texts.opening import open_texts
    from specdist.readers.vocab_file import load_vocab
    from specdist.verify.texts.comparison import compare_texts

    reading = chosen.settings.reading
    ours, theirs = open_texts(first, reading), open_texts(second, reading)
    if values["target"] is not None:
        from specdist.readers.texts.engine_values import with_dump

        ours = with_dump(ours, values["target"], reading)
    vocab = None if reading.vocab is None else load_vocab(reading.vocab)
    given = {name: values[name] for name in ("target", "numbers", "temperature", "vocab")}
    return compare_texts(
        ours,
        theirs,
        temperature=_temperature(values["temperature"]),
        numbers=reading.numbers,
        text_of=(lambda token: None) if vocab is None else vocab.text,
        settings={name: str(value) for name, value in given.items() if value is not None},
    )


def _rendered(report: TextsReport, chosen: Effective, form: str, printed: bool = False) -> str:
    import json
    import sys

    from specdist.cli import console

    output = chosen.output
    if form == "json":
        from specdist.reports.json_texts import to_json

        return json.dumps(to_json(report, output.exact), indent=2) + "\n"
    from specdist.reports.style import PLAIN
    from specdist.reports.texts_text import render
    from specdist.reports.view import View

    paint = console.paint_for(output.color, sys.stdout) if printed else PLAIN
    return render(report, View(output.show, output.verbose, output.quiet, output.exact, paint))


def _temperature(text: str | None) -> Fraction | None:
    from specdist.cli.option_values import rational

    expected = "0 for greedy runs, or the temperature that both runs drew at"
    value = None if text is None else rational("temperature", text, expected)
    if value is not None and value < 0:
        raise SettingsError(f"temperature={text} is out of range", expected=expected)
    return value


def _refuse_others(
    values: Mapping[str, Any], captures: Sequence[str], known: Sequence[Option]
) -> None:
    if captures:
        raise SettingsError(
            "captures and --texts are given together",
            place="command line",
            expected="CAPTURE... for laws, or --texts A B for two recorded outputs",
        )
    for option in known:
        given = values.get(option.parameter) not in (None, False, [], ())
        if option.name not in _HEEDED and given:
            raise SettingsError(
                f"--{option.name} says nothing about two recorded texts",
                place="command line",
                expected="--texts A B, with --target DUMP, --numbers, --temperature, --vocab",
            )


def _refuse_same(first: str, second: str) -> None:
    """One file compared with itself is the same whatever is in it."""
    if first == second or (
        os.path.exists(first) and os.path.exists(second) and os.path.samefile(first, second)
    ):
        raise SettingsError(
            "--texts names one file twice, which is the same as itself",
            place=second,
            expected="the recorded outputs of two runs",
        )
