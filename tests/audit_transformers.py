"""For the audits of transformers: its adapters, and the law of one step by enumeration.

The enumeration knows nothing of the package: rows are functions of the prefix, and draft tokens are
tested one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

from tests.cli import ROOT

Tokens = tuple[int, ...]
Rows = Callable[[Tokens], Sequence[Fraction]]
SequenceLaw = dict[Tokens, Fraction]
ONE = Fraction(1)


def loaded(name: str) -> Any:
    """The module sample_inputs/audit/NAME.py."""
    spec = spec_from_file_location(name, ROOT / "sample_inputs" / "audit" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def accepted(target: Fraction, draft: Fraction) -> Fraction:
    """The acceptance probability of Leviathan et al. 2023, algorithm 1."""
    return min(ONE, target / draft)


def residual(target: Sequence[Fraction], draft: Sequence[Fraction]) -> list[Fraction]:
    """Its residual, not normalised."""
    return [max(p - q, Fraction(0)) for p, q in zip(target, draft, strict=True)]


def output_law(
    target: Rows,
    draft: Rows,
    gamma: int,
    accept: Callable[[Fraction, Fraction], Fraction] = accepted,
    left: Callable[..., Sequence[Fraction]] = residual,
    drafted_from: Rows | None = None,
    last_row: Callable[[Tokens], Tokens] = lambda prefix: prefix,
) -> SequenceLaw:
    """The joint law of gamma + 1 tokens: one step, then the target alone. ``accept`` and ``left``
    are the rule's test and residual, ``drafted_from`` is what tokens are really drawn from, and
    ``last_row`` the prefix of the target row that the recovered or bonus token is drawn by."""
    found: SequenceLaw = {}

    def add(prefix: Tokens, mass: Fraction) -> None:
        for tokens, share in extended(target, prefix, gamma + 1).items():
            found[tokens] = found.get(tokens, Fraction(0)) + mass * share

    def end(prefix: Tokens, weights: Sequence[Fraction], mass: Fraction) -> None:
        for token, weight in enumerate(weights if mass else ()):
            add((*prefix, token), mass * weight / sum(weights))

    def test(prefix: Tokens, mass: Fraction) -> None:
        row = target(last_row(prefix))
        if len(prefix) == gamma:
            return end(prefix, row, mass)
        tested = draft(prefix)
        for token, share in enumerate((drafted_from or draft)(prefix)):
            if share:
                chance = accept(target(prefix)[token], tested[token])
                test((*prefix, token), mass * share * chance)
                end(prefix, left(row, tested), mass * share * (1 - chance))
        return None

    test((), ONE)
    return found


def extended(target: Rows, prefix: Tokens, length: int) -> SequenceLaw:
    """The law of whole sequences of a length that begin with a prefix."""
    law = {prefix: ONE}
    for _ in range(length - len(prefix)):
        law = {
            (*tokens, token): mass * share
            for tokens, mass in law.items()
            for token, share in enumerate(target(tokens))
        }
    return law


def variation(one: SequenceLaw, other: SequenceLaw) -> Fraction:
    """Half the sum of absolute differences."""
    both = one.keys() | other.keys()
    return (
        sum((abs(one.get(t, Fraction(0)) - other.get(t, Fraction(0))) for t in both), ONE * 0) / 2
    )
