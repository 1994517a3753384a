"""vLLM's rejection samplers under audit, in Triton's interpreter: as they are, and with mistakes.

Needs the extra ``engines``, triton, and SPECDIST_VLLM=FOLDER, where a wheel or a source tree of
vLLM 0.33.0 is unpacked.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from specdist.audit.tables import tables
from tests.audit_triton import (
    NO_TRITON,
    NO_VLLM,
    WITHOUT_TRITON,
    WITHOUT_VLLM,
    probed,
    vllm_with,
)

pytestmark = [
    pytest.mark.skipif(NO_VLLM, reason=WITHOUT_VLLM),
    pytest.mark.skipif(NO_TRITON, reason=WITHOUT_TRITON),
]
V1 = "vllm/v1/sample/rejection_sampler.py"
RESIDUAL = "prob = tl.maximum(target_prob - draft_prob, 0.0)"
TARGET = (1 / 2, 1 / 4, 1 / 4)


def test_v1_is_lossless_but_for_zeros() -> None:
    """A token of target mass 0 is accepted where the uniform is 0: 2^-53 of its draft mass."""
    zero = "a zero in the target"
    swapped, leaking = probed("vllm_v1:Sampled", 1, "swapped", zero)
    assert swapped["first"] == pytest.approx(TARGET, abs=1e-7)
    assert all(grid.startswith("k/2^53 on [0, 1)") for grid in swapped["grids"])
    assert max(swapped["total_variation"], leaking["total_variation"]) < 2**-20
    [table] = [table for table in tables(3, 6) if table.name == zero]
    [lost] = [q for p, q in zip(table.target(()), table.draft(()), strict=True) if not p]
    assert Fraction(leaking["outside"]) == lost / 2**53


@pytest.mark.parametrize(
    ("before", "after", "law"),
    [
        ("target_prob / draft_prob >=", "draft_prob / target_prob >=", (1 / 4, 1 / 2, 1 / 4)),
        (RESIDUAL, "prob = tl.abs(target_prob - draft_prob)", (3 / 8, 3 / 8, 1 / 4)),
        (RESIDUAL, "prob = target_prob", (3 / 8, 5 / 16, 5 / 16)),
    ],
)
def test_mistakes_in_v1_have_the_law_that_theory_says(
    tmp_path: Path, before: str, after: str, law: tuple[float, ...]
) -> None:
    tree = vllm_with(tmp_path, V1, [(before, after)])
    [found] = probed("vllm_v1:Sampled", 1, "swapped", vllm=tree)
    assert found["first"] == pytest.approx(law, abs=1e-7)
    distance = sum(abs(a - b) for a, b in zip(law, TARGET, strict=True)) / 2
    assert found["total_variation"] == pytest.approx(distance, abs=1e-7)


@pytest.mark.parametrize("adapter", ["vllm_v1:OneHot", "vllm_v2:Token", "vllm_v2:OneHotBlock"])
def test_the_others_are_lossless_up_to_rounding(adapter: str) -> None:
    [found] = probed(adapter, 1, "swapped")
    assert found["first"] == pytest.approx(TARGET, abs=1e-6)
    assert found["total_variation"] < 2**-20
