"""Weighted outcomes, gathered: what was accepted, what was emitted, what the bonus token was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import log10

from specdist.errors import SettingsError
from specdist.exact.bounded import error_of, plain
from specdist.model.conditional import Prefix
from specdist.rules.joint.outcomes import Law, Outcome

_ZERO = Fraction(0)
Masses = dict[Prefix, Fraction]
_Key = tuple[Prefix, bool, bool, int | tuple[int] | None]


_SPELLED = 16
_LISTABLE = 10**11


class LostMassError(Exception):
    """The outcomes of a rule do not sum to one: a bug in specdist."""


@dataclass(slots=True)
class Gathered:
    """Masses of a whole step.

    ``accepted`` by the draft tokens that are kept, ``emitted`` by everything that is emitted,
    ``bonus`` by kept draft tokens and bonus token; ``unnamed``, by kept draft tokens, is mass
    whose next token no rule names; ``listed`` is the number of outcomes. ``error`` is how far the
    joint law may be off, in L1, where masses are certified approximations or rows were rounded.
    """

    accepted: Masses = field(default_factory=dict)
    emitted: Masses = field(default_factory=dict)
    bonus: dict[Prefix, list[Fraction]] = field(default_factory=dict)
    unnamed: Masses = field(default_factory=dict)
    listed: int = 0
    error: Fraction = _ZERO

    @property
    def expected_accepted(self) -> Fraction:
        """``sum of mass * accepted draft tokens``."""
        return sum((mass * len(kept) for kept, mass in self.accepted.items()), _ZERO)

    def accepted_length(self, depth: int) -> tuple[Fraction, ...]:
        """``Pr(exactly i draft tokens are accepted)`` for i = 0 .. depth."""
        found = [_ZERO] * (depth + 1)
        for kept, mass in self.accepted.items():
            found[len(kept)] += mass
        return tuple(found)


def gather(outcomes: Iterable[Outcome], size: int, limit: int) -> Gathered:
    """Adds up outcomes of total mass 1 over ``size`` tokens.

    Raises `SettingsError` when more than ``limit`` are listed, and `LostMassError`.
    """
    laws: dict[int, Law] = {}
    masses: dict[_Key, Fraction] = {}
    found = Gathered()
    for outcome in outcomes:
        found.listed += 1
        if found.listed > limit:
            raise too_many(found.listed, limit)
        found.error += outcome.error
        if outcome.mass:
            follows: int | tuple[int] | None
            if isinstance(outcome.then, tuple):  # laws that are one object spread only once
                laws[id(outcome.then)] = outcome.then
                follows = (id(outcome.then),)
            else:
                follows = outcome.then
            key = (outcome.accepted, outcome.bonus, outcome.unnamed, follows)
            masses[key] = masses.get(key, _ZERO) + outcome.mass
    for (kept, bonus, unnamed, follows), mass in masses.items():
        _add(found.accepted, kept, mass)
        if isinstance(follows, tuple):
            _spread(found, kept, bonus, mass, laws[follows[0]])
        elif follows is None:
            _add(found.unnamed if unnamed else found.emitted, kept, mass)
        else:
            law = tuple(Fraction(token == follows) for token in range(size))
            _spread(found, kept, bonus, mass, law)
    refuse_lost_mass(found.accepted.values(), found.error)
    refuse_lost_mass([*found.emitted.values(), *found.unnamed.values()], found.error)
    return _without_errors(found)


def refuse_lost_mass(masses: Iterable[Fraction], error: Fraction = _ZERO) -> None:
    """What is kept sums to one, and so does what is emitted: a law behind a kept path that does
    not would lose mass, and lost mass lies above the reference nowhere. Raises `LostMassError`."""
    total = sum(masses, _ZERO)
    if abs(plain(total) - 1) > error + error_of(total):
        raise LostMassError(f"the outcomes of a rule sum to {float(total)!r}")


def _without_errors(found: Gathered) -> Gathered:
    """Represented masses, their errors added up to one bound of the joint law in L1."""
    named = [*found.emitted.values(), *found.unnamed.values()]
    found.error += sum(map(error_of, named), _ZERO)
    for masses in (found.accepted, found.emitted, found.unnamed):
        for key, mass in masses.items():
            masses[key] = plain(mass)
    for drawn in found.bonus.values():
        drawn[:] = map(plain, drawn)
    return found


def _spread(found: Gathered, kept: Prefix, bonus: bool, mass: Fraction, law: Law) -> None:
    drawn = found.bonus.setdefault(kept, [_ZERO] * len(law)) if bonus else None
    for token, probability in enumerate(law):
        if probability:
            _add(found.emitted, (*kept, token), mass * probability)
            if drawn is not None:
                drawn[token] += mass * probability


def _add(masses: Masses, key: Prefix, mass: Fraction) -> None:
    masses[key] = masses.get(key, _ZERO) + mass


def too_many(count: int, limit: int, advice: str = "") -> SettingsError:
    """The error of an enumeration that is too large."""
    digits = int(count.bit_length() * log10(2))
    shown = f"{count:,}" if digits < _SPELLED else f"about 10^{digits}"
    return SettingsError(
        f"the step has up to {shown} outcomes",
        expected=f"at most {limit:,}, the limit of --max-outcomes",
        advice=advice or "a shorter draft, a smaller tree or fewer tokens",
    )


def lists_all(count: int, first: str = "") -> str:
    """Advice to raise the limit, after what comes ``first``; empty where no machine lists that."""
    return f"{first}--max-outcomes {count} lists them all" if count <= _LISTABLE else ""
