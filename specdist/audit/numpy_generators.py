"""What stands for numpy's generators, bit generators and seed sequences during an audit.

A generator with a seed stands at the beginning of the ideal stream that kind and seed name; one
without draws of a stream of its own. numpy's own methods are asked first, on a generator of the
audit, for the shape of a result and for what they refuse.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NoReturn

import numpy as np

from specdist.audit.context import Context, drawing
from specdist.audit.numpy_answers import ANSWERS
from specdist.audit.streams import Place, begun, marked, place_of, put, returned
from specdist.audit.uniform import refuse

_Generator, _RandomState = np.random.Generator, np.random.RandomState
_BitGenerator, _SeedSequence = np.random.BitGenerator, np.random.SeedSequence
_PCG64 = np.random.PCG64
CHECKED = _Generator(np.random.PCG64(0))
"""Asked for shapes and errors; its numbers go nowhere."""
CHECKED_LEGACY = _RandomState(0)
KINDS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
"""Names of numpy's bit generators."""


class SeedSequence(np.random.SeedSequence):
    """A seed sequence; without entropy it gets that of its number in the run."""

    def __init__(self, entropy: Any = None, **options: Any) -> None:
        if entropy is None:
            run = drawing("numpy")
            count = run.streams["entropies"] = run.streams.get("entropies", 0) + 1
            entropy = (1 << 127) + count
        super().__init__(entropy, **options)


class BitGenerator:
    """Where a generator draws from. ``key`` names its stream; None for one of its own."""

    def __init__(self, kind: str, key: Hashable) -> None:
        self.kind, self.key = kind, key

    @classmethod
    def seeded(cls, kind: str, seed: Any) -> BitGenerator:
        """That of a seed. Raises numpy's errors for what is none."""
        if seed is None:
            return cls(kind, None)
        sequence = seed if isinstance(seed, _SeedSequence) else _SeedSequence(seed)
        return cls(kind, (kind, tuple(sequence.generate_state(8).tolist())))

    @classmethod
    def of_real(cls, real: Any) -> BitGenerator:
        """That of a bit generator that was made before the audit: its state names the stream."""
        state = real.state
        return cls(state["bit_generator"], (state["bit_generator"], repr(state)))

    def place(self) -> Place:
        """Where it stands in this run."""
        return place_of(drawing("numpy"), self, self.key)

    @property
    def state(self) -> dict[str, Any]:
        """A mark, to come back to."""
        return {"bit_generator": self.kind, "state": marked(self.place())}

    @state.setter
    def state(self, value: Any) -> None:
        mark = value.get("state") if isinstance(value, dict) else value
        returned(drawing("numpy"), self, mark)

    def spawned(self) -> BitGenerator:
        """A child, with a stream of its own that follows from this one's."""
        place = self.place()
        place.children += 1
        return BitGenerator(self.kind, self.key and (self.key, "child", place.children))

    def spawn(self, n_children: int) -> list[BitGenerator]:
        """Children."""
        return [self.spawned() for _ in range(n_children)]

    def __copy__(self) -> BitGenerator:
        made = BitGenerator(self.kind, self.key)
        put(drawing("numpy"), made, marked(self.place()).place)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> BitGenerator:
        memo[id(self)] = made = self.__copy__()
        return made

    def __reduce__(self) -> NoReturn:
        raise refuse("a generator that is pickled", "copy it, or seed another")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(_PCG64, name):
            raise AttributeError(name)
        raise refuse(f"{name} of a bit generator", "draw through a Generator")


def _answers(checked: Any) -> Any:
    """A class decorator: every public method of numpy's class, answered or refused."""

    def give(cls: type) -> type:
        for name in dir(checked):
            if not name.startswith("_") and not hasattr(cls, name):
                setattr(cls, name, _method(name, checked))
        return cls

    return give


def _method(name: str, checked: Any) -> Any:
    def method(self: Any, *given: Any, **options: Any) -> Any:
        answer = ANSWERS.get(name)
        if answer is None:
            raise refuse(f"numpy's {name}", "draw uniforms, categorical tokens or noise")
        run = drawing("numpy")
        return answer(run, self.bit_generator.place(), checked, *given, **options)

    method.__name__ = name
    return method


@_answers(CHECKED)
class Generator:
    """Stands for ``np.random.Generator``."""

    def __init__(self, bit_generator: Any) -> None:
        if isinstance(bit_generator, _BitGenerator):
            bit_generator = BitGenerator.of_real(bit_generator)
        self.bit_generator: BitGenerator = bit_generator

    def spawn(self, n_children: int) -> list[Generator]:
        """Children with streams of their own."""
        return [type(self)(child) for child in self.bit_generator.spawn(n_children)]


@_answers(CHECKED_LEGACY)
class RandomState:
    """Stands for ``np.random.RandomState``."""

    def __init__(self, seed: Any = None) -> None:
        self.bit_generator = _legacy(seed)

    def seed(self, seed: Any = None) -> None:
        """Goes to the beginning of the stream of another seed."""
        run = drawing("numpy")
        put(run, self.bit_generator, begun(run, _legacy(seed).key))

    def get_state(self, legacy: bool = True) -> Any:
        """A mark, to come back to."""
        return marked(self.bit_generator.place())

    def set_state(self, state: Any) -> None:
        """Goes back to a mark."""
        returned(drawing("numpy"), self.bit_generator, state)


def _legacy(seed: Any) -> BitGenerator:
    if seed is None or isinstance(seed, BitGenerator):
        return BitGenerator("MT19937", None) if seed is None else seed
    if isinstance(seed, _BitGenerator):
        return BitGenerator.of_real(seed)
    real = _RandomState(seed)  # its own errors
    words = real.get_state(legacy=False)["state"]["key"]
    return BitGenerator("MT19937", ("RandomState", words.tobytes()))


def default_rng(seed: Any = None) -> Generator:
    """Stands for ``np.random.default_rng``."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, RandomState):
        return Generator(seed.bit_generator)
    if isinstance(seed, BitGenerator | _BitGenerator):
        return Generator(seed)
    if isinstance(seed, _Generator):
        return Generator(seed.bit_generator)
    return Generator(BitGenerator.seeded("PCG64", seed))


def stand_in_for(real: Any) -> Any:
    """For a generator that was made before the audit."""
    if isinstance(real, _BitGenerator):
        return BitGenerator.of_real(real)
    if isinstance(real, _Generator):
        return Generator(BitGenerator.of_real(real.bit_generator))
    return RandomState(BitGenerator.of_real(real._bit_generator))


def constants(run: Context) -> Any:
    """The real generator of the module, once the audited code seeded it; None before."""
    return run.streams.get("numpy.random")


def seed_module(seed: Any = None) -> None:
    """Stands for ``np.random.seed``: later draws of the module are the constants of the seed."""
    run = drawing("numpy")
    if seed is None:
        run.streams.pop("numpy.random", None)
        return
    run.streams["numpy.random"] = _RandomState(seed)
    shown = f"{seed!r:.40}"
    run.notes.add(f"np.random.seed({shown}) inside the audited code: later draws are constants")
