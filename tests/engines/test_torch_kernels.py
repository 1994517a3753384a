"""Rejection sampling written with torch, checked by `assert_lossless`: right, and with mistakes.

Needs the extra ``engines``; `make test-engines` installs it and runs this folder.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from specdist.model.verdict import Verdict
from specdist.testing import assert_lossless
from tests.cli import ROOT, scrubbed
from tests.doc_sessions import WITHOUT_OTHERS, File, story

Law = tuple[torch.Tensor, torch.Tensor]
TOLERATED = {torch.float64: 1e-15, torch.float32: 1e-6, torch.bfloat16: 1e-2}


def rows(dtype: torch.dtype, positions: int = 3, size: int = 32) -> tuple[torch.Tensor, ...]:
    """Target and draft rows of softmaxes, made in float64 and rounded once."""
    generator = torch.Generator().manual_seed(7)
    logits = torch.randn(2, positions, size, generator=generator, dtype=torch.float64)
    target, draft = torch.softmax(2 * logits, dim=-1).to(dtype)
    return target, draft


def rejection_sampler(
    target: torch.Tensor, draft: torch.Tensor, drafted: torch.Tensor, uniform: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """A batched sampler as engines have it: which tokens are accepted, and the recovery weights."""
    picked = drafted.unsqueeze(-1)
    p, q = target.gather(-1, picked).squeeze(-1), draft.gather(-1, picked).squeeze(-1)
    accepted = uniform * q < p
    weights = torch.clamp(target - draft, min=0)
    return accepted, weights / weights.sum(-1, keepdim=True)


def as_kernel(target: torch.Tensor, draft: torch.Tensor) -> Law:
    accept = torch.clamp(target / draft, max=1)
    everything = torch.arange(len(target))
    batch = target.expand(len(target), -1), draft.expand(len(target), -1)
    below, recovery = rejection_sampler(*batch, everything, accept * 0.9)
    assert below.all()  # the sampler accepts below the probability that the kernel states
    return accept, recovery[0]


def not_subtracted(target: torch.Tensor, draft: torch.Tensor) -> Law:
    return as_kernel(target, draft)[0], target


def upside_down(target: torch.Tensor, draft: torch.Tensor) -> Law:
    return torch.clamp(draft / target, max=1), as_kernel(target, draft)[1]


@pytest.mark.parametrize("dtype", TOLERATED)
def test_a_correct_sampler_differs_by_rounding_only(dtype: torch.dtype) -> None:
    target, draft = rows(dtype)
    report = assert_lossless(target, draft, sampler=as_kernel, max_tv=TOLERATED[dtype])
    assert report.verdict in (Verdict.EQUAL, Verdict.WITHIN_TOLERANCE)
    assert report.summary.steps == 3
    rate = torch.minimum(target, draft).double().sum(-1).mean().item()
    assert report.summary.acceptance_rate is not None
    assert abs(report.summary.acceptance_rate.approx - rate) < 0.01
    with pytest.raises(AssertionError, match="by its size it may be"):
        assert_lossless(target, draft, sampler=as_kernel)


@pytest.mark.parametrize("dtype", TOLERATED)
@pytest.mark.parametrize("kernel", [not_subtracted, upside_down])
def test_a_planted_mistake_is_found(dtype: torch.dtype, kernel: Callable[..., Law]) -> None:
    target, draft = rows(dtype)
    with pytest.raises(AssertionError) as failed:
        assert_lossless(target, draft, sampler=kernel, max_tv=TOLERATED[dtype])
    assert "3 steps checked: 0 equal, 3 different" in str(failed.value)
    assert "by its size it may be" not in str(failed.value)
    if kernel is not_subtracted:
        assert "the target's own law" in str(failed.value)


def test_gradients_ids_and_batches() -> None:
    target, draft = rows(torch.float32)
    target.requires_grad_(True)
    ids = draft.argmax(-1)
    assert assert_lossless(target, ids, rule="one-hot").verdict is Verdict.EQUAL
    accept = torch.clamp(target / draft, max=1)
    residual = torch.clamp(target - draft, min=0)
    recovery = residual / residual.sum(-1, keepdim=True)
    report = assert_lossless(target, draft, accept=accept, recovery=recovery, max_tv=1e-6)
    assert report.verdict is Verdict.WITHIN_TOLERANCE


def test_logits_in_bfloat16_are_what_they_are() -> None:
    """Both sides read the same bits; the exact law needs no tolerance."""
    logits = torch.randn(2, 16, generator=torch.Generator().manual_seed(3)).to(torch.bfloat16)
    sampling = {"temperature": 0.8, "top_p": 0.95, "top_k": -1}
    report = assert_lossless(logits[0], logits[1], kind="logits", sampler=sampling)
    assert report.verdict is Verdict.EQUAL


def test_the_page_for_kernel_authors(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "kernel-authors.md").read_text("utf-8")
    (shown,) = [
        part
        for part in story(page)
        if isinstance(part, File) and part.name.startswith("test_torch")
    ]
    (tmp_path / shown.name).write_text(shown.text, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", shown.name],
        capture_output=True,
        cwd=tmp_path,
        env={**scrubbed(), "PYTEST_ADDOPTS": WITHOUT_OTHERS},
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout.decode()
    assert b"3 passed" in done.stdout
