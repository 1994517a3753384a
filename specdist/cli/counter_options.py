"""``--counters``: what an engine counted, beside the exact acceptance of the capture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specdist.cli.option import Option
from specdist.errors import CaptureError, SettingsError

if TYPE_CHECKING:
    from specdist.model.counters import Counters

_FILES = "Acceptance counters: Prometheus text, or JSON of an engine or benchmark; repeatable."
_BEFORE = "An earlier scrape of the same counters: only what came after it is compared."
_RUNNING = "prometheus"
"""The reader whose counts run on; those of a request or of a benchmark begin at 0."""

COUNTERS: tuple[Option, ...] = (
    Option("counters", "Input", _FILES, "FILE", form="list", in_config=False),
    Option("counters-before", "Input", _BEFORE, "FILE", in_config=False),
)


def read_counters(values: Mapping[str, Any]) -> tuple[Counters, ...]:
    """The counters that the command line names, less an earlier scrape. Raises SpecdistError."""
    names = values.get("counters") or []
    before = values.get("counters_before")
    if not names:
        if before is not None:
            raise SettingsError(
                "--counters-before without --counters", expected="the later scrape: --counters FILE"
            )
        return ()
    from specdist.readers.counters import open_counters

    found = tuple(item for name in names for item in open_counters(name))
    return found if before is None else _since(found, open_counters(before), before)


def _since(
    after: tuple[Counters, ...], before: tuple[Counters, ...], name: str
) -> tuple[Counters, ...]:
    from specdist.verify.counters.figures import difference

    earlier = {(item.reader, item.label): item for item in before}
    result = []
    for item in after:
        if item.reader != _RUNNING:
            raise CaptureError(
                f"{item.title} do not go on from an earlier scrape",
                place=item.source,
                expected="counters since a server started: Prometheus text",
                advice="leave out --counters-before",
            )
        old = earlier.get((item.reader, item.label))
        if old is None or item.interval_only:
            raise CaptureError(
                f"the earlier scrape has no counters of {item.label or item.title}",
                place=name,
                expected="counters of the same server and model; gauges have no difference",
            )
        try:
            result.append(difference(item, old))
        except ValueError as error:
            raise CaptureError(
                str(error),
                place=f"{name} and {item.source}",
                expected="two scrapes of one run, the earlier one as --counters-before",
                advice="a server that was started again counts from 0: leave out the earlier one",
            ) from None
    return tuple(result)
