"""What is made of random numbers and cannot be followed: refused, with the line and the reason."""

from __future__ import annotations

import asyncio
import copy
import inspect
import math
import os
import pickle
import random
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specdist.audit.refusals import AuditError, BudgetError, NotAFunctionError, RefusalError
from tests.audit_laws import is_close, law, measured

P = np.array([1, 2, 3, 2]) / 8
rng = np.random.default_rng


def written() -> Any:
    row = np.empty(3)
    row[:] = np.random.rand(3)
    return row[0] < 0.5


def in_place() -> Any:
    row = P.copy()
    row /= np.random.exponential(size=4)
    return row.argmax()


def two_races() -> Any:
    noise = np.random.gumbel(size=4)
    return np.argmax(P + noise) + np.argmax(2 * P + noise)


def compared_and_raced() -> Any:
    row = np.random.rand(4)
    return (row[0] < 0.5) + np.argmin(-np.log(row) / P)


def raced_and_compared() -> Any:
    row = np.random.rand(4)
    return np.argmin(-np.log(row) / P) + (row[0] < 0.5)


def mirrored() -> Any:
    row = np.random.rand(4)
    return np.argmin(-np.log(row)) + np.argmin(-np.log(1 - row))


def caught() -> Any:
    try:
        return math.log(random.random()) < -1
    except Exception:
        return 0


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "two uniforms": (lambda: random.random() < random.random(), "comparing two uniforms"),
    "a product": (lambda: random.random() * random.random() < 0.5, "two random numbers"),
    "a product of arrays": (lambda: (rng().random(2) * rng().random(2) < 0.5)[0], "two random"),
    "a sum": (lambda: np.random.rand(2).sum() < 1, "add.reduce"),
    "a mean": (lambda: np.random.rand(2).mean() < 1, "add.reduce"),
    "a maximum": (lambda: np.random.rand(2).max() < 1, "maximum.reduce"),
    "an order": (lambda: np.argsort(np.random.rand(2))[0], "argsort"),
    "a product of rows": (lambda: np.random.rand(3) @ P[:3] < 1, "matmul"),
    "a cumsum": (lambda: np.cumsum(np.random.rand(3))[0] < 1, "cumsum"),
    "an outer product": (lambda: np.less.outer(np.random.rand(2), P).sum(), "less.outer"),
    "the value": (lambda: float(random.random()) < 0.5, "the value of a uniform"),
    "math.log": (lambda: math.log(random.random()) < -1, "numpy.log, not math.log"),
    "an array of floats": (lambda: np.array([random.random()], float)[0] < 0.5, "the value"),
    "many levels": (lambda: int(random.random() * 1000) % 5, "more than 64 values"),
    "a distance": (lambda: abs(random.random() - 0.5) < 0.25, "not monotone"),
    "a square": (lambda: np.square(np.random.rand() - 0.5) < 0.25, "not monotone"),
    "a pole": (lambda: 1 / (random.random() - 0.5) < 1, "not monotone"),
    "a pole at an end": (lambda: 1 / (0 - random.random()) < -5, "not monotone"),
    "a logarithm of both signs": (lambda: np.log(random.random() - 0.5) < -1, "not monotone"),
    "a remainder": (lambda: (random.random() * 3) % 1 < 0.5, "not monotone"),
    "infinity": (lambda: (random.random() - 0.5) * math.inf <= 0, "leave infinities out"),
    "a key": (lambda: len({random.random(): 1}), "a uniform as a key"),
    "a pickle": (lambda: pickle.loads(pickle.dumps(random.random())) < 0.5, "pickled"),
    "bytes": (lambda: np.random.rand(2).tobytes()[0], "the memory"),
    "no array of one's own": (written, "the value of a uniform"),
    "out=": (lambda: rng().random(out=np.empty(2))[0] < 0.5, "no out="),
    "noise out=": (lambda: rng().standard_exponential(out=np.empty(2)).argmax(), "no out="),
    "noise in place": (in_place, "written into an array of floats"),
    "a single exponential": (lambda: np.random.exponential() < 1, "the value of exponential"),
    "exponentials one by one": (lambda: min(random.expovariate(w) for w in P) < 1, "expovariate"),
    "the last of a race": (lambda: np.argmax(np.random.exponential(size=4) / P), "the last of"),
    "mixed noise": (lambda: np.argmax(np.where(P > 0.2, np.random.gumbel(size=4), P)), "numbers"),
    "p / u": (lambda: np.argmax(P / np.random.rand(4)), "the largest of several uniforms"),
    "a NaN in a race": (lambda: np.argmax(np.log(P) * np.nan + rng().gumbel(size=4)), "race"),
    "powers that round": (lambda: np.argmax(np.random.rand(4) ** 1e-20), "round to 1"),
    "powers that underflow": (lambda: np.argmax(np.random.rand(4) ** (99 / P)), "underflow"),
    "two races": (two_races, "two different races"),
    "compared and raced": (compared_and_raced, "used before"),
    "raced and compared": (raced_and_compared, "was raced"),
    "u and 1 - u": (mirrored, "two different races"),
    "normal": (lambda: np.random.normal() < 0, "numpy's normal"),
    "gauss": (lambda: random.gauss(0, 1) < 0, "random.gauss"),
    "a permutation": (lambda: rng().permutation(3)[0], "numpy's permutation"),
    "a large whole number": (lambda: rng().integers(2**31) % 3, "out of 2.15e+09"),
    "caught by the code": (caught, "the value of a uniform"),
    "a complex number": (lambda: complex(random.random()).real < 0.5, "complex"),
    "a method": (lambda: random.random().hex() < "0x1", "hex of a uniform"),
    "a library's error": (lambda: math.floor(np.divmod(random.random(), 0.5)[0]), "divmod"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_its_line(name: str) -> None:
    function, said = REFUSED[name]
    with pytest.raises(RefusalError) as refused:
        law(function)
    assert said in str(refused.value)
    line = function.__code__.co_firstlineno
    lines = range(line, line + len(inspect.getsourcelines(function)[0]))
    assert refused.value.place in [f"{__file__}, line {number}" for number in lines]


def in_a_thread() -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(np.random.rand() < 0.5))
    thread.start()
    thread.join()
    return found[0] if found else 0


