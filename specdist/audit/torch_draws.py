"""The draws of torch: answered while a run goes on.

``rand``, ``rand_like`` and ``uniform_`` are uniforms on k/2^24 in float32, k/2^53 in float64,
k/2^11 in float16 and k/2^8 in bfloat16 (ATen/core/TransformationHelper.h, uniform_real, on the
CPU); ``multinomial`` and ``bernoulli`` are decided by weight; ``exponential_`` is noise of which a
winner is decided. The generator itself is never asked: it stands at a known state, so that code
which seeds it inside of a run is seen, and gets the constants that it would get.

A `torch.Generator` with a seed of its own is an ideal stream named by its state: the same state
again, after the same seed, gives the same draws again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from specdist.audit import torch_names as names
from specdist.audit.context import Context, drawing
from specdist.audit.torch_answers import ANSWERS, FOLLOWED_BY_SHAPE, REFUSED
from specdist.audit.torch_calls import followed
from specdist.audit.torch_state import copied, overwritten, traced_arguments
from specdist.audit.uniform import refuse

_SEED = 0x5DEC_D157
PARAMETERS = (
    "parameters that are made inside the audited code are those of torch's generator under one seed"
)
REUSED = "reused randomness: a generator was seeded again with the same seed"


class Following(TorchFunctionMode):
    """Every call of torch goes through here while an audit runs."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Answers draws, follows what is made of them, and passes everything else on."""
        given: Mapping[str, Any] = kwargs or {}
        name = _DRAWS.get(func)
        if name is None:
            name = _DRAWS[func] = _draw_name(func)
        if name:
            answer = _draw(drawing("torch"), func, name, args, given)
            if answer is not NotImplemented:
                return answer
        if traced_arguments(args, given):
            return followed(drawing("torch"), func, args, given)
        return func(*args, **given)


_DRAWS: dict[Any, str] = {}
"""Function of torch -> its name where it draws, else the empty string."""


def _draw_name(function: Any) -> str:
    name = names.name_of(function)
    return name if name in REFUSED or name in ANSWERS or name in FOLLOWED_BY_SHAPE else ""


def _draw(
    run: Context, function: Callable[..., Any], name: str, args: Sequence[Any], given: Any
) -> Any:
    if getattr(function, "__module__", "") == "torch.nn.init" or _is_parameter(args):
        run.notes.add(PARAMETERS)
        return _untouched(lambda: function(*args, **given))
    if name in FOLLOWED_BY_SHAPE and not FOLLOWED_BY_SHAPE[name](args, given):
        return NotImplemented
    generator = given.get("generator")
    if generator is None and is_seeded():
        return function(*args, **given)
    if name in REFUSED or name in FOLLOWED_BY_SHAPE:
        raise refuse(f"torch.{name}", "draw uniforms, exponentials or by multinomial")
    options = {k: v for k, v in given.items() if k != "generator"}
    if generator is None:
        return ANSWERS[name](run, *args, **options)
    return _from_stream(run, name, generator, args, options)


def _is_parameter(args: Sequence[Any]) -> bool:
    return bool(args) and isinstance(args[0], torch.nn.Parameter)


def _untouched(draw: Callable[[], Any]) -> Any:
    """A real draw that leaves the generator as it was."""
    before = torch.default_generator.get_state()
    try:
        return draw()
    finally:
        torch.default_generator.set_state(before)


def _from_stream(
    run: Context, name: str, generator: torch.Generator, args: Sequence[Any], options: Any
) -> Any:
    """Draws from the place of the stream that a generator stands at, and moves it on."""
    place = ("torch", bytes(generator.get_state().numpy()))
    torch.rand(1, generator=generator)
    asked = (name, repr(args[1:]), repr(options), _described(name, args))
    if place not in run.streams:
        made = ANSWERS[name](run, *args, **options)
        run.streams[place] = (asked, copied(made))
        return made
    before, made = run.streams[place]
    if before != asked:
        raise refuse("one seed for two kinds of draws", "seed once, or draw without a seed")
    run.notes.add(REUSED)
    return overwritten(args[0], made) if name.endswith("_") else copied(made)


def _described(name: str, args: Sequence[Any]) -> object:
    """The first argument; of a tensor that is drawn into, or like which one is made, its form."""
    first = args[0] if args else None
    if not isinstance(first, torch.Tensor):
        return repr(first)
    weights = repr(first.tolist()) if name in ("multinomial", "bernoulli") else ""
    return first.dtype, tuple(first.shape), weights


def begin() -> None:
    """Called before every run: the generator stands where the audit expects it."""
    torch.default_generator.manual_seed(_SEED)


_START = torch.Generator().manual_seed(_SEED).get_state()


def is_seeded() -> bool:
    """Whether the audited code has seeded the generator in this run: its draws are constants."""
    return torch.default_generator.initial_seed() != _SEED


def state() -> object:
    """What must not change while a run goes on. Code that seeds the generator owns its draws."""
    now = torch.default_generator
    return (
        b""
        if is_seeded() or torch.equal(now.get_state(), _START)
        else bytes(now.get_state().numpy())
    )


@contextmanager
def intercepted() -> Iterator[None]:
    """Answers torch until the block ends; the generator is as it was afterwards."""
    before = torch.default_generator.get_state()
    with Following():
        begin()
        try:
            yield
        finally:
            torch.default_generator.set_state(before)
