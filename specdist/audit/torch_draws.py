"""The draws of torch: answered while a run goes on.

``rand``, ``rand_like`` and ``uniform_`` are uniforms on k/2^24 in float32, k/2^53 in float64,
k/2^11 in float16 and k/2^8 in bfloat16 (ATen/core/TransformationHelper.h, uniform_real, on the
CPU); ``multinomial`` and ``bernoulli`` are decided by weight; ``exponential_`` is noise of which a
winner is decided. Code that seeds torch's own generator inside of a run is seen, and gets the
constants that it would get.

A generator is an ideal stream named by its state, torch's own (which begins every run at a known
one) as well: the same state again, after the same seed or ``set_rng_state``, gives the same draws.
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
from specdist.audit.torch_guards import guarded, refuse_unowned
from specdist.audit.torch_state import copied, overwritten, traced_arguments
from specdist.audit.uniform import refuse

_SEED = 0x5DEC_D157
PARAMETERS = (
    "parameters that are made inside the audited code are those of torch's generator under one seed"
)
REUSED = "reused randomness: a generator was set to the same state again, or to the same seed"


class Following(TorchFunctionMode):
    """Every call of torch goes through here while an audit runs."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Answers draws, follows what is made of them, and passes everything else on."""
        with torch._C.DisableTorchFunctionSubclass():
            return self._call(func, args, kwargs or {})

    def _call(self, func: Any, args: Sequence[Any], given: Mapping[str, Any]) -> Any:
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
    refuse_unowned(name, args, given)
    generator = given.get("generator")
    if generator is None and is_seeded():
        return function(*args, **given)
    if name in REFUSED or name in FOLLOWED_BY_SHAPE:
        raise refuse(f"torch.{name}", "draw uniforms, exponentials or by multinomial")
    if given.get("out") is not None:
        raise refuse(f"torch.{name} into a given tensor", "let it make a new one")
    options = {k: v for k, v in given.items() if k not in ("generator", "out")}
    if generator is not None:
        return _from_stream(run, name, generator, args, options)
    ours = _standing() in _VISITED
    try:
        return _from_stream(run, name, torch.default_generator, args, options)
    finally:
        if ours:
            _VISITED.add(_standing())


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
    law = args[1:] if name.endswith(("_", "_like")) else args
    form = [(like.dtype, tuple(like.shape)) for like in args[: len(args) - len(law)]]
    asked = (name, form, repr(_exact([law, options])))
    if place not in run.streams:
        made = ANSWERS[name](run, *args, **options)
        run.streams[place] = (asked, copied(made))
        return made
    before, made = run.streams[place]
    if before != asked:
        raise refuse("one seed for two kinds of draws", "seed once, or draw without a seed")
    run.notes.add(REUSED)
    return overwritten(args[0], made) if name.endswith("_") else copied(made)


def _exact(value: Any) -> Any:
    """An argument with tensors as all their numbers: their own text is rounded."""
    if isinstance(value, torch.Tensor):
        return value.dtype, value.tolist()
    if isinstance(value, Mapping):
        return {name: _exact(item) for name, item in value.items()}
    return list(map(_exact, value)) if isinstance(value, list | tuple) else value


_VISITED: set[bytes] = set()
"""States that the generator itself has stood at in this run, between draws."""


def _standing() -> bytes:
    return bytes(torch.default_generator.get_state().numpy())


def begin() -> None:
    """Called before every run: the generator stands where the audit expects it."""
    torch.default_generator.manual_seed(_SEED)
    _VISITED.clear()
    _VISITED.add(_standing())


def is_seeded() -> bool:
    """Whether the audited code has seeded the generator in this run: its draws are constants."""
    return torch.default_generator.initial_seed() != _SEED


def state() -> object:
    """What must not change while a run goes on. Code that seeds the generator owns its draws."""
    return b"" if is_seeded() or (now := _standing()) in _VISITED else now


@contextmanager
def intercepted() -> Iterator[None]:
    """Answers torch until the block ends; the generator is as it was afterwards. Rows are tiny,
    and torch's threads would only wait for each other: one does all."""
    before, threads = torch.default_generator.get_state(), torch.get_num_threads()
    torch.set_num_threads(1)
    with guarded(Following()):
        begin()
        try:
            yield
        finally:
            torch.default_generator.set_state(before)
            torch.set_num_threads(threads)
