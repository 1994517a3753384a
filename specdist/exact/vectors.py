"""From laws to exact vectors: all laws of one position in one representation.

Hand-written laws become fractions, dumped ones combinations of float64 arrays. When both kinds
meet, a law that is exactly representable on the other side is carried over; otherwise everything
becomes fractions. No value changes on the way.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, TypeVar

from specdist.exact.law import FloatLaw, Law, RationalLaw
from specdist.exact.rational_vector import RationalVector, relative_to_absolute
from specdist.exact.vector import ExactVector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from specdist.exact.float_atoms import Atom

Name = TypeVar("Name", bound=Hashable)

_LARGEST = 1_100
"""Bits of a sum of floats over any vocabulary that fits into memory."""


def vectors_of_laws(laws: Mapping[Name, Law], everywhere: bool = False) -> dict[Name, ExactVector]:
    """One exact vector per law, all over the same tokens. All laws must have the same size.

    ``everywhere``: over the whole vocabulary, even where no law has mass.
    """
    if all(isinstance(law, RationalLaw) and not law.bound for law in laws.values()):
        return {name: RationalVector.of(rational(law)) for name, law in laws.items()}
    converted = {name: _as_float(law) for name, law in laws.items()}
    floats = {name: law for name, law in converted.items() if law is not None}
    if len(floats) == len(laws):
        return _float_vectors(floats, everywhere)
    return {name: RationalVector.of(rational(law)) for name, law in laws.items()}


def same_law(first: Law, second: Law) -> bool:
    """True only if both stand for the same real-valued law, whatever was rounded."""
    if first is second:
        return True
    if _identity(first) is not None and _identity(first) == _identity(second):
        return True
    if first.bound or second.bound:
        return False
    return rational(first).values == rational(second).values


def rational(law: Law) -> RationalLaw:
    """The same law as fractions."""
    if isinstance(law, RationalLaw):
        return law
    weights = [Fraction(weight) for weight in law.weights.tolist()]
    total = sum(weights, Fraction(0))
    values = [Fraction(0)] * law.size
    for token, weight in zip(_ids(law), weights, strict=True):
        values[token] = weight / total
    return RationalLaw(tuple(values), law.bound, origin=law.origin)


def _ids(law: FloatLaw) -> list[int]:
    return list(range(law.size)) if law.ids is None else [int(token) for token in law.ids]


def _identity(law: Law) -> Hashable:
    """What a law stands for: the origin of its weights and the tokens that were kept."""
    if isinstance(law, RationalLaw):
        if law.exponents is not None:
            largest = max(a for a in law.exponents if a is not None)
            return tuple(None if a is None else a - largest for a in law.exponents)
        if law.origin is None:
            return None
        return (law.origin, tuple(token for token, value in enumerate(law.values) if value))
    if law.origin is None:
        return None
    return (law.origin, None if law.ids is None else law.ids.tobytes())


def _as_float(law: Law) -> FloatLaw | None:
    """The same law with float64 weights, or None where no exact one is at hand."""
    if isinstance(law, FloatLaw):
        return law
    import numpy as np

    largest = max(law.values)
    ids = [token for token, value in enumerate(law.values) if value]
    weights = _floats([law.values[token] / largest for token in ids])
    if weights is None:
        whole = _whole([law.values[token] for token in ids])
        weights = None if whole is None else _floats(whole)
    if weights is None:
        return None
    return FloatLaw(
        law.size,
        law.bound,
        dense=np.array(weights),
        ids=np.array(ids, dtype=np.intp),
        origin=_identity(law) or law,
    )


def _floats(numbers: Sequence[Fraction | int]) -> list[float] | None:
    """The numbers as floats, or None unless each is one exactly."""
    try:
        floats = [float(number) for number in numbers]
    except OverflowError:
        return None
    exact = all(Fraction(x) == number for x, number in zip(floats, numbers, strict=True))
    return floats if exact else None


def _whole(values: Sequence[Fraction]) -> list[int] | None:
    """The smallest whole numbers in the same proportion: what floats over their sum come back to,
    whatever they were divided by. None where they are far too large for floats."""
    denominator = 1
    for value in values:
        denominator = lcm(denominator, value.denominator)
        if denominator.bit_length() > _LARGEST:
            return None
    numbers = [value.numerator * (denominator // value.denominator) for value in values]
    common = gcd(*numbers)
    return [number // common for number in numbers]


def _float_vectors(laws: Mapping[Name, FloatLaw], everywhere: bool) -> dict[Name, ExactVector]:
    import numpy as np

    from specdist.exact.float_atoms import Mask
    from specdist.exact.float_space import FORESEEN_FROM, Space
    from specdist.exact.float_vector import FloatVector

    size = next(iter(laws.values())).size
    ids: NDArray[np.intp] | None = None
    supports = [law.ids for law in laws.values() if law.ids is not None]
    if len(supports) == len(laws) and not everywhere:
        ids = supports[0]
        for support in supports[1:]:
            ids = ids if support is ids else np.union1d(ids, support)
    space = Space(size if ids is None else len(ids), ids, vocabulary=size)
    atoms: dict[Hashable, Atom] = {}
    keys = {name: _identity(law) or id(law) for name, law in laws.items()}
    for name, law in laws.items():
        if keys[name] not in atoms:
            atoms[keys[name]] = _atom(law, ids)
    dense = [atom for atom in atoms.values() if atom.codes is None]
    if len(dense) == 2 and space.size >= FORESEEN_FROM:
        space.foresee(dense[0], dense[1])
    vectors: dict[Hashable, ExactVector] = {}
    for name, law in laws.items():
        if keys[name] not in vectors:
            whole = (atoms[keys[name]], frozenset[Mask]())
            terms = {whole: 1 / space.sum(whole)}
            vectors[keys[name]] = FloatVector(space, terms, relative_to_absolute(law.bound))
    return {name: vectors[keys[name]] for name in laws}


def _atom(law: FloatLaw, ids: NDArray[np.intp] | None) -> Atom:
    import numpy as np

    from specdist.exact.float_atoms import Atom

    if law.ids is None or law.ids is ids:
        if law.codes is not None:
            coded = (law.codes, law.table, law.present, law.counts)
            return Atom(law.size, None, *coded, law.log_scores, law.bound)
        return Atom(len(law.weights), law.weights, log_scores=law.log_scores, bound=law.bound)
    size = law.size if ids is None else len(ids)
    values = np.zeros(size)
    values[law.ids if ids is None else np.searchsorted(ids, law.ids)] = law.weights
    return Atom.of(values)
