"""``--severity IDENT=LEVEL`` and ``[severity]``: which findings fail a run."""

from __future__ import annotations

from collections.abc import Iterable

from specdist.cli.option_values import choice, nearest
from specdist.errors import SettingsError
from specdist.model.finding import Severity


def read_severities(name: str, texts: Iterable[str]) -> dict[str, Severity]:
    """Severities by ident. Raises SettingsError for unknown idents, levels and contradictions."""
    from specdist.findings.catalogue import FOUND

    found: dict[str, Severity] = {}
    for text in texts:
        ident, equals, level = text.partition("=")
        if not equals:
            raise SettingsError(
                f"{name}={text[:60]} names no level", expected="IDENT=LEVEL, as near-cut=error"
            )
        if ident not in FOUND:
            raise SettingsError(
                f"{name}: unknown ident {ident[:60]!r}", advice=nearest(ident, FOUND)
            )
        chosen = Severity(choice(f"{name}: {ident}", level, [item.value for item in Severity]))
        if found.setdefault(ident, chosen) is not chosen:
            raise SettingsError(
                f"{name}: {ident} is to be {found[ident].value} and {level}",
                expected="one level for each ident",
            )
    return found
