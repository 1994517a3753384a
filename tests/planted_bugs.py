"""Bugs to plant, each with what it replaces: `test_planted_bugs` shows that the oracle sees it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class PlantedBug:
    """Replaces ``attribute`` ("module:name" or "module:Class.name") by ``make(original)``."""

    name: str
    attribute: str
    make: Callable[[Any], Any]

    @property
    def owner(self) -> Any:
        module, _, path = self.attribute.partition(":")
        owner: Any = importlib.import_module(module)
        for part in path.split(".")[:-1]:
            owner = getattr(owner, part)
        return owner

    @property
    def key(self) -> str:
        return self.attribute.rpartition(":")[2].rpartition(".")[2]


VECTOR = "specdist.exact.rational_vector:RationalVector"
FLOATS = "specdist.exact.float_vector:FloatVector"
LAWS = "specdist.rules.outcomes:RoleLaws"
RULE = "specdist.rules.token_rule"
ROW = "specdist.processing.rational_row:RationalRow"
FLOAT_ROW = "specdist.processing.float_row:FloatRow"


def role_read_from(wrong: str, other: str) -> Callable[[Any], Any]:
    """The law of one role is taken where another belongs."""

    def make(original: Any) -> Any:
        def read(laws: Any, role: Any) -> Any:
            asked = type(role)(other) if role == wrong else role
            return original(laws, role if asked in laws.one_hot else asked)

        return read

    return make


def _without_draft(original: Any) -> Any:
    """The residual is the whole target: recovery from p."""

    def read(laws: Any, role: Any) -> Any:
        found = original(laws, role)
        return found.scaled(Fraction(0)) if role == "residual_draft" else found

    return read


def _swapped_ratio(original: Any) -> Any:
    """min(1, draft / target)."""
    return lambda self, target, tested, test: original(
        self, tested, target, replace(test, zero_draft="reject")
    )


def _uncapped(original: Any) -> Any:
    """target / draft without the minimum."""

    def accepted(self: Any, target: Any, tested: Any, zero: str) -> Any:
        rows = zip(self.entries, target.entries, tested.entries, strict=True)
        values = [d * t / q if q else Fraction(0) for d, t, q in rows]
        return replace(self, entries=tuple(values))

    return accepted


def _maximum(original: Any) -> Any:
    return lambda self, target, tested, zero: self._zip(target, max)


def _absolute(original: Any) -> Any:
    return lambda self: replace(self, entries=tuple(map(abs, self.entries)))


def _floored(original: Any) -> Any:
    """The residual is floored at a small number in place of zero."""
    return lambda self: replace(
        self, entries=tuple(max(value, Fraction(1, 10**12)) for value in self.entries)
    )


def _last_forgotten(original: Any) -> Any:
    """The last token of the vocabulary is not added up."""
    return lambda self: original(replace(self, entries=self.entries[:-1]))


def _close_enough(original: Any) -> Any:
    """Differences below 1e-9 are called zero."""
    return lambda self: all(abs(value) < Fraction(1, 10**9) for value in self.entries)


def _drafted_stays(original: Any) -> Any:
    """After rejecting x the one-hot residual still holds x."""

    def recovered(laws: Any, accepted: Any) -> Any:
        outcomes = original(laws, accepted)
        kept = laws["residual_target"].scaled(outcomes.rejected)
        return replace(outcomes, recovered=kept)

    return recovered


def _other_boundary(original: Any) -> Any:
    return lambda self, mass, boundary, ties: original(self, mass, "exceed", ties)


def _other_ties(original: Any) -> Any:
    return lambda self, mass, boundary, ties: original(self, mass, boundary, "highest-id")


def _all_ties(original: Any) -> Any:
    return lambda self, mass, boundary, ties: original(self, mass, boundary, "all")


def _exactly_k(original: Any) -> Any:
    return lambda self, count, ties: original(self, count, "lowest-id")


def _one_more(original: Any) -> Any:
    return lambda self, count, ties: original(self, count + 1, ties)


def _strict(original: Any) -> Any:
    return lambda self, fraction, strict: original(self, fraction, True)


def _multiplied(original: Any) -> Any:
    return lambda self, temperature: original(self, 1 / temperature)


def _no_temperature(original: Any) -> Any:
    return lambda self, temperature: self


def _last_argmax(original: Any) -> Any:
    """The highest of the tied ids."""

    def argmax(self: Any, ties: str = "lowest-id") -> Any:
        best = max(self.law().values)
        return self.keep({max(x for x, value in enumerate(self.law().values) if value == best)})

    return argmax


def _float_arithmetic(original: Any) -> Any:
    """A decimal or a fraction passes through a float on its way in."""

    def number(value: Any) -> Any:
        found = original(value)
        return None if found is None else Fraction(float(found))

    return number


def _rounded_sum(original: Any) -> Any:
    """Sums of float64 arrays as numpy rounds them."""
    return lambda self, chosen: Fraction(
        float(self.values.sum() if chosen is None else self.values[chosen].sum())
    )


def _blunt_filter(original: Any) -> Any:
    """Entries that float arithmetic does not decide at once are called zero."""

    def signs(size: int, terms: Any) -> Any:
        from specdist.exact.float_atoms import compare_by_scores

        return compare_by_scores(terms) or original(size, terms)

    return signs


def _first_forgotten(original: Any) -> Any:
    """Token 0 is never among the chosen ones (off by one)."""

    def signs(size: int, terms: Any) -> Any:
        found = original(size, terms)
        found.negative[:1] = False
        return found

    return signs


def _guesses_not_mended(original: Any) -> Any:
    """A sum over guessed tokens is taken although the guess was wrong somewhere."""

    def sum_of(self: Any, atom: Any, chosen: Any) -> Any:
        return self.guesses[atom][1] if atom in self.guesses else original(self, atom, chosen)

    return sum_of


PLANTED_BUGS = [
    PlantedBug("recovery from the target", f"{LAWS}.__getitem__", _without_draft),
    PlantedBug(
        "the draft of the residual is what was drafted",
        f"{LAWS}.__getitem__",
        role_read_from("accept_draft", "drafted_from"),
    ),
    PlantedBug(
        "the residual starts from the tested target",
        f"{LAWS}.__getitem__",
        role_read_from("residual_target", "accept_target"),
    ),
    PlantedBug(
        "the test uses the reference",
        f"{LAWS}.__getitem__",
        role_read_from("accept_target", "reference"),
    ),
    PlantedBug(
        "the reference is what was tested",
        f"{LAWS}.__getitem__",
        role_read_from("reference", "accept_target"),
    ),
    PlantedBug(
        "the drafts are swapped",
        f"{LAWS}.__getitem__",
        role_read_from("drafted_from", "accept_draft"),
    ),
    PlantedBug("the ratio upside down", f"{VECTOR}.accepted_from", _swapped_ratio),
    PlantedBug("the ratio without its cap", f"{VECTOR}.accepted_from", _uncapped),
    PlantedBug("the maximum for the minimum", f"{VECTOR}.accepted_from", _maximum),
    PlantedBug("the absolute for the positive part", f"{VECTOR}.positive_part", _absolute),
    PlantedBug("a floor under the residual", f"{VECTOR}.positive_part", _floored),
    PlantedBug("the last token is forgotten", f"{VECTOR}.total", _last_forgotten),
    PlantedBug("close is called equal", f"{VECTOR}.vanishes_identically", _close_enough),
    PlantedBug(
        "the rejected token is recovered", f"{RULE}:recovered_without_drafted", _drafted_stays
    ),
    PlantedBug("top-p must exceed", f"{ROW}.keep_prefix", _other_boundary),
    PlantedBug("top-p prefers high ids", f"{ROW}.keep_prefix", _other_ties),
    PlantedBug("top-p keeps every tie", f"{ROW}.keep_prefix", _all_ties),
    PlantedBug("top-k keeps exactly k", f"{ROW}.keep_top", _exactly_k),
    PlantedBug("top-k keeps one more", f"{ROW}.keep_top", _one_more),
    PlantedBug("min-p drops equality", f"{ROW}.keep_relative", _strict),
    PlantedBug("the temperature upside down", f"{ROW}.divide", _multiplied),
    PlantedBug("the temperature is ignored", f"{ROW}.divide", _no_temperature),
    PlantedBug("the last of the tied argmaxes", f"{ROW}.argmax", _last_argmax),
    PlantedBug(
        "numbers pass through a float", "specdist.readers.json_rows:number", _float_arithmetic
    ),
    PlantedBug("float top-p prefers high ids", f"{FLOAT_ROW}.keep_prefix", _other_ties),
    PlantedBug("float top-p keeps every tie", f"{FLOAT_ROW}.keep_prefix", _all_ties),
    PlantedBug("float top-k keeps exactly k", f"{FLOAT_ROW}.keep_top", _exactly_k),
    PlantedBug("the float temperature is ignored", f"{FLOAT_ROW}.divide", _no_temperature),
    PlantedBug("rounded sums", "specdist.exact.float_atoms:Atom.exact_sum", _rounded_sum),
    PlantedBug("a blunt sign filter", "specdist.exact.float_vector:signs_of", _blunt_filter),
    PlantedBug("off by one", "specdist.exact.float_vector:signs_of", _first_forgotten),
    PlantedBug(
        "guesses are not mended",
        "specdist.exact.float_space:Space._from_guess",
        _guesses_not_mended,
    ),
]
