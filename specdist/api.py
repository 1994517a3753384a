"""The Python door: `specdist.check(target, draft, ...)` and the values it takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from specdist.errors import SettingsError, SpecdistError
from specdist.model.capture import Capture
from specdist.model.options import ProcessingOptions
from specdist.model.preset import Preset
from specdist.model.report import Report
from specdist.model.role import Role
from specdist.model.row import Kind
from specdist.model.settings import CheckSettings, Settings
from specdist.python_rows import python_capture, shown
from specdist.python_tokens import with_tokens

if TYPE_CHECKING:
    from specdist.verify.run import Run

Number = Fraction | int | str


def check(
    target: Any, draft: Any, *, kind: str = "probabilities", temperature: Number | None = None,
    top_k: int | None = None, top_p: Number | None = None, min_p: Number | None = None,
    recipe: str | None = None, draft_recipe: str | None = None,
    roles: Mapping[str, str] | None = None, rule: str | None = None, engine: str | None = None,
    normalise: bool = False, uniform: Number | None = None, inequality: str | None = None,
    ratio: str | None = None, ratio_epsilon: Number | None = None,
    residual_floor: Number | None = None, zero_draft: str | None = None,
    empty_residual: str | None = None, unnormalised: bool = False, keep: Any = None,
    dropped: str | None = None, proposal: str | None = None, keep_when: str | None = None,
    draft_map: Any = None, accept: Any = None, recovery: Any = None,
    max_tv: Number | None = None, show: int = 10,
) -> Report:  # fmt: skip
    """Verifies positions and returns the report that `specdist check` would print.

    ``target``: a row [V] or rows [T, V]; ``draft``: the same, or a token id (T ids) for one-hot
    drafts. A row holds exact numbers (Fraction, int, text such as "3/10", "0.1", "-inf"; no Python
    floats) or is a numpy array, taken as the binary rationals it holds. ``keep`` is a keep rule as
    a text, or numbers by token like ``accept`` and ``recovery`` (which select the rule `given`);
    ``draft_map`` is a list of target ids by draft id, or ``{"offsets": [...]}``. The others are
    written as on the command line. Raises SpecdistError for what that exits with 2 for.
    """
    named = {"temperature": temperature, "top-k": top_k, "top-p": top_p, "min-p": min_p}
    numeric = {
        "uniform": uniform, "inequality": inequality, "ratio": ratio,
        "ratio-epsilon": ratio_epsilon, "residual-floor": residual_floor, "zero-draft": zero_draft,
        "empty-residual": empty_residual, "unnormalised": "yes" if unnormalised else None,
    }  # fmt: skip
    kept = keep if isinstance(keep, str) else None
    dropping = {"keep": kept, "dropped": dropped, "proposal": proposal, "keep-when": keep_when}
    texts = {"recipe": recipe, "draft_recipe": draft_recipe, "rule": rule, "engine": engine}
    _refuse_other_than_texts(texts)
    options = ProcessingOptions(
        _texts(named), {}, recipe, draft_recipe, _roles(roles), rule, _texts(numeric),
        _texts(dropping),
    )  # fmt: skip
    tolerance = None if max_tv is None else _share("max_tv", max_tv)
    by_token = {"keep": None if kept else keep, "accept": accept, "recovery": recovery}
    capture = with_tokens(python_capture(target, draft, _kind(kind)), by_token, draft_map)
    return _verified(capture, options, _preset(engine), normalise, tolerance, show)


def _verified(
    capture: Capture,
    options: ProcessingOptions,
    preset: Preset | None,
    normalise: bool,
    max_tv: Fraction | None,
    show: int,
) -> Report:
    from specdist.verify.run import check as run_check

    checking = CheckSettings(
        overrides=options, preset=preset, normalise=normalise, max_tv=max_tv, show=show, workers=1
    )
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


def _option(name: str, value: Any) -> str:
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


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    """The options that are given, as they are written on the command line."""
    return {name: _option(name, value) for name, value in values.items() if value is not None}


def _preset(engine: str | None) -> Preset | None:
    if engine is None:
        return None
    from specdist.engines import preset_named

    return preset_named(engine)


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
