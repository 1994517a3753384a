"""`assert_lossless`: one line of a test that fails with what `specdist check` prints.

Usable under any test runner; under pytest it is also a fixture of the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from math import ceil, log10
from typing import TYPE_CHECKING, Any, TypeAlias

from specdist.errors import SpecdistError

if TYPE_CHECKING:
    from specdist.model.report import Report

__all__ = ["Kernel", "MisuseError", "assert_lossless"]

Number: TypeAlias = "Fraction | int | float | str"
Kernel: TypeAlias = Callable[[Any, Any], tuple[Any, Any]]
"""A kernel under test: from a target row and a draft row (or draft token) to the acceptance
probability of every token, and the law of the token that is drawn after a rejection."""

_ROUNDINGS = 8
"""A total variation of so many roundings may be rounding, by its size."""


class MisuseError(SpecdistError, ValueError):
    """`assert_lossless` was called with values that nothing can be checked with.

    It is no AssertionError, so that a test which is itself wrong does not look like a finding.
    """

    ident = "invalid-settings"

    @classmethod
    def of(cls, error: SpecdistError) -> MisuseError:
        """The same complaint as a ValueError."""
        misuse = cls(error.message, place=error.place, expected=error.expected, advice=error.advice)
        misuse.ident = error.ident
        return misuse

    def __str__(self) -> str:
        """The message in the form that the command line prints."""
        from specdist.reports.error_text import render_error
        from specdist.reports.style import PLAIN

        return render_error(self, PLAIN).rstrip()


def assert_lossless(
    target: Any, draft: Any, *, sampler: str | Mapping[str, Any] | Kernel | None = None,
    recipe: str | None = None, rule: str | None = None, engine: str | None = None,
    accept: Any = None, recovery: Any = None, kind: str = "probabilities",
    roles: Mapping[str, str] | None = None, normalise: bool = False, max_tv: Number | None = None,
    min_acceptance: Number | None = None, allow: Collection[str] = (), show: int = 10,
) -> Report:  # fmt: skip
    """Asserts that what is emitted has exactly the law of the target; returns the report.

    ``target``: a row [V] or rows [T, V] of exact numbers (Fraction, int, text), or an array or a
    tensor; ``draft``: the same, or the drafted token ids. ``sampler`` is a recipe ("top-p:0.95"),
    sampling options by name ({"temperature": 0.8}), both applied to the two sides, or a `Kernel`,
    which is called with each pair of rows as given (exact rows as Fractions) and compared as the
    binary numbers that it returns; ``recipe`` is then what the reference goes through. ``accept``
    and ``recovery`` are such numbers without a call. ``max_tv`` is the tolerated total variation,
    ``min_acceptance`` a floor, ``allow`` the idents of findings that do not fail; the others are as
    in `specdist.check`.

    Raises AssertionError with the text of `specdist check` unless every position is equal or within
    the tolerance: also for `undecided`, and where nothing was checked. Raises MisuseError, a
    ValueError, for values that nothing can be checked with.
    """
    __tracebackhide__ = True
    options: dict[str, Any] = {"rule": rule, "show": show, "kind": kind, "normalise": normalise}
    options |= {"engine": engine, "roles": roles, "max_tv": max_tv, "allow": allow}
    options |= {"min_acceptance": min_acceptance, "accept": accept, "recovery": recovery}
    options["recipe"] = recipe
    target, draft = _kept(target), _kept(draft)
    if callable(sampler):
        options |= _of_kernel(sampler, target, draft, options)
    elif sampler is not None:
        options |= _processing(sampler, recipe)
    with _told_as_misuse():
        report = _checked(target, draft, options)
    failure = _failure(report, show, [target, draft, options["accept"], options["recovery"]])
    if failure:
        raise AssertionError(failure)
    return report


class _told_as_misuse:  # noqa: N801 - reads as words
    """Turns every complaint about values into a MisuseError."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        __tracebackhide__ = True
        if isinstance(error, SpecdistError) and not isinstance(error, MisuseError):
            raise MisuseError.of(error) from None


def _kept(source: Any) -> Any:
    from specdist.python_kernel import kept

    return kept(source)


def _checked(target: Any, draft: Any, options: Mapping[str, Any]) -> Report:
    __tracebackhide__ = True
    from specdist.api import check

    return check(target, draft, **options)


def _processing(sampler: Any, recipe: str | None) -> dict[str, Any]:
    """A recipe, or sampling options by name."""
    __tracebackhide__ = True
    if recipe is not None:
        raise MisuseError(
            "sampler and recipe are given together",
            expected="a recipe or sampling options as sampler; recipe only beside a function",
        )
    return {"recipe": sampler} if isinstance(sampler, str) else {"sampling": sampler}


def _of_kernel(
    kernel: Kernel, target: Any, draft: Any, options: Mapping[str, Any]
) -> dict[str, Any]:
    """What the kernel answers for each pair of rows. What it raises goes through."""
    __tracebackhide__ = True
    from specdist.api import kind_named
    from specdist.python_kernel import row_pairs, unzipped

    for name in ("rule", "accept", "recovery"):
        if options[name] is not None:
            raise MisuseError(
                f"sampler is a function, which is the rule itself, and {name} is given too",
                expected="the function alone",
            )
    with _told_as_misuse():
        pairs = row_pairs(target, draft, kind_named(options["kind"]))
    answers = [kernel(*pair) for pair in pairs]
    with _told_as_misuse():
        accept, recovery = unzipped(answers)
    return {"accept": accept, "recovery": recovery}


def _failure(report: Report, show: int, values: list[Any]) -> str:
    """The text of a failure, empty for a pass."""
    from specdist.model.outcome import Outcome, outcome_of
    from specdist.reports.terminal import render
    from specdist.reports.view import View

    if outcome_of(report) is Outcome.PASSED:
        return ""
    return render(report, View(show)) + _by_size(report, values)


def _by_size(report: Report, values: list[Any]) -> str:
    """A line for a kernel whose difference is no larger than a few roundings of its numbers."""
    from specdist.python_kernel import unit_of
    from specdist.reports import layout

    largest, unit = report.summary.total_variation_max, unit_of(values)
    if largest is None or unit is None or report.summary.undecided:
        return ""
    name, rounding = unit
    if not 0 < largest.approx <= _ROUNDINGS * rounding or values[-1] is None:
        return ""
    said = (
        f"note: the largest total variation is {largest.approx:.6g}, at most {_ROUNDINGS} "
        f"roundings of {name} ({rounding} each): by its size it may be rounding. "
        f"max_tv={_power_above(largest.approx)} tolerates it, and any mistake as small"
    )
    return "\n" + "\n".join(layout.wrap(said, "", "    ")) + "\n"


def _power_above(size: float) -> str:
    """The power of ten that leaves at least a factor of ten, as it is written in Python."""
    power = ceil(log10(size)) + 1
    return f"1e-{-power:02d}" if power < -3 else f"{10.0**power:g}"
