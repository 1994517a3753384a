"""Grids of uniforms by the name of the generator that makes them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from fractions import Fraction

from specdist.audit.grid import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, JAX_FLOAT32, Grid
from specdist.audit.refusals import AdapterError
from specdist.audit.whereabouts import whereabouts


@dataclass(frozen=True, slots=True)
class RoundedGrid(Grid):
    """Whole numbers k = 0 .. 2^bits - 1 as a kernel maps them in float32: to
    fl(fl(k) scale + offset), rounded once; several k give the same number, so its mass is theirs
    together. ``form`` says it in a report."""

    scale: float = 1.0
    offset: float = 0.0
    form: str = ""

    def value(self, k: int) -> Fraction:
        """The number that k becomes. Products and sums fit a float64, so rounding is single."""
        return Fraction(self.number(k))

    def number(self, k: int) -> float:
        """The same as a float."""
        return _float32(_float32(float(k)) * self.scale + self.offset)

    def __str__(self) -> str:
        return self.form


def _float32(number: float) -> float:
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded


CURAND = RoundedGrid(
    32, scale=2.0**-32, offset=2.0**-33, form="(k + 1/2)/2^32 in float32 on (0, 1]"
)
"""curand_uniform (CUDA, curand_uniform.h, _curand_uniform): x 2^-32 + 2^-33 in float32."""
TRITON = RoundedGrid(31, scale=_float32(4.6566127342e-10), form="k 4.6566127342e-10 in float32")
"""tl.rand (triton/language/random.py, uint_to_uniform_float): 31 bits times a constant below
2^-31, so that 1 is never reached."""

NAMED: dict[str, Grid] = {
    "float64": FLOAT64,
    "float32": FLOAT32,
    "float16": FLOAT16,
    "bfloat16": BFLOAT16,
    "jax": JAX_FLOAT32,
    "curand": CURAND,
    "tl.rand": TRITON,
}
"""What ``draw.uniform`` takes for a grid. The float formats are those of torch on the CPU and of
numpy; "jax" is jax.random.uniform in float32."""


def grid_of(grid: int | str) -> Grid:
    """The grid of a name, or k / 2^bits. Raises AdapterError for anything else."""
    if isinstance(grid, int) and not isinstance(grid, bool) and 1 <= grid <= 64:
        return Grid(grid)
    found = NAMED.get(grid) if isinstance(grid, str) else None
    if found is None:
        raise AdapterError(
            f"a grid of uniforms {grid!r}",
            place=whereabouts(),
            expected="the number of bits (1 to 64), or one of " + ", ".join(NAMED),
        )
    return found
