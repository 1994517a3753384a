"""The accept test in a narrow float format: ``u < fl(fl(P) / fl(Q))``, token by token."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector
from specdist.model.numerics import Numerics
from specdist.model.recipe import Recipe
from specdist.model.role import Role
from specdist.model.row import NumberFormat
from specdist.processing import parse_recipe
from specdist.processing.number_rounding import rounded_to
from specdist.rules.outcomes import RoleLaws
from specdist.verify.replay.engine_model import EngineModel, Source
from specdist.verify.replay.recorded_rows import RecordedRows, RowLaw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ONE = Fraction(1)


def accepted_in_format(
    rows: RecordedRows, model: EngineModel, laws: RoleLaws, index: int
) -> ExactVector:
    """``D(x) Pr(u < fl(fl(P(x)) / fl(Q(x))))`` (``<=`` where inclusive), u on the model's grid or
    real-valued. 0/0 rejects, P/0 accepts. Where a rounding of P or Q is within the bound of the
    weights, everything is uncertain."""
    numbers = model.arithmetic
    if numbers is None:
        raise ValueError("the model computes its test in real arithmetic")
    drafted = laws[Role.DRAFTED_FROM]
    target = _rounded(rows, model.sources[Role.ACCEPT_TARGET], index, numbers)
    tested = None
    if Role.ACCEPT_DRAFT not in model.one_hot:
        tested = _rounded(rows, model.sources[Role.ACCEPT_DRAFT], index, numbers)
    source = model.sources[Role.DRAFTED_FROM]
    possible = rows.law(source.side, index + source.shift, source.recipe).floats()[0].tolist()
    chances = _chances(possible, target, tested, numbers, model.numerics)
    vector = drafted.product(_vector(drafted, chances))
    unsure = target.unsure or (tested is not None and tested.unsure)
    return vector.doubted(_ONE) if unsure else vector


class _Narrow:
    """Probabilities of all tokens rounded to a format, float64 [V]."""

    def __init__(self, made: RowLaw) -> None:
        import numpy as np

        ids, shares = made.floats()
        self.values = np.zeros(made.law.size)
        self.values[ids] = shares * float(made.law.mass)
        self.unsure = made.unsure


def _rounded(rows: RecordedRows, source: Source, index: int, numbers: NumberFormat) -> _Narrow:
    cast = parse_recipe(f"cast:{numbers.value}").steps
    recipe = Recipe(source.recipe.steps + cast)
    return _Narrow(rows.law(source.side, index + source.shift, recipe))


def _chances(
    possible: Sequence[int],
    target: _Narrow,
    tested: _Narrow | None,
    numbers: NumberFormat,
    numerics: Numerics,
) -> dict[int, Fraction]:
    """The chance of every possible token that has one. Tokens share few quotients."""
    import numpy as np

    above = target.values
    below = np.ones_like(above) if tested is None else tested.values
    known: dict[tuple[float, float], Fraction] = {}
    chances = {}
    for token in possible:
        pair = float(above[token]), float(below[token])
        if not pair[0]:
            continue
        if pair not in known:
            known[pair] = _chance(Fraction(pair[0]), Fraction(pair[1]), numbers, numerics)
        chances[token] = known[pair]
    return chances


def _chance(
    target: Fraction,
    tested: Fraction,
    numbers: NumberFormat,
    numerics: Numerics,
) -> Fraction:
    quotient = rounded_to(target / tested, numbers) if tested else None
    ratio = _ONE if quotient is None else min(quotient, _ONE)
    if numerics.grid is None:
        return ratio
    return numerics.grid.share(ratio, numerics.inclusive)


def _vector(like: ExactVector, chances: dict[int, Fraction]) -> ExactVector:
    """Chances by token as a vector; they are dyadic with few digits, so float64 holds them."""
    if isinstance(like, RationalVector):
        return RationalVector(tuple(chances.get(x, Fraction(0)) for x in range(like.size)))
    from specdist.exact.float_atoms import Atom
    from specdist.exact.float_vector import FloatVector

    if not isinstance(like, FloatVector):
        raise TypeError("neither fractions nor float64 arrays")
    import numpy as np

    array: NDArray[np.float64] = np.zeros(like.space.size)
    for token, chance in chances.items():
        entry = like.space.entry(token)
        if entry is not None:
            array[entry] = float(chance)
    return like.of({(Atom.of(array), frozenset()): _ONE}, Fraction(0))
