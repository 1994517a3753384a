"""The Python door: `specdist.check(target, draft, ...)` and the values it takes and gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
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
from specdist.model.step_forms import nearest_names
from specdist.python_rows import python_capture, shown
from specdist.python_sampling import read_sampling
from specdist.python_tokens import with_tokens

if TYPE_CHECKING:
    from specdist.verify.run import Run

Number = Fraction | int | str

_TEXTS = ("recipe", "draft_recipe", "rule", "engine")


def check(
    target: Any, draft: Any, *, kind: str = "probabilities", temperature: Number | None = None,
    top_k: int | None = None, top_p: Number | None = None, min_p: Number | None = None,
    sampling: Mapping[str, Any] | None = None, recipe: str | None = None,
    draft_recipe: str | None = None, roles: Mapping[str, str] | None = None,
    rule: str | None = None, engine: str | None = None, normalise: bool = False,
    uniform: Number | None = None, inequality: str | None = None, ratio: str | None = None,
    ratio_epsilon: Number | None = None, residual_floor: Number | None = None,
    zero_draft: str | None = None, empty_residual: str | None = None, unnormalised: bool = False,
    keep: Any = None, dropped: str | None = None, proposal: str | None = None,
    keep_when: str | None = None, draft_map: Any = None, accept: Any = None, recovery: Any = None,
    max_tv: Number | None = None, min_acceptance: Number | None = None,
    allow: Collection[str] = (), show: int = 10,
) -> Report:  # fmt: skip
    """Verifies positions and returns the report that `specdist check` would print.

    ``target``: a row [V] or rows [T, V]; ``draft``: the same, or token ids (one-hot drafts). A row
    holds exact numbers (Fraction, int, text such as "3/10", "-inf"; no Python floats) or is an
    array or a tensor, taken as the binary rationals it holds. ``keep`` is a keep rule as a text, or
    numbers by token like ``accept`` and ``recovery``, which are the rule `given`; ``sampling``
    holds options by name; ``draft_map`` target ids by draft id, or ``{"offsets": [...]}``. The
    others are as on the command line. Raises SpecdistError for what that exits with 2 for.
    """
    numeric = {
        "uniform": uniform, "inequality": inequality, "ratio": ratio,
        "ratio-epsilon": ratio_epsilon, "residual-floor": residual_floor, "zero-draft": zero_draft,
        "empty-residual": empty_residual, "unnormalised": "yes" if unnormalised else None,
    }  # fmt: skip
    kept, tokens = (keep, None) if isinstance(keep, str) else (None, keep)
    dropping = {"keep": kept, "dropped": dropped, "proposal": proposal, "keep-when": keep_when}
    named = {"temperature": temperature, "top-k": top_k, "top-p": top_p, "min-p": min_p}
    options = _options(named, sampling, roles, (recipe, draft_recipe, rule, engine))
    options = replace(options, numerics=_texts(numeric), proposal=_texts(dropping))
    by_token = {"keep": tokens, "accept": accept, "recovery": recovery}
    capture = with_tokens(python_capture(target, draft, kind_named(kind)), by_token, draft_map)
    settings = CheckSettings(options, preset=_preset(engine), normalise=normalise, show=show)
    return _verified(capture, _with_limits(settings, max_tv, min_acceptance, allow))


def _options(
    named: Mapping[str, Any], sampling: Any, roles: Any, texts: Sequence[str | None]
) -> ProcessingOptions:
    """The processing options; ``texts`` are recipe, draft recipe, rule and engine."""
    _refuse_other_than_texts(dict(zip(_TEXTS, texts, strict=True)))
    recipe, draft_recipe, rule, _ = texts
    target, draft = _texts(named), _texts({})
    if sampling is not None:
        both, draft = read_sampling(sampling)
        for name in sorted(target.keys() & both.keys()):
            raise SettingsError(f"{name} is given twice", expected="an option, or sampling")
        target |= both
    return ProcessingOptions(target, draft, recipe, draft_recipe, _roles(roles), rule)


def _with_limits(
    settings: CheckSettings, max_tv: Any, min_acceptance: Any, allow: Collection[str]
) -> CheckSettings:
    return replace(
        settings,
        max_tv=None if max_tv is None else _share("max_tv", max_tv),
        min_acceptance=None if min_acceptance is None else _share("min_acceptance", min_acceptance),
        allow=_allowed(allow),
        workers=1,
    )


def _verified(capture: Capture, settings: CheckSettings) -> Report:
    from specdist.verify.run import check as run_check

    _refuse_two_rules(capture, settings.overrides.rule)
    return _finished(run_check([capture], Settings(checking=settings)))


def _refuse_two_rules(capture: Capture, rule: str | None) -> None:
    if rule in (None, "given"):
        return
    if any(position.given for step in capture.steps() for position in step.positions):
        raise SettingsError(
            f"accept and recovery are what the rule does, and rule={shown(rule)} is given too",
            expected="accept and recovery, or a rule",
        )


def _allowed(allow: Any) -> frozenset[str]:
    """Idents of findings. Raises SettingsError with the nearest ones."""
    from specdist.findings.catalogue import FOUND

    idents = [allow] if isinstance(allow, str) else list(allow)
    for ident in idents:
        if ident not in FOUND:
            raise SettingsError(
                f"allow={shown(ident)} is no finding",
                expected="idents of `specdist explain`",
                advice=nearest_names(str(ident), FOUND),
            )
    return frozenset(idents)


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


def _share(name: str, value: Number | float) -> Fraction:
    try:
        share = Fraction(str(value) if isinstance(value, float) else value)
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


def kind_named(name: str) -> Kind:
    """What the numbers of rows are. Raises SettingsError for an unknown name."""
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
