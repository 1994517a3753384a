"""``check --texts`` as JSON: ``specdist.texts/1``."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.figure import Figure
from specdist.model.texts import Difference, Excerpt, OutputPair, TextsReport, Weighed
from specdist.reports.json_numbers import Object, optional

SCHEMA = "specdist.texts/1"


def to_json(report: TextsReport, exact: bool) -> Object:
    """The report as a JSON value; its ``match`` is no verdict about a law."""
    sides = zip(report.sources, report.forms, strict=True)
    return {
        "schema": SCHEMA,
        "specdist": report.version,
        "match": report.match.value,
        "law_checked": False,
        "settings": dict(report.settings),
        "sampling": report.sampling,
        "sources": [{"source": source, "form": form} for source, form in sides],
        "summary": {
            "outputs": len(report.pairs),
            **{match.value: count for match, count in report.counts.items()},
        },
        "outputs": [_pair(pair, exact) for pair in report.pairs],
        "notes": list(report.notes),
        "scope": list(report.scope),
    }


def _pair(pair: OutputPair, exact: bool) -> Object:
    return {
        "index": pair.index,
        "places": list(pair.places),
        "match": pair.match.value,
        "unit": pair.unit,
        "same": pair.compared,
        "lengths": list(pair.lengths),
        "difference": None if pair.difference is None else _difference(pair.difference, exact),
        "notes": list(pair.notes),
    }


def _difference(found: Difference, exact: bool) -> Object:
    return {
        "index": found.index,
        "first": _excerpt(found.first),
        "second": _excerpt(found.second),
        "weighed": [_weighed(each, exact) for each in found.weighed],
        "reason": found.reason,
    }


def _excerpt(side: Excerpt) -> Object:
    return {"before": side.before, "here": side.here, "after": side.after}


def _weighed(each: Weighed, exact: bool) -> Object:
    return {
        "source": each.source,
        "place": each.place,
        "match": each.match.value,
        "tells": each.tells.value,
        "says": each.says,
        "kind": each.kind,
        "numbers": each.numbers or None,
        "emitted": _number(each.emitted, exact),
        "other": _number(each.other, exact),
        "margin": _number(each.margin, exact),
        "spacing": _number(each.spacing, exact),
    }


def _number(value: Fraction | None, exact: bool) -> Object | None:
    return None if value is None else optional(Figure.of(value), exact)
