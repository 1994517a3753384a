"""The random numbers of one verification, seen as they are drawn.

transformers draws the uniforms of all accept tests by one ``rand_like`` and the final token by one
``multinomial`` (generation/utils.py, ``_speculative_sampling``, version 5.24). torch's multinomial
of a single sample is ``argmax(law / E)`` with exponential numbers E drawn from the same generator
(aten/src/ATen/native/Distributions.cpp, version 2.13), so that E can be drawn beforehand and the
state of the generator put back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from specdist.recording.extra import library


@dataclass
class Draws:
    """What was drawn: uniforms in order, and the exponential numbers of the final token, where
    they explain it."""

    uniforms: list[Any] = field(default_factory=list)
    noise: Any = None


@contextmanager
def watched() -> Iterator[Draws]:
    """While the block runs, ``torch.rand_like`` and ``torch.multinomial`` are written down."""
    torch = library("torch")
    seen = Draws()
    rand_like, multinomial = torch.rand_like, torch.multinomial
    torch.rand_like = _watched_uniforms(rand_like, seen)
    torch.multinomial = _watched_race(torch, multinomial, seen)
    try:
        yield seen
    finally:
        torch.rand_like, torch.multinomial = rand_like, multinomial


def _watched_uniforms(rand_like: Callable[..., Any], seen: Draws) -> Callable[..., Any]:
    def drawn(*args: Any, **kwargs: Any) -> Any:
        found = rand_like(*args, **kwargs)
        seen.uniforms.append(found.detach().clone())
        return found

    return drawn


def _watched_race(torch: Any, multinomial: Callable[..., Any], seen: Draws) -> Callable[..., Any]:
    def drawn(law: Any, *args: Any, **kwargs: Any) -> Any:
        noise = None
        if law.device.type == "cpu" and kwargs.get("generator") is None:
            state = torch.get_rng_state()
            noise = torch.empty_like(law).exponential_(1)
            torch.set_rng_state(state)
        found = multinomial(law, *args, **kwargs)
        if noise is not None and torch.equal((law / noise).argmax(-1, keepdim=True), found):
            seen.noise = noise.detach().clone()
        return found

    return drawn
