"""JAX under audit: keys, compiled functions, the law of a speculative step; skipped without jax."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from specdist.audit import case, draw
from specdist.audit.context import Setup
from specdist.audit.judge import ROUNDING, judged
from specdist.audit.measure import Measured, measure
from specdist.audit.probe.measuring import probed
from specdist.audit.program import Program
from specdist.audit.refusals import RefusalError
from specdist.audit.tables import tables
from specdist.model.verdict import Verdict

jax = pytest.importorskip("jax", reason="jax is not installed: pip install jax")
jnp = jax.numpy
TABLE = tables(3, 1)[0]


def program(adapter: Callable[[], Any], gamma: int = 1, steps: int = 1) -> Program:
    return Program(adapter, Setup(framework="numpy", vocab=3, gamma=gamma, steps=steps), TABLE)


def found(adapter: Callable[[], Any], **sizes: int) -> Measured:
    return probed(program(adapter, **sizes), 100_000, replays=100)


@jax.jit
def verified(uniforms: Any, noise: Any, tokens: Any, target: Any, draft: Any) -> tuple[Any, Any]:
    """How many of the draft tokens are accepted, and the next token: one key for each draw."""
    places = jnp.arange(len(tokens))
    ratio = target[places, tokens] / draft[places, tokens]
    n = jnp.cumprod(jax.random.uniform(uniforms, ratio.shape) < ratio).sum()
    tested = jnp.concatenate([draft, jnp.zeros_like(draft[:1])])
    row = jnp.maximum(target[n] - tested[n], 0)
    return n, jnp.argmax(jnp.log(row) + jax.random.gumbel(noise, row.shape))


class Speculative:
    """Two keys for every step, split off the key before."""

    def __init__(self) -> None:
        self.key = jax.random.PRNGKey(0)

    def __call__(self) -> list[int]:
        self.key, *keys = jax.random.split(self.key, 3)
        tokens = [draw.categorical(case.draft()) for _ in range(case.gamma)]
        rows = jnp.asarray(case.target_rows()), jnp.asarray(case.draft_rows())
        n, token = verified(*keys, jnp.array(tokens), *rows)
        return [*tokens[: int(n)], int(token)]


@pytest.mark.parametrize("gamma", [1, 2])
def test_a_compiled_step_is_lossless_up_to_rounding(gamma: int) -> None:
    result = judged(found(Speculative, gamma=gamma), TABLE, 0)
    assert result.verdict is Verdict.WITHIN_TOLERANCE
    assert 0 < result.total_variation.exact < ROUNDING


def test_a_key_that_is_used_twice_gives_the_same_numbers() -> None:
    def twice() -> list[int]:
        key = jax.random.PRNGKey(7)
        return [int(jax.random.uniform(key) < bound) for bound in (0.25, 0.5)]

    law = found(twice)
    assert law.emitted == {(1, 1): Fraction(1, 4), (0, 1): Fraction(1, 4), (0, 0): Fraction(1, 2)}
    assert any("JAX key" in note for note in law.notes)


def test_uniforms_lie_on_the_grid_of_their_format() -> None:
    """P(u < p) for k/2^23: the number of points below p."""

    def below() -> list[int]:
        return [int(jax.random.uniform(jax.random.PRNGKey(0)) < jnp.float32(0.1))]

    exact = Fraction(float(jnp.float32(0.1))) * 2**23
    points = -(-exact.numerator // exact.denominator)
    law = found(below)
    assert law.emitted[(1,)] == Fraction(points, 2**23)
    assert law.grids == {"k/2^23 on [0, 1)"}


def chosen() -> list[int]:
    """Draws that are decided by weight, in a compiled function too."""
    first, second, third = jax.random.split(jax.random.key(1), 3)
    token = jax.jit(jax.random.categorical)(first, jnp.log(jnp.array([0.25, 0.5, 0.25])))
    flag = jax.random.bernoulli(second, jnp.float32(0.25))
    other = jax.random.choice(third, 3, p=jnp.array([0.5, 0.5, 0.0]))
    return [int(token), int(flag), int(other)]


def test_choices_are_exact_in_traced_mode() -> None:
    law = measure(program(chosen), 1000).emitted
    assert sum(law.values()) == 1
    marginals = [sum(m for t, m in law.items() if t[i] == 0) for i in range(3)]
    assert marginals[1:] == [Fraction(3, 4), Fraction(1, 2)]
    assert abs(marginals[0] - Fraction(1, 4)) < Fraction(1, 2**23)  # of logarithms in float32


@jax.jit
def turns(key: Any) -> Any:
    """A loop inside of the compiled function: one key for each turn."""

    def turn(carried: Any, _: Any) -> tuple[Any, Any]:
        carried, mine = jax.random.split(carried)
        return carried, jax.random.uniform(mine) < 0.25

    return jax.lax.scan(turn, key, None, length=2)[1]


def test_loops_in_compiled_code_draw_in_order() -> None:
    law = found(lambda: [int(flag) for flag in turns(jax.random.PRNGKey(3))]).emitted
    assert law == {
        (a, b): Fraction(1 if a else 3, 4) * Fraction(1 if b else 3, 4)
        for a in (0, 1)
        for b in (0, 1)
    }


CAPTURED = jax.random.uniform


@pytest.mark.parametrize(
    ("draws", "said"),
    [
        (lambda key: jax.random.normal(key) < 0, "jax.random.normal"),
        (lambda key: CAPTURED(key) < 0.5, "from elsewhere"),
        (lambda key: jax.vmap(jax.random.uniform)(jax.random.split(key)).sum() < 1, "vmap"),
        (
            lambda key: jax.random.uniform(key) + jax.random.uniform(key, (2,)).sum() < 1,
            "in two ways",
        ),
        (
            lambda key: (
                jax.jit(lambda k: jax.random.uniform(k) * jax.random.exponential(k))(key) < 1
            ),
            "in two ways",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused(draws: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(RefusalError, match=said):
        found(lambda: [int(draws(jax.random.PRNGKey(0)))])


def test_numbers_need_the_probe() -> None:
    with pytest.raises(RefusalError, match="--mode probe"):
        measure(program(lambda: [int(jax.random.uniform(jax.random.key(0)) < 0.5)]), 100)
