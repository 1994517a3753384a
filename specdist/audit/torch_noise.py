"""Noise of torch as races: what arithmetic makes of it, and which element wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from specdist.audit.context import Context
from specdist.audit.noise_algebra import Kind, Noise, bounded, changed, monotone, winners_weights
from specdist.audit.race import GUARDED, IDEAL, Row, refuse_rounding
from specdist.audit.torch_state import Source, Tensor, Traced, state_of
from specdist.audit.uniform import refuse


def arithmetic(
    noise: Noise | None, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Noise | None:
    """The noise after a function under numpy's name, the noise being one of ``args``."""
    if noise is None or name == "same":
        return noise
    if name in ("clamp", "clamp_min", "clamp_max", "maximum", "minimum"):
        bounds = _bounds(name, args, kwargs)
        return None if bounds is None else bounded(noise, *bounds)
    if name in ("softmax", "log_softmax"):
        return _over_rows(noise, args, kwargs)
    if kwargs or len(args) > 2:
        return None
    if len(args) == 1:
        return changed(noise, name)
    first = state_of(args[0]) is not None
    other = args[1] if first else args[0]
    numbers = other.detach().double().numpy() if isinstance(other, torch.Tensor) else other
    return changed(noise, name, numbers, first)


def _over_rows(noise: Noise, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Noise | None:
    axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
    last = noise.numbers.ndim - 1
    return monotone(noise) if axis in (-1, last) else None


def _bounds(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[float | None, float | None] | None:
    given = [*args[1:], None, None]
    low, high = kwargs.get("min", given[0]), kwargs.get("max", given[1])
    if name in ("clamp_max", "minimum"):
        low, high = None, kwargs.get("max", kwargs.get("other", given[0]))
    elif name in ("clamp_min", "maximum"):
        low, high = kwargs.get("min", kwargs.get("other", given[0])), None
    try:
        return (None if low is None else float(low), None if high is None else float(high))
    except (TypeError, ValueError, RuntimeError):
        return None


def winners(run: Context, state: Traced, largest: bool, axis: int | None) -> Tensor:
    """The index [...] of the largest (or smallest) element of every row of the last axis."""
    noise, index = state.noise, state.index
    if noise is None:
        raise refuse(
            "the largest of several uniforms",
            "race w / E or log w + Gumbel noise, or take --mode probe",
        )
    last = index.dim() - 1
    if axis is None and index.numel() != (index.shape[-1] if index.dim() else 1):
        raise refuse("a race over several rows", "race along the last axis")
    if axis not in (None, -1, last):
        raise refuse("a race along another axis", "race along the last axis")
    run.notes.add(IDEAL)
    if noise.guarded:
        run.notes.add(GUARDED)
    width = index.shape[-1]
    numbers = np.broadcast_to(noise.numbers, tuple(index.shape)).reshape(-1, width)
    rows = index.reshape(-1, width).tolist()
    found = [
        _winner(run, state, ids, row.tolist(), largest)
        for ids, row in zip(rows, numbers, strict=True)
    ]
    made = torch.tensor(found, dtype=torch.long)
    return made.reshape(()) if axis is None else made.reshape(index.shape[:-1])


def _winner(
    run: Context, state: Traced, ids: list[int], numbers: list[float], largest: bool
) -> int:
    noise = state.noise
    assert noise is not None
    weights = winners_weights(noise, numbers, largest)
    if weights is None:
        raise refuse("the last of a race", "ask for the largest w / E, or the smallest E / w")
    if noise.ordered and noise.kind is Kind.LINEAR:
        refuse_rounding(weights)
    racing = [i for i, weight in enumerate(weights) if weight]
    if len(racing) == 1:
        return racing[0]
    known = [ids[i] for i in racing]
    if min(known) < 0 or len(set(known)) != len(known):
        raise refuse("a race of noise with numbers", "race one row of noise")
    source = state.source(known[0])
    number = (known[0] - source.first) // source.width
    start = source.first + number * source.width
    if not all(start <= element < start + source.width for element in known):
        raise refuse("a race over several rows of noise", "race along the last axis")
    spread = [Fraction(0)] * source.width
    for i in racing:
        spread[ids[i] - start] = weights[i]
    winner = _row(source, number, noise.mirrored).decide(run, spread)
    return ids.index(start + winner)


def _row(source: Source, number: int, turned: bool) -> Row:
    """The race of a row of a draw. Raises RefusalError for noise that was used otherwise."""
    if number not in source.rows:
        begin = number * source.width
        atoms = source.atoms[begin : begin + source.width]
        if any(atom.raced is not None or not atom.untouched for atom in atoms):
            raise refuse("a race of noise that was compared", "draw new noise for the race")
        source.rows[number] = (Row(f"noise {source.first}, row {number}"), turned)
        for atom in atoms:
            atom.raced = source.rows[number][0], (), turned
    row, before = source.rows[number]
    if before != turned:
        raise refuse("noise that races both as U and as 1 - U", "draw new noise for each")
    return row


def restructured(noise: Noise | None, numbers: Tensor) -> Noise | None:
    """The noise with its numbers put into another shape."""
    return None if noise is None else replace(noise, numbers=numbers.numpy())
