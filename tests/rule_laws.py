"""One position for a rule of the package and for the oracle, from the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from specdist.exact.law import FloatLaw, Law, RationalLaw
from specdist.exact.vector import ExactVector
from specdist.exact.vectors import rational, same_law, vectors_of_laws
from specdist.model.numerics import EXACT, Numerics, read_numerics
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.registry import read_rule
from tests import oracle_rules
from tests.strategies import Row, full_rows, pairs, role_rows

F = Fraction
LETTERS = {
    "P": Role.ACCEPT_TARGET,
    "S": Role.RESIDUAL_TARGET,
    "D": Role.DRAFTED_FROM,
    "Q": Role.ACCEPT_DRAFT,
    "U": Role.RESIDUAL_DRAFT,
}


@dataclass(frozen=True)
class Place:
    """A position: a law for every role, or None where it is one-hot at the drafted token."""

    laws: Mapping[Role, Law | None]
    numerics: Mapping[str, str]

    @property
    def size(self) -> int:
        return next(law.size for law in self.laws.values() if law is not None)

    def role_laws(self, captured: Mapping[str, Row] | None = None) -> RoleLaws:
        one_hot = frozenset(role for role, law in self.laws.items() if law is None)
        given: dict[Any, Law] = {role: law for role, law in self.laws.items() if law is not None}
        sums: dict[str, Fraction] = {}
        for name, row in (captured or {}).items():
            sums[name] = sum(row, F(0))
            given[name] = RationalLaw(tuple(value / sums[name] for value in row))
        vectors = vectors_of_laws(given, everywhere=True)
        by_role = {role: vectors[role] for role in self.laws if role not in one_hot}

        def same(first: Role, second: Role) -> bool:
            one, other = self.laws[first], self.laws[second]
            return one is not None and other is not None and same_law(one, other)

        rows = {name: vectors[name].scaled(mass) for name, mass in sums.items()}
        return RoleLaws(by_role, one_hot, same, self.model, rows or None)

    @property
    def model(self) -> Numerics:
        return read_numerics(self.numerics) if self.numerics else EXACT

    def outcomes(self, text: str) -> Outcomes:
        rule, use = read_rule(text)
        return rule.outcomes(self.role_laws(), use)

    def roles(self) -> oracle_rules.Roles:
        """The same for the oracle."""
        rows = {
            letter: None if (law := self.laws[role]) is None else list(rational(law).values)
            for letter, role in LETTERS.items()
        }
        return oracle_rules.Roles(**rows, numerics=self.oracle_numerics)  # type: ignore[arg-type]

    @property
    def oracle_numerics(self) -> oracle_rules.Numerics:
        texts, model = self.numerics, self.model
        grid, _, ends = texts.get("uniform", "real").partition(":ends=")
        return oracle_rules.Numerics(
            grid=None if grid == "real" else int(grid),
            ends=ends or "zero",
            inclusive=model.inclusive,
            capped=model.capped,
            epsilon=model.ratio_epsilon,
            floor=model.residual_floor,
            zero_draft=texts.get("zero-draft", "error"),
            empty=texts.get("empty-residual", "ask"),
        )


def settled(found: Place) -> bool:
    """Whether nobody can differ on a tested probability of 0 under a grid of uniforms."""
    roles = found.roles()
    if roles.Q is None or found.numerics.get("uniform", "real") == "real":
        return True
    return all(q or not d for d, q in zip(roles.D, roles.Q, strict=True))


def place(target: Row, draft: Row | None = None, **numerics: str) -> Place:
    """A correct engine: target throughout, tested as drafted."""
    rows = dict.fromkeys("PS", target) | dict.fromkeys("DQU", draft)
    return place_of(rows, numerics)  # type: ignore[arg-type]


def place_of(rows: Mapping[str, Row | None], numerics: Mapping[str, str] | None = None) -> Place:
    """Rows by letter (PSDQU); equal rows become one law."""
    known: dict[tuple[Fraction, ...], Law] = {}

    def law(row: Row | None) -> Law | None:
        if row is None:
            return None
        return known.setdefault(tuple(row), RationalLaw(tuple(row)))

    laws = {LETTERS[letter]: law(row) for letter, row in rows.items()}
    names = {name.replace("_", "-"): text for name, text in (numerics or {}).items()}
    return Place({Role.REFERENCE: laws[Role.ACCEPT_TARGET], **laws}, names)


@st.composite
def places(draw: st.DrawFn, one_hot: bool = True, numerics: bool = True) -> Place:
    """Positions of hand-written rows, some of their roles replaced, some in finite precision."""
    target, draft = draw(pairs(max_size=6))
    roles = draw(role_rows(target, draft))
    if not one_hot:
        full = draw(full_rows(len(target)))
        roles = {role: full if row == "one-hot" else row for role, row in roles.items()}
    names = {
        "P": roles.get("accept_target", target),
        "S": roles.get("residual_target", target),
        "D": roles.get("drafted_from", draft),
        "Q": roles["accept_draft"],
        "U": roles.get("residual_draft", roles["accept_draft"]),
    }
    rows = {letter: None if row == "one-hot" else row for letter, row in names.items()}
    return place_of(rows, draw(numeric_models) if numerics else SETTLED)  # type: ignore[arg-type]


SETTLED = {"zero-draft": "reject", "empty-residual": "target"}

numeric_models = st.fixed_dictionaries(
    {
        "zero-draft": st.sampled_from(["accept", "reject", "accept-all"]),
        "empty-residual": st.sampled_from(["token:0", "last", "target", "none"]),
    },
    optional={
        "uniform": st.builds(
            "{}:ends={}".format,
            st.integers(2, 12),
            st.sampled_from(["zero", "one", "both", "neither"]),
        ),
        "inequality": st.sampled_from(["strict", "inclusive"]),
        "ratio": st.sampled_from(["capped", "uncapped"]),
        "ratio-epsilon": st.sampled_from(["0", "1/10", "1e-10"]),
        "residual-floor": st.sampled_from(["0", "1/100", "1/7"]),
    },
)


@st.composite
def float_laws(draw: st.DrawFn, size: int, bounds: bool = False) -> FloatLaw:
    """Float64 weights, with zeros, ties and small ones."""
    entry = st.sampled_from([0.0, 1.0, 0.5, 0.25, 3.0**-3, 1e-9]) | st.floats(2**-40, 1)
    weights = draw(st.lists(entry, min_size=size, max_size=size))
    weights[draw(st.integers(0, size - 1))] = 1.0
    bound = draw(st.sampled_from([F(0), F(1, 2**45)])) if bounds else F(0)
    return FloatLaw(size, bound, dense=np.array(weights), origin=object())


@st.composite
def float_places(draw: st.DrawFn, one_hot: bool = True, bounds: bool = False) -> Place:
    """Positions of float64 rows."""
    size = draw(st.integers(3, 7))
    pool = [draw(float_laws(size, bounds)) for _ in range(3)]
    laws: dict[Role, Law | None] = {role: draw(st.sampled_from(pool)) for role in LETTERS.values()}
    if one_hot:
        for role in (Role.ACCEPT_DRAFT, Role.RESIDUAL_DRAFT):
            laws[role] = draw(st.sampled_from([laws[role], laws[role], None]))
    laws[Role.REFERENCE] = laws[Role.ACCEPT_TARGET]
    return Place(laws, draw(numeric_models))


def entries(vector: ExactVector) -> list[Fraction]:
    return [vector.value(token) for token in range(vector.size)]


def distance(vector: ExactVector, row: Row) -> Fraction:
    """sum |v(x) - row(x)|."""
    return sum((abs(a - b) for a, b in zip(entries(vector), row, strict=True)), F(0))


def agrees(found: Outcomes, expected: oracle_rules.Law, exactly: bool = True) -> None:
    """The outcomes are the oracle's: exactly, or within what their errors say."""
    error = found.accepted.error + found.recovered.error
    if exactly:
        assert entries(found.accepted) == expected.accepted
        assert entries(found.recovered) == expected.recovered
        assert found.unassigned == expected.unassigned
        assert error == 0
    assert distance(found.accepted, expected.accepted) <= found.accepted.error
    assert distance(found.recovered, expected.recovered) <= error
    assert abs(found.unassigned - expected.unassigned) <= error
    assert abs(found.rejected - (1 - expected.acceptance)) <= error
