"""A batch roofline: time of a pass as the larger of what it moves and what it computes.

Sources: Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009, for the form; MagicDec,
arXiv 2408.11049, for weights shared by a batch and a cache that is not.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.model.cost import Roofline


def moving(device: Roofline, batch: int) -> Fraction:
    """``(W + B KV) / BW``: seconds to read the weights once and the cache of every sequence."""
    return (device.weights + batch * device.kv) / device.bandwidth


def computing(device: Roofline, tokens: int) -> Fraction:
    """``n F / PEAK``: seconds to compute n tokens."""
    return tokens * device.flops / device.peak


def pass_time(device: Roofline, tokens: int, batch: int) -> Fraction:
    """``T(n, B) = max((W + B KV) / BW, n F / PEAK) + overhead``: n tokens, over all B sequences."""
    return max(moving(device, batch), computing(device, tokens)) + device.overhead


def memory_bound(device: Roofline, tokens: int, batch: int) -> bool:
    """Whether moving takes at least as long as computing."""
    return moving(device, batch) >= computing(device, tokens)


def crossover_batch(device: Roofline, tokens_each: int) -> Fraction | None:
    """``B* = (W/BW) / (k F/PEAK - KV/BW)``, k the tokens that a pass computes for each sequence.

    Below it a pass is memory-bound, above it compute-bound. None where the denominator is not
    positive: each further sequence moves at least as long as it computes, at every batch.
    """
    each = computing(device, tokens_each) - device.kv / device.bandwidth
    return device.weights / device.bandwidth / each if each > 0 else None


def of_draft(device: Roofline) -> Roofline:
    """The same device under the draft model."""
    if device.draft_weights is None or device.draft_flops is None:
        raise ValueError("the roofline has no numbers of a draft model")
    return Roofline(
        device.draft_weights,
        device.bandwidth,
        device.draft_flops,
        device.peak,
        device.draft_kv,
        device.draft_overhead,
    )


def drafting_time(device: Roofline, draft_steps: int, batch: int, draft_cost: Fraction) -> Fraction:
    """Seconds to draft: each draft step is a pass of the draft model over one token a sequence, or
    ``draft_cost`` target steps at this batch where the draft model has no numbers of its own."""
    if device.has_draft:
        return draft_steps * pass_time(of_draft(device), batch, batch)
    return draft_steps * draft_cost * pass_time(device, batch, batch)
