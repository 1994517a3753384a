"""The draws of numpy: answered while an audit goes on, those of ``np.random`` itself and those of
every generator, whenever it was made.

``np.random.seed(s)`` makes the draws of the module the constants that they then are; a generator
with a seed is an ideal stream that its seed names (see `specdist.audit.streams`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from specdist.audit import numpy_generators as stand_ins
from specdist.audit.captured import living, swapped
from specdist.audit.context import drawing
from specdist.audit.uniform import refuse

_REAL = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)
_MODULE: Any = np.random.mtrand._rand
_OWN = (stand_ins.CHECKED, stand_ins.CHECKED_LEGACY)
_WATCHED: list[tuple[Any, ...]] = []
"""Real generators that were alive when the audit began, in one tuple, in which none is swapped."""


def _is_ours(real: Any) -> bool:
    return any(
        real is own or real is getattr(own, "bit_generator", None)
        or real is getattr(own, "_bit_generator", None)
        for own in (*_OWN, _MODULE)
    )  # fmt: skip


def _module_function(stand_in: stand_ins.RandomState, name: str) -> Callable[..., Any]:
    """The function of ``np.random``: the real one after it was seeded in this run."""

    def answer(*given: Any, **options: Any) -> Any:
        run = drawing("numpy")
        real = stand_ins.constants(run)
        if name == "seed":
            return stand_ins.seed_module(*given, **options)
        if name == "set_state" and given and isinstance(given[0], dict | tuple):
            stand_ins.seed_module(0)
            return stand_ins.constants(run).set_state(*given, **options)
        if name == "set_state":
            stand_ins.seed_module(None)
        elif real is not None:
            run.draws += 1
            known = "random_sample" if name in ("ranf", "sample") else name
            return getattr(real, known)(*given, **options)
        return getattr(stand_in, name)(*given, **options)

    answer.__name__ = name
    return answer


def _bit_generator(kind: str) -> Callable[..., Any]:
    return lambda seed=None: stand_ins.BitGenerator.seeded(kind, seed)


def _hidden(*_: Any, **__: Any) -> Any:
    raise refuse(
        "a generator made by a default_rng that a module hides", "call np.random.default_rng"
    )


def _answers() -> dict[str, Any]:
    """Everything of ``np.random``, by name."""
    module = stand_ins.RandomState()
    found: dict[str, Any] = {
        name: _module_function(module, name)
        for name in dir(np.random)
        if hasattr(_MODULE, name) and not name.startswith("_")
    }
    found |= {name: _module_function(module, name) for name in ("ranf", "sample")}
    found |= {kind: _bit_generator(kind) for kind in stand_ins.KINDS}
    return found | {
        "default_rng": stand_ins.default_rng,
        "Generator": stand_ins.Generator,
        "RandomState": stand_ins.RandomState,
        "BitGenerator": stand_ins.BitGenerator,
        "SeedSequence": stand_ins.SeedSequence,
    }


def _is_numpys(name: str) -> bool:
    """Whether ``np.random`` has its own function there: what the audited code put in its place is
    part of that code."""
    found = getattr(np.random, name)
    module = getattr(found, "__module__", None) or ""
    return found == getattr(_MODULE, name, None) or module.startswith("numpy")


def state() -> object:
    """Those of the real generators, which nothing draws from during an audit."""
    return repr([_state_of(real) for reals in _WATCHED for real in reals])


def _state_of(real: Any) -> Any:
    if isinstance(real, _REAL[1]):
        legacy = real.get_state(legacy=False)
        legacy["state"]["key"] = legacy["state"]["key"].tobytes()
        return legacy
    bits = real.bit_generator if isinstance(real, _REAL[0]) else real
    return bits.state


@contextmanager
def intercepted() -> Iterator[None]:
    """Answers ``np.random``, and every generator, until the block ends."""
    answers = {name: answer for name, answer in _answers().items() if _is_numpys(name)}
    found = tuple(living(_REAL, _is_ours))
    _WATCHED.append((_MODULE, *found))
    pairs = [(getattr(np.random, name), answer) for name, answer in answers.items()]
    pairs += [(real, stand_ins.stand_in_for(real)) for real in found]
    with ExitStack() as stack:
        stack.callback(_WATCHED.clear)
        stack.enter_context(swapped(pairs, _numpy_modules()))
        for name, answer in answers.items():
            stack.enter_context(patch.object(np.random, name, answer))
        stack.enter_context(patch("numpy.random._generator.PCG64", _hidden))
        yield


def _numpy_modules() -> list[str]:
    ours = ("specdist.audit.numpy_draws", "specdist.audit.numpy_generators")
    return [name for name in sys.modules if name.startswith("numpy.random")] + list(ours)
