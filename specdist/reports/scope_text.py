"""What the verdict does not say, in few words: the report's sentences, those known here shorter."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.report import Report
from specdist.reports import layout
from specdist.verify.scope import AS_SPECIFIED, SCOPE, TIMED, UNMEASURED

_SHORT = dict(
    zip(
        (*SCOPE, AS_SPECIFIED, TIMED, UNMEASURED),
        (
            "equality promises neither the same text (one seed or one run) nor similar scores "
            "(specdist explain claims)",
            "speed was not measured",
            "only captured rows were checked, no deployment",
            "with roles as in a correct engine the rule is lossless for any rows: to test an "
            "engine, say what it does (--role, role rows)",
            "times are those that the capture carries",
            "speed is unmeasured (times without all of models, sampling, load and hardware)",
        ),
        strict=True,
    )
)


def scope_lines(report: Report) -> list[str]:
    """One paragraph; nothing when nothing was checked, for then there is no verdict."""
    if not report.scope or not report.summary.steps:
        return []
    return layout.wrap(scope_sentence(report.scope), "", "  ")


def scope_sentence(scope: Sequence[str]) -> str:
    """The sentences of a scope as one, short."""
    return "scope: " + "; ".join(_SHORT.get(sentence, sentence) for sentence in scope)
