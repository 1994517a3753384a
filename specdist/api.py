"""The Python door: `specdist.check(target, draft, ...)` and the values it takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from specdist.errors import SettingsError, SpecdistError
from specdist.model.options import ProcessingOptions
from specdist.model.report import Report
from specdist.model.role import Role
from specdist.model.row import Kind
from specdist.model.settings import CheckSettings, Settings
from specdist.python_rows import python_capture, shown

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
    target_values = {name: _option(name, v) for name, v in named.items() if v is not None}
    _refuse_other_than_texts({"recipe": recipe, "draft_recipe": draft_recipe})
    checking = CheckSettings(
        overrides=ProcessingOptions(
            target_values,
            {},
            recipe,
            draft_recipe,
            _roles(roles),
            rule,
            {"zero-draft": _zero_draft(zero_draft)},
        ),
        normalise=normalise,
        show=show,
        max_tv=None if max_tv is None else _share("max_tv", max_tv),
        workers=1,
    )
    capture = python_capture(target, draft, _kind(kind))
    return _finished(run_check([capture], Settings(checking=checking)))


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


def _option(name: str, value: Number) -> str:
    try:
        return str(value)
    except ValueError:
        raise SettingsError(f"{name} is {shown(value)}", expected="a number") from None


def _refuse_other_than_texts(options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if value is not None and not isinstance(value, str):
            raise SettingsError(f"{name}={shown(value)} is no text", expected="a recipe as a text")


def _share(name: str, value: Number) -> Fraction:
    try:
        share = Fraction(value)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise SettingsError(
            f"{name}={shown(value)} is out of range", expected="a number from 0 to 1, as 9/10"
        )
    return share


def _roles(roles: Mapping[str, str] | None) -> dict[Role, str]:
    if roles is None:
        return {}
    if not isinstance(roles, Mapping):
        raise SettingsError(f"roles={shown(roles)} is no map", expected="role names with recipes")
    _refuse_other_than_texts(roles)
    return {_role(name): text for name, text in roles.items()}


def _zero_draft(name: str) -> str:
    if name not in ("error", "accept", "reject"):
        raise SettingsError(f"zero_draft={name} is unknown", expected="error, accept or reject")
    return name


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
