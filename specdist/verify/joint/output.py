"""The joint law of what a step emits, completed with the target, against the target's own.

Outputs are compared by their first K tokens, K the horizon. An outcome that emits fewer is
completed with fresh draws from the reference, as the steps that follow would do if they are right:
``out(z) = sum over emitted prefixes s of z: mass(s) * reference(rest of z | s)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.errors import CaptureError
from specdist.exact.rational_vector import exact_total
from specdist.model.conditional import Prefix
from specdist.model.role import Role
from specdist.rules.joint.outcomes import Law, PrefixLaws
from specdist.verify.joint.gathering import Gathered, Masses

_ZERO, _ONE = Fraction(0), Fraction(1)
EXPANDED = 65_536
"""Up to so many outputs of the horizon are listed one by one."""


@dataclass(frozen=True, slots=True)
class Block:
    """All outputs that begin with ``prefix``: their mass and that of the reference. Behind the
    prefix both follow the reference, so that their differences are of one sign."""

    prefix: Prefix
    output: Fraction
    reference: Fraction


@dataclass(frozen=True, slots=True)
class JointLaw:
    """Output and reference over the first ``horizon`` tokens, in blocks that partition them.

    ``total_variation`` = sum of |output - reference| / 2 over the blocks, which is exact for whole
    outputs. Where mass has no token (``unnamed``) it is the least that any choice could reach.
    """

    horizon: int
    blocks: tuple[Block, ...]
    total_variation: Fraction
    unnamed: Fraction

    @property
    def forbidden_mass(self) -> Fraction:
        """Mass on outputs to which the reference gives 0."""
        return sum((block.output for block in self.blocks if not block.reference), _ZERO)


@dataclass(slots=True)
class _Node:
    """A prefix at which mass was emitted, or through which emitted outputs pass."""

    ends: Fraction = _ZERO
    children: dict[int, _Node] = field(default_factory=dict)

    def total(self) -> Fraction:
        return self.ends + sum((child.total() for child in self.children.values()), _ZERO)


def joint_law(gathered: Gathered, laws: PrefixLaws, horizon: int) -> JointLaw:
    """The law of the first ``horizon`` tokens against the reference's (module docstring)."""
    blocks = tuple(_blocks(_tree(gathered.emitted, horizon), laws))
    unnamed = sum(gathered.unnamed.values(), _ZERO)
    above = [b.output - b.reference for b in blocks if b.output > b.reference]
    return JointLaw(horizon, blocks, exact_total(above), unnamed)


def _tree(emitted: Masses, horizon: int) -> _Node:
    root = _Node()
    for tokens, mass in emitted.items():
        node = root
        for token in tokens[:horizon]:
            node = node.children.setdefault(token, _Node())
        node.ends += mass
    return root


def _blocks(root: _Node, laws: PrefixLaws) -> Iterator[Block]:
    """Depth first: ``carried`` is mass that ended before and goes on as the reference does."""
    open_nodes: list[tuple[Prefix, _Node, Fraction, Fraction]] = [((), root, _ONE, _ZERO)]
    while open_nodes:
        prefix, node, reference, carried = open_nodes.pop()
        law = None
        if node.children:
            law = _goes_on(prefix, laws, reference, carried + node.ends)
        if law is None:
            yield Block(prefix, carried + node.total(), reference)
            continue
        carried += node.ends
        for token in range(laws.size - 1, -1, -1):
            child = node.children.get(token)
            follows, passes = reference * law[token], carried * law[token]
            if child is not None:
                open_nodes.append(((*prefix, token), child, follows, passes))
            elif follows or passes:
                yield Block((*prefix, token), passes, follows)


def _goes_on(
    prefix: Prefix, laws: PrefixLaws, reference: Fraction, carried: Fraction
) -> Law | None:
    """The reference behind a prefix. Behind tokens that it forbids a table may have no row: then
    zeros where no mass needs it, and None where some does."""
    if not (reference or carried):
        return (_ZERO,) * laws.size
    try:
        return laws.law(Role.REFERENCE, prefix)
    except CaptureError:
        if reference:
            raise
        return None


def forbidden_starts(law: JointLaw, laws: PrefixLaws) -> dict[Prefix, Fraction]:
    """The mass of outputs that the reference never emits, by how they begin: up to the first token
    that it forbids there."""
    found: dict[Prefix, Fraction] = {}
    for block in law.blocks:
        if block.output and not block.reference:
            start = _first_forbidden(block.prefix, laws)
            found[start] = found.get(start, _ZERO) + block.output
    return found


def _first_forbidden(prefix: Prefix, laws: PrefixLaws) -> Prefix:
    for place, token in enumerate(prefix):
        if not laws.law(Role.REFERENCE, prefix[:place])[token]:
            return prefix[: place + 1]
    return prefix


def expanded(law: JointLaw, laws: PrefixLaws) -> tuple[Block, ...] | None:
    """The blocks as single outputs of the horizon; None where they are too many to list, or where
    the models have no row for the tokens behind a block."""
    if laws.size**law.horizon > EXPANDED:
        return None
    if all(len(block.prefix) == law.horizon for block in law.blocks):
        return tuple(sorted(law.blocks, key=lambda each: each.prefix))
    single: list[Block] = []
    try:
        for block in law.blocks:
            for rest, share in _continuations(block.prefix, laws, law.horizon):
                single.append(Block(rest, block.output * share, block.reference * share))
    except CaptureError:
        return None
    return tuple(sorted(single, key=lambda each: each.prefix))


def _continuations(
    prefix: Prefix, laws: PrefixLaws, horizon: int
) -> Iterator[tuple[Prefix, Fraction]]:
    if len(prefix) == horizon:
        yield prefix, _ONE
        return
    for token, probability in enumerate(laws.law(Role.REFERENCE, prefix)):
        if probability:
            for rest, share in _continuations((*prefix, token), laws, horizon):
                yield rest, probability * share
