"""A Triton kernel of our own under audit, in Triton's interpreter: right, and with mistakes.

Needs the extra ``engines`` and triton.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.audit_triton import ADAPTERS, NO_TRITON, WITHOUT_TRITON, changed, probed, process

pytestmark = pytest.mark.skipif(NO_TRITON, reason=WITHOUT_TRITON)


def test_the_kernel_is_lossless_within_the_bound_of_the_probe() -> None:
    done = process(
        *("specdist", "audit", "sample_inputs/audit/triton_kernel.py:step", "--mode", "probe"),
        *("--gamma", "1", "--steps", "1", "--tables", "1", "--replays", "50", "--format", "json"),
    )
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert report["verdict"] == "within-tolerance"
    assert report["mode"] == "probe"
    assert 0 < report["summary"]["total_variation_max"]["approx"] < 2**-20
    assert report["summary"]["total_variation_max"]["exact"] is None
    assert report["summary"]["bound_max"]["approx"] == pytest.approx(0.276, abs=0.001)
    assert report["grids"] == ["k 4.6566127342e-10 in float32"]
    assert "triton" in report["versions"]


@pytest.mark.parametrize(
    ("before", "after", "law"),
    [
        ("* q < p", "* p < q", (1 / 4, 1 / 2, 1 / 4)),
        ("tl.maximum(weights - tested, 0.0)", "tl.abs(weights - tested)", (3 / 8, 3 / 8, 1 / 4)),
    ],
)
def test_mistakes_have_the_law_that_theory_says(
    tmp_path: Path, before: str, after: str, law: tuple[float, ...]
) -> None:
    """Target (1/2, 1/4, 1/4), draft (1/4, 1/2, 1/4), one draft token."""
    changed(ADAPTERS / "triton_kernel.py", tmp_path / "triton_kernel.py", [(before, after)])
    shutil.copy(ADAPTERS / "triton_interpreter.py", tmp_path)
    [found] = probed("triton_kernel:step", 1, "swapped", folder=tmp_path)
    assert found["first"] == pytest.approx(law, abs=1e-7)
    distance = sum(abs(a - b) for a, b in zip(law, (1 / 2, 1 / 4, 1 / 4), strict=True)) / 2
    assert found["total_variation"] == pytest.approx(distance, abs=1e-7)
