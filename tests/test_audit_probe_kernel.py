"""A compiled kernel that takes its uniforms and its noise as arguments, probed as it is."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from specdist.audit import case, draw
from specdist.audit.context import Setup
from specdist.audit.judge import ROUNDING, judged
from specdist.audit.probe.measuring import probed
from specdist.audit.program import Program
from specdist.audit.refusals import AdapterError
from specdist.audit.tables import tables
from specdist.model.verdict import Verdict

COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")

SOURCE = """
int verify(int vocab, int gamma, const int *tokens, const float *p, const float *q,
           const float *u, const float *e, int *out) {
    int n = 0, used = 0;
    while (n < gamma) {
        int t = tokens[n];
        used = n + 1;
        if (!(u[n] * q[n * vocab + t] < p[n * vocab + t])) break;
        out[n++] = t;
    }
    float best = -1;
    for (int i = 0; i < vocab; i++) {
        float w = p[n * vocab + i];
        if (n < gamma && RESIDUAL) w -= q[n * vocab + i];
        if (w > 0 && w / e[i] > best) { best = w / e[i]; out[n] = i; }
    }
    return used * 256 + n + 1;
}
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], ctypes.CDLL]:
    folder = tmp_path_factory.mktemp("kernel")
    source = folder / "verify.c"
    source.write_text(SOURCE, encoding="utf-8")

    def built(residual: int) -> ctypes.CDLL:
        library = Path(folder, f"verify_{residual}.so")
        flags = ["-shared", "-fPIC", "-O2", f"-DRESIDUAL={residual}"]
        assert COMPILER is not None
        subprocess.run([COMPILER, *flags, str(source), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))

    return built


def adapter(kernel: ctypes.CDLL, supplied: int | None = None) -> Callable[[], list[int]]:
    def step() -> list[int]:
        tokens = [draw.categorical(case.draft()) for _ in range(case.gamma)]
        uniforms = draw.uniforms(case.gamma if supplied is None else supplied, "curand")
        numbers = np.zeros(case.gamma, dtype=np.float32)
        numbers[: len(uniforms)] = list(uniforms)
        noise = np.array(draw.exponentials(case.vocab), dtype=np.float32)
        out = np.zeros(case.gamma + 1, dtype=np.int32)
        arrays = (np.array(tokens, dtype=np.int32), case.target_rows(), case.draft_rows())
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arrays, numbers, noise, out)]
        answer = kernel.verify(case.vocab, case.gamma, *pointers)
        uniforms.used(answer // 256)
        return [int(token) for token in out[: answer % 256]]

    return step


SETUP = Setup(framework="numpy", vocab=3, gamma=2, steps=1)
TABLE = tables(3, 1)[0]


def test_a_compiled_kernel_is_lossless_within_the_bound(
    kernels: Callable[[int], ctypes.CDLL],
) -> None:
    result = judged(probed(Program(adapter(kernels(1)), SETUP, TABLE), 100_000), TABLE, 0)
    assert result.verdict is Verdict.WITHIN_TOLERANCE
    assert result.total_variation.exact < ROUNDING


def test_a_kernel_that_recovers_from_the_target_is_found(
    kernels: Callable[[int], ctypes.CDLL],
) -> None:
    """By hand: the first token has min(p, q) + (1 - sum min) p."""
    result = judged(probed(Program(adapter(kernels(0)), SETUP, TABLE), 100_000), TABLE, 0)
    p, q = TABLE.target(()), TABLE.draft(())
    rest = 1 - sum(map(min, p, q))
    right = sum(abs(min(a, b) + rest * a - a) for a, b in zip(p, q, strict=True)) / 2
    assert result.verdict is Verdict.DIFFERENT
    assert abs(result.first_variation.exact - right) < Fraction(1, 2**20)


def test_a_kernel_that_is_under_fed_is_an_error(kernels: Callable[[int], ctypes.CDLL]) -> None:
    with pytest.raises(AdapterError, match="2 uniforms are used, and 1 were supplied"):
        probed(Program(adapter(kernels(1), supplied=1), SETUP, TABLE), 100_000)
