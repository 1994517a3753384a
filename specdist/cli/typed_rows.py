"""Rows typed on the command line as a capture of one step, for the very same pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from specdist.cli.option_values import rational, share, whole
from specdist.errors import SettingsError
from specdist.model.capture import Capture, Position, Step
from specdist.model.options import NO_OPTIONS, ProcessingOptions
from specdist.model.row import Kind, NumberFormat, PointMass, RationalValues, Row, Stage

_KINDS = {"": Kind.PROBABILITIES, "-logits": Kind.LOGITS, "-logprobs": Kind.LOGPROBS}
_ENDLESS = ("-inf", "-infinity")
SOURCE = "command line"
GIVEN = ("accept", "recovery")
"""Rows of the rule `given`."""


def typed_capture(texts: Mapping[str, str]) -> Capture:
    """The capture of the rows ``--target...``, ``--draft...``, ``--accept``, ``--recovery``,
    ``--keep-row`` and of ``--draft-token``."""
    target = typed_row("target", texts)
    if target is None:
        raise SettingsError(
            "no target row is given",
            expected="--target, --target-logits or --target-logprobs, or a FILE",
            advice="specdist what-if --target 1/2,3/10,1/5 --draft 1/5,1/2,3/10",
        )
    drafted = _drafted_token(texts, target.size)
    draft = typed_row("draft", texts) or _point_mass(drafted, target.size)
    given = _given(texts, target.size)
    position = Position(
        index=0,
        target=target,
        draft=draft,
        draft_token=drafted,
        keep=_by_token("keep-row", texts, target.size) if "keep-row" in texts else None,
        given=given,
    )
    step = Step(
        id="0",
        source=SOURCE,
        positions=(position,),
        draft_tokens=None if drafted is None else (drafted,),
        options=ProcessingOptions(rule="given") if given else NO_OPTIONS,
    )

    def steps() -> Iterator[Step]:
        yield step

    return Capture(SOURCE, "typed rows", steps, step_count=1)


def _given(texts: Mapping[str, str], size: int) -> dict[str, tuple[Fraction, ...]]:
    """The rows of the rule `given`: both or none."""
    given = {name: _by_token(name, texts, size) for name in GIVEN if name in texts}
    missing = [name for name in GIVEN if name not in given]
    if given and missing:
        raise SettingsError(
            f"--{missing[0]} is missing",
            expected="--accept ROW and --recovery ROW",
            advice="where nothing is ever rejected, the recovery row is zeros",
        )
    return given


def _by_token(name: str, texts: Mapping[str, str], size: int) -> tuple[Fraction, ...]:
    """Numbers from 0 to 1, one a token of the target."""
    values = tuple(share(name, part) for part in texts[name].split(","))
    if len(values) != size:
        raise SettingsError(
            f"{name} has {len(values)} numbers, the target row {size}",
            place=f"{SOURCE}, --{name}",
            expected="one number a token",
        )
    total = sum(values, Fraction(0))
    if name == "recovery" and total not in (0, 1):
        raise SettingsError(
            f"recovery sums to {total}",
            place=f"{SOURCE}, --{name}",
            expected="a law, which sums to 1, or zeros where nothing is ever recovered",
        )
    return values


def _point_mass(token: int | None, size: int) -> Row:
    """The draft that put all its mass on the drafted token."""
    if token is None:
        raise SettingsError(
            "no draft row is given",
            expected="--draft, --draft-logits, --draft-logprobs or --draft-token",
        )
    place = f"{SOURCE}, --draft-token"
    mass = PointMass(token, size)
    return Row(mass, Kind.PROBABILITIES, Stage.PROCESSED, NumberFormat.DECIMAL, place)


def typed_row(side: str, texts: Mapping[str, str]) -> Row | None:
    """The row of a side, of whatever kind; None where none is typed. Raises SettingsError."""
    given = [ending for ending in _KINDS if side + ending in texts]
    if not given:
        return None
    if len(given) > 1:
        names = " and ".join(f"--{side}{ending}" for ending in given)
        raise SettingsError(f"{names} are given together", expected=f"one {side} row")
    name = side + given[0]
    kind = _KINDS[given[0]]
    values = tuple(_value(name, part, kind) for part in texts[name].split(","))
    place = f"{SOURCE}, --{name}"
    return Row(RationalValues(values), kind, Stage.RAW, NumberFormat.DECIMAL, place)


def _value(name: str, text: str, kind: Kind) -> Fraction | None:
    """A number, or None for minus infinity."""
    text = text.strip()
    endless = kind is not Kind.PROBABILITIES
    if endless and text.lower() in _ENDLESS:
        return None
    expected = "numbers such as 3/10, 0.3 or 1e-6, separated by commas"
    try:
        return rational(name, text, expected + (", or -inf" if endless else ""))
    except SettingsError as error:
        if not endless and text.lower() in _ENDLESS:
            error.advice = "-inf is a logit or a log-probability: --target-logits, --draft-logits"
        raise


def _drafted_token(texts: Mapping[str, str], size: int) -> int | None:
    if "draft-token" not in texts:
        return None
    token = whole("draft-token", texts["draft-token"], 0)
    if token >= size:
        raise SettingsError(
            f"draft-token={token} is outside the vocabulary",
            expected=f"a token id from 0 to {size - 1}",
        )
    return token
