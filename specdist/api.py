"""The Python door: `specdist.check(target, draft, ...)` and the values it takes and gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from specdist.errors import SettingsError, SpecdistError
from specdist.model.capture import Capture, Position, Step
from specdist.model.options import ProcessingOptions
from specdist.model.report import Report
from specdist.model.role import Role
from specdist.model.row import (
    FloatValues,
    Kind,
    NumberFormat,
    PointMass,
    RationalValues,
    Row,
    Stage,
)
from specdist.model.settings import CheckSettings, Settings

if TYPE_CHECKING:
    from specdist.verify.run import Run

Number = Fraction | int | str


def check(
    target: Any,
    draft: Any,
    *,
    kind: str = "probabilities",
    temperature: Number | None = None,
    top_k: int | None = None,
    top_p: Number | None = None,
    min_p: Number | None = None,
    recipe: str | None = None,
    draft_recipe: str | None = None,
    roles: Mapping[str, str] | None = None,
    rule: str = "token",
    normalise: bool = False,
    zero_draft: str = "error",
    max_tv: Number | None = None,
    show: int = 10,
) -> Report:
    """Verifies positions and returns the report that `specdist check` would print.

    ``target``: a row [V] or rows [T, V]; ``draft``: the same, or a token id (T ids) for one-hot
    drafts. A row holds exact numbers (Fraction, int, text such as "3/10", "0.1", "-inf"; no Python
    floats) or is a numpy array, taken as the binary rationals it holds. ``recipe`` and ``roles``
    are written as on the command line. Raises SpecdistError for what that exits with 2 for.
    """
    from specdist.verify.run import check as run_check

    named = {"temperature": temperature, "top-k": top_k, "top-p": top_p, "min-p": min_p}
    target_values = {name: str(value) for name, value in named.items() if value is not None}
    role_texts = {_role(name): text for name, text in (roles or {}).items()}
    checking = CheckSettings(
        overrides=ProcessingOptions(target_values, {}, recipe, draft_recipe, role_texts, rule),
        normalise=normalise,
        zero_draft=zero_draft,
        show=show,
        max_tv=None if max_tv is None else Fraction(max_tv),
        workers=1,
    )
    return _finished(run_check([_capture(target, draft, _kind(kind))], Settings(checking=checking)))


def _finished(run: Run) -> Report:
    """The report of a run, or the error of the row that could not be read."""
    for _ in run.results():
        pass
    report = run.report()
    for broken in report.unreadable:
        raise _error_class(broken.ident)(
            broken.message, place=broken.place, expected=broken.expected, advice=broken.advice
        )
    return report


def _capture(target: Any, draft: Any, kind: Kind) -> Capture:
    targets = _rows(target, kind, "target")
    size = targets[0].size if targets else 0
    drafts = _drafts(draft, kind, size, len(targets))
    if len(targets) != len(drafts):
        raise SettingsError(f"{len(targets)} target rows and {len(drafts)} draft rows")
    steps = tuple(
        Step(
            f"row:{index}",
            f"row {index}",
            (Position(0, row, other, _token(other)),),
            draft_tokens=None if _token(other) is None else (_token(other) or 0,),
        )
        for index, (row, other) in enumerate(zip(targets, drafts, strict=True))
    )
    return Capture("python", "python", lambda: iter(steps), step_count=len(steps))


def _token(row: Row) -> int | None:
    return row.values.token if isinstance(row.values, PointMass) else None


def _drafts(draft: Any, kind: Kind, size: int, count: int) -> list[Row]:
    ids = [draft] if isinstance(draft, int) else draft
    if count != 1 or isinstance(draft, int):
        whole = isinstance(ids, Sequence) and not isinstance(ids, str)
        if whole and ids and all(type(token) is int for token in ids):
            return [_point_mass(token, size, index) for index, token in enumerate(ids)]
    return _rows(draft, kind, "draft")


def _point_mass(token: int, size: int, index: int) -> Row:
    if not 0 <= token < size:
        raise SettingsError(f"draft token {token} is outside the vocabulary of {size} tokens")
    values = PointMass(token, size)
    return Row(values, Kind.PROBABILITIES, Stage.RAW, NumberFormat.DECIMAL, f"draft[{index}]")


def _rows(source: Any, kind: Kind, side: str) -> list[Row]:
    if hasattr(source, "dtype"):
        return _array_rows(source, kind, side)
    rows = list(source)
    if rows and not isinstance(rows[0], Fraction | int | str | float):
        return [_row(row, kind, f"{side}[{index}]") for index, row in enumerate(rows)]
    return [_row(rows, kind, side)]


def _row(numbers: Any, kind: Kind, place: str) -> Row:
    if hasattr(numbers, "dtype"):
        return _array_rows(numbers, kind, place)[0]
    values = tuple(_number(number, f"{place}[{i}]") for i, number in enumerate(numbers))
    return Row(RationalValues(values), kind, Stage.RAW, NumberFormat.DECIMAL, place)


def _number(number: Any, place: str) -> Fraction | None:
    if isinstance(number, str) and number.strip() == "-inf":
        return None
    if isinstance(number, Fraction | int | str) and not isinstance(number, bool):
        try:
            return Fraction(number)
        except (ValueError, ZeroDivisionError):
            pass
    raise SettingsError(
        f"{number!r} is not an exact number",
        place=place,
        expected='a Fraction, an int, or text such as "3/10" or "0.1"',
        advice="pass floats as a numpy array (binary rationals) or as text (decimals)",
    )


def _array_rows(array: Any, kind: Kind, side: str) -> list[Row]:
    names = {"float16": "float16", "float32": "float32", "float64": "float64"}
    if str(array.dtype) not in names or array.ndim not in (1, 2) or not array.shape[-1]:
        raise SettingsError(
            f"an array of {array.dtype} {list(array.shape)} is no row",
            place=side,
            expected="float16, float32 or float64 of shape [V] or [T, V]",
        )
    numbers = NumberFormat(names[str(array.dtype)])
    rows = array.reshape(-1, array.shape[-1])
    return [
        Row(FloatValues(row), kind, Stage.RAW, numbers, side if array.ndim == 1 else f"{side}[{i}]")
        for i, row in enumerate(rows)
    ]


def _kind(name: str) -> Kind:
    if name not in {kind.value for kind in Kind}:
        raise SettingsError(f"kind={name} is unknown", expected=", ".join(k.value for k in Kind))
    return Kind(name)


def _role(name: str) -> Role:
    if name not in {role.value for role in Role}:
        raise SettingsError(f"unknown role {name!r}", expected=", ".join(r.value for r in Role))
    return Role(name)


def _error_class(ident: str) -> type[SpecdistError]:
    def below(base: type[SpecdistError]) -> list[type[SpecdistError]]:
        return [base] + [deep for sub in base.__subclasses__() for deep in below(sub)]

    return next((kind for kind in below(SpecdistError) if kind.ident == ident), SpecdistError)
