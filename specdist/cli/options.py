"""The options as data, by group. A command takes whole groups; settings know them by name."""

from __future__ import annotations

from specdist.cli.model_options import MODEL
from specdist.cli.option import Option, described, takes
from specdist.cli.shape_options import ENUMERATION, SHAPE
from specdist.reports.forms.registry import FORMS, PRINTED

__all__ = ["CHECKING", "CONFIG", "ENGINE", "INPUT", "OUTPUT", "Option", "described", "takes"]

_IN, _ENGINE, _CHECK, _OUT = "Input", "Engine", "Checking", "Output"
_KINDS = ("logits", "logprobs", "probabilities")
_NUMBERS = ("decimal", "float16", "bfloat16", "float32", "float64")
_STAGES = ("raw", "temperature", "processed")
_LENGTHS = "Blocks: a step has n draft rows and n + 1 target rows; as 4,4,3 or 4x12 or in a file."
_SHIFT = "Row i of a table is the law of token i + SHIFT."
_ROWS = "Read only the first N rows of each sequence of a dump, as 6 or 3,6."
_HISTORY = "Token ids before the step, for the penalties, as 1,2,3."
_SEVERITY = "Make this finding an error, a warning or a note; repeatable."
_ROLE = "Replace the recipe of one role, as drafted_from=top-p:9/10; repeatable."

INPUT: tuple[Option, ...] = (
    Option("target", _IN, "Dump of target rows.", "FILE[::NAME]"),
    Option("draft", _IN, "Dump of draft rows.", "FILE[::NAME]"),
    Option("draft-lengths", _IN, _LENGTHS, "LENGTHS"),
    Option("axes", _IN, "Meaning of the axes, where three or more are longer than 1.", "AXES"),
    Option("shift", _IN, _SHIFT, "SHIFT", choices=("0", "1")),
    Option("rows", _IN, _ROWS, "N[,N...]"),
    Option("reader", _IN, "Read with this reader, whatever the content looks like.", "NAME"),
    Option("numbers", _IN, "Format the numbers were dumped from.", "NUMBERS", choices=_NUMBERS),
    Option("kind", _IN, "What the numbers are.", "KIND", choices=_KINDS),
    Option("stage", _IN, "What rows have been through.", "STAGE", choices=_STAGES),
    Option("vocab", _IN, "Token texts: a JSON list, or a tokenizer.json.", "FILE"),
    Option("vocab-size", _IN, "Vocabulary size that the target rows must have.", "N"),
    Option("select", _IN, "Only steps whose id matches.", "GLOB"),
    Option("limit", _IN, "Only the first N steps.", "N"),
)

_PRESET = "Order, conventions, rows and rule of this engine (specdist engines lists them)."

ENGINE: tuple[Option, ...] = (
    Option("engine", _ENGINE, _PRESET, "NAME"),
    Option("rule", _ENGINE, "Acceptance rule.", "RULE", default="token"),
    Option("recipe", _ENGINE, 'Ordered steps, as "temperature:0.8,top-p:0.95", or raw.', "RECIPE"),
    Option("draft-recipe", _ENGINE, "Ordered steps of the draft side.", "RECIPE"),
    Option("role", _ENGINE, _ROLE, "ROLE=RECIPE", form="list"),
    Option("normalise", _ENGINE, "Divide probability rows by their sum; reported.", form="flag"),
    Option("history", _ENGINE, _HISTORY, "IDS", in_config=False),
    Option("prompt-length", _ENGINE, "How many of them are the prompt.", "N", in_config=False),
    *SHAPE,
    *MODEL,
)

CHECKING: tuple[Option, ...] = (
    Option("min-acceptance", _CHECK, "Fail below this acceptance rate.", "R"),
    Option("max-tv", _CHECK, "Tolerate a total variation up to R; reported.", "R"),
    Option("allow", _CHECK, "Do not fail on this finding; repeatable.", "IDENT", form="list"),
    Option("severity", _CHECK, _SEVERITY, "IDENT=LEVEL", form="list"),
    Option("budget", _CHECK, "Stop after this time; the rest is undecided.", "SECONDS"),
    *ENUMERATION,
    Option("workers", _CHECK, "Processes (default: the cores).", "N"),
)

_EXPORT = f"Write a file too; repeatable. Forms: {', '.join(form.name for form in FORMS)}."

OUTPUT: tuple[Option, ...] = (
    Option(
        "format",
        _OUT,
        "The report as.",
        "FORMAT",
        choices=PRINTED,
        default="text",
    ),
    Option("export", _OUT, _EXPORT, "FORM=PATH", form="list"),
    Option("show", _OUT, "Rows of each table.", "N", default="10"),
    Option("exact", _OUT, "Spell out every fraction, however long.", form="flag"),
    Option("verbose", _OUT, "Unfold everything.", form="flag", short="v"),
    Option("quiet", _OUT, "One line a finding, and the summary.", form="flag", short="q"),
    Option("color", _OUT, "Colour.", "WHEN", choices=("auto", "always", "never"), default="auto"),
    Option("no-progress", _OUT, "No progress bar.", form="flag"),
    Option("exit-zero", _OUT, "Exit 0 instead of 1 and 4.", form="flag", in_config=False),
)

CONFIG: tuple[Option, ...] = (
    Option("captures", _IN, "What check reads when the command line names nothing.", form="list"),
)
"""Keys of the config file that are no options."""
