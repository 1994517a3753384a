"""The accept test in a narrow float format: ``u < fl(fl(P) / fl(Q))``, token by token."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector
from specdist.model.numerics import Numerics
from specdist.model.recipe import Recipe
from specdist.model.role import Role
from specdist.model.row import NumberFormat
from specdist.processing import parse_recipe
from specdist.processing.number_rounding import LARGEST, LOWEST
from specdist.processing.row_sum import PRECISION
from specdist.rules.outcomes import RoleLaws
from specdist.verify.replay.engine_model import EngineModel, Source
from specdist.verify.replay.recorded_rows import RecordedRows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

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
    import numpy as np

    drafted = laws[Role.DRAFTED_FROM]
    target, unsure = _rounded(rows, model.sources[Role.ACCEPT_TARGET], index, numbers)
    tested = np.ones_like(target)
    if Role.ACCEPT_DRAFT not in model.one_hot:
        tested, also = _rounded(rows, model.sources[Role.ACCEPT_DRAFT], index, numbers)
        unsure = unsure or also
    chances = _chances(_quotients(target, tested, numbers), model.numerics)
    vector = drafted.product(_vector(drafted, chances))
    grid = model.numerics.grid
    if grid is not None and grid.step.denominator & (grid.step.denominator - 1):
        vector = vector.doubted(Fraction(1, 2**50))  # shares of other grids round
    return vector.doubted(_ONE) if unsure else vector


def _rounded(
    rows: RecordedRows, source: Source, index: int, numbers: NumberFormat
) -> tuple[FloatArray, bool]:
    """Probabilities of all tokens rounded to a format, exactly, and whether a rounding is open."""
    cast = parse_recipe(f"cast:{numbers.value}").steps
    law = rows.law(source.side, index + source.shift, Recipe(source.recipe.steps + cast))
    return law.dense() * float(law.law.mass), law.unsure


def _quotients(target: FloatArray, tested: FloatArray, numbers: NumberFormat) -> FloatArray:
    """``fl(target / tested)``, at most 1. A float64 quotient of two numbers of at most 24 bits lies
    on a midpoint of the format only where the real one does, so rounding twice changes nothing."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = np.where(target > 0.0, target / tested, 0.0)
    finite = np.minimum(quotients, float(LARGEST[numbers]))
    _, exponents = np.frexp(finite)
    units = np.maximum(exponents - PRECISION[numbers], LOWEST[numbers])
    rounded: FloatArray = np.ldexp(np.rint(np.ldexp(finite, -units)), units)
    return np.minimum(rounded, 1.0)


def _chances(ratios: FloatArray, numerics: Numerics) -> FloatArray:
    """``Pr(u < ratio)``. On the grids of k / 2^n, k from 0, that is exact in float64."""
    import numpy as np

    grid = numerics.grid
    if grid is None:
        return ratios
    values, inverse = np.unique(ratios, return_inverse=True)
    shares = [float(grid.share(Fraction(v), numerics.inclusive)) for v in values.tolist()]
    return np.array(shares)[inverse]


def _vector(like: ExactVector, chances: FloatArray) -> ExactVector:
    """Chances by token as a vector over the tokens of ``like``."""
    if isinstance(like, RationalVector):
        return RationalVector(tuple(map(Fraction, chances.tolist())))
    from specdist.exact.float_atoms import Atom
    from specdist.exact.float_vector import FloatVector

    if not isinstance(like, FloatVector):
        raise TypeError("neither fractions nor float64 arrays")
    ids = like.space.ids
    array = chances if ids is None else chances[ids]
    return like.of({(Atom.of(array), frozenset()): _ONE}, Fraction(0))
