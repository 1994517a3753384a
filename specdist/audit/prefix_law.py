"""Laws over token sequences: what was emitted, and what the target alone emits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from specdist.audit.tables import Law, Tokens

SequenceLaw = dict[Tokens, Fraction]
_ZERO = Fraction(0)


def continued(
    emitted: Iterable[tuple[Tokens, Fraction]], target: Callable[[Tokens], Law], length: int
) -> SequenceLaw:
    """The law of the first ``length`` tokens, a shorter output being continued by the target.

    Continuing with the target leaves the total variation from the target's own law what it is for
    the output, because both are extended alike.
    """
    found: SequenceLaw = {}
    for tokens, mass in emitted:
        _extend(tokens[:length], mass, target, length, found)
    return found


def target_law(target: Callable[[Tokens], Law], length: int) -> SequenceLaw:
    """What the target alone emits as its first ``length`` tokens; zeros are left out."""
    found: SequenceLaw = {}
    _extend((), Fraction(1), target, length, found)
    return found


def next_tokens(law: SequenceLaw, vocab: int) -> Callable[[Tokens], Law]:
    """The law of the token after a prefix, by a law of longer sequences. After a prefix that the
    law does not have it is token 0: the whole sequence has no mass there whatever follows."""
    rows: dict[Tokens, list[Fraction]] = {}
    for tokens, mass in law.items():
        for i, token in enumerate(tokens):
            rows.setdefault(tokens[:i], [_ZERO] * vocab)[token] += mass
    unknown = (Fraction(1), *[_ZERO] * (vocab - 1))

    def following(prefix: Tokens) -> Law:
        row = rows.get(prefix)
        return unknown if row is None else tuple(mass / sum(row) for mass in row)

    return following


def _extend(
    tokens: Tokens,
    mass: Fraction,
    target: Callable[[Tokens], Law],
    length: int,
    found: SequenceLaw,
) -> None:
    if len(tokens) == length:
        found[tokens] = found.get(tokens, _ZERO) + mass
        return
    for token, share in enumerate(target(tokens)):
        if share:
            _extend((*tokens, token), mass * share, target, length, found)


def marginal(law: Mapping[Tokens, Fraction], length: int) -> SequenceLaw:
    """The law of the first ``length`` tokens."""
    found: SequenceLaw = {}
    for tokens, mass in law.items():
        begun = tokens[:length]
        found[begun] = found.get(begun, _ZERO) + mass
    return found


def total_variation(one: Mapping[Tokens, Fraction], other: Mapping[Tokens, Fraction]) -> Fraction:
    """Half the sum of absolute differences."""
    both = one.keys() | other.keys()
    return sum((abs(one.get(t, _ZERO) - other.get(t, _ZERO)) for t in both), _ZERO) / 2


def outside(law: Mapping[Tokens, Fraction], target: Callable[[Tokens], Law]) -> Fraction:
    """Mass on sequences that the target cannot emit."""
    return sum((mass for tokens, mass in law.items() if not _possible(tokens, target)), _ZERO)


def _possible(tokens: Tokens, target: Callable[[Tokens], Law]) -> bool:
    return all(target(tokens[:i])[token] for i, token in enumerate(tokens))