def in_a_pool() -> Any:
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(random.random).result() < 0.5
        except Exception:
            return 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("function", [in_a_thread, in_a_pool])
def test_draws_of_threads_are_refused(function: Callable[[], Any]) -> None:
    with pytest.raises(AuditError, match=r"another thread.*draws from threads are not"):
        law(function)


async def asked() -> bool:
    return bool(await asyncio.to_thread(random.random) < 0.25)


def test_draws_of_coroutines_are_followed() -> None:
    assert law(lambda: asyncio.run(asked())) == {1: Fraction(1, 4), 0: Fraction(3, 4)}


def test_names_of_temporary_files_are_no_draws() -> None:
    def step() -> bool:
        with tempfile.TemporaryDirectory():
            return random.random() < 0.25

    assert law(step) == {1: Fraction(1, 4), 0: Fraction(3, 4)}


def test_a_copy_is_the_same_number() -> None:
    def step() -> int:
        drawn = random.random()
        return int(drawn < 0.25) + 2 * int(copy.deepcopy(drawn) < 0.25)

    assert law(step) == {3: Fraction(1, 4), 0: Fraction(3, 4)}


@pytest.mark.parametrize("share", [0.5, 0.25])
def test_a_loop_without_end_is_refused(share: float) -> None:
    def step() -> int:
        while random.random() < share:
            pass
        return 1

    with pytest.raises(BudgetError, match="400 decisions"):
        law(step)


def test_randomness_of_the_system_shows_in_a_replay() -> None:
    def step() -> int:
        return int(random.random() < 0.5) + 2 * int.from_bytes(os.urandom(8), "big") % 7

    with pytest.raises(NotAFunctionError):
        law(step)


def test_errors_of_the_code_itself_are_outcomes() -> None:
    def step() -> int:
        if random.random() < 0.25:
            raise TypeError("of its own")
        if random.random() < 0.5:
            raise SystemExit(3)
        return 1

    found = measured(step)
    masses = {error: mass for (_, error, _), mass in found.raised.items()}
    assert masses == {"TypeError: of its own": Fraction(1, 4), "SystemExit: 3": Fraction(3, 8)}


def test_a_seed_sequence_is_followed() -> None:
    def step() -> int:
        one, other = np.random.SeedSequence(5).spawn(2)
        return int(rng(one).random() < 0.5) + 2 * int(rng(other).random() < 0.5)

    assert is_close(law(step), dict.fromkeys(range(4), Fraction(1, 4)))
