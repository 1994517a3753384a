"""Which drafted tokens a length rule lets through to the test, and whether that looks ahead.

The admission profile is ``Pr(l >= k | x_1 .. x_k)`` by drafted prefix, l the number of verified
tokens. For position-wise rules the joint weight of "x_k is drafted and verified" is ``Q(x_1 .. x_k)
Pr(l >= k | x_1 .. x_k)``, so that x_k reaches its test, given that x_1 .. x_(k-1) did, with

    k(x_k) = Pr(l >= k | x_1 .. x_k) / Pr(l >= k - 1 | x_1 .. x_(k-1)).

Where the target gives every token a probability, the output is the target's iff no entry depends on
its last token. Where it does not, a profile that does is a suspicion, and the enumeration decides.
An anticipating rule may have k(x_k) above 1; ``sum Q(x_k) k(x_k)`` is at most 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.model.capture import Vocab
from specdist.model.conditional import Prefix
from specdist.model.draft_tree import ROOT, DraftTree
from specdist.model.figure import Figure
from specdist.model.joint_report import Admission, AdmissionLine
from specdist.rules.joint.draws import child_draws, proposal_count, proposals
from specdist.rules.joint.outcomes import Drafted, PrefixLaws
from specdist.rules.lengths.chosen_length import ChosenLength, chances_after, length_law
from specdist.rules.lengths.length_rule import Request
from specdist.verify.joint.gathering import too_many

_ZERO, _ONE = Fraction(0), Fraction(1)
Profile = Mapping[Prefix, Fraction]
LISTED = 64
"""Lines of a profile in a report."""


def draft_masses(tree: DraftTree, laws: PrefixLaws) -> dict[Prefix, Fraction]:
    """``Q(x_1 .. x_k)`` of every prefix of a drafted chain that is possible, ``()`` included, the
    shorter first. Raises `SettingsError` for a proposal that is no chain."""
    if not tree.is_chain:
        raise SettingsError(
            f"a length rule cuts a chain of draft tokens, and the proposal is {tree.shape}",
            expected="a chain: --draft-length N",
        )
    found: dict[Prefix, Fraction] = {(): _ONE}
    level: list[Prefix] = [()]
    for node in range(ROOT, tree.nodes - 1):
        following: list[Prefix] = []
        for prefix in level:
            for (token,), mass in child_draws(tree, node, prefix, laws):
                following.append((*prefix, token))
                found[following[-1]] = found[prefix] * mass
        level = following
    return found


def admission_profile(
    tree: DraftTree, laws: PrefixLaws, scored: PrefixLaws, chosen: ChosenLength, limit: int
) -> dict[Prefix, Fraction]:
    """``Pr(l >= k | x_1 .. x_k)`` of every prefix that can be drafted, the shorter first. The rule
    looks at ``scored``: the laws, or the same with their rounding, which makes a decision within it
    raise `OpenComparisonError`.

    Raises `SettingsError` for a proposal that is no chain or that has more than ``limit`` blocks
    or prefixes, `CaptureError` for tables that lack one.
    """
    _refuse_large(tree, laws, limit)
    drafted = draft_masses(tree, laws)
    if chosen.rule.chances is not None:
        return _profile_by_tokens(drafted, scored, chosen)
    verified = dict.fromkeys(drafted, _ZERO)
    for block, mass in proposals(tree, laws):
        for length, share in length_law(block, scored, chosen).items():
            for end in range(length + 1):
                verified[block.tokens[:end]] += mass * share
    return {prefix: verified[prefix] / mass for prefix, mass in drafted.items() if prefix}


def _profile_by_tokens(
    drafted: Mapping[Prefix, Fraction], laws: PrefixLaws, chosen: ChosenLength
) -> dict[Prefix, Fraction]:
    request = Request(laws, chosen.tables)
    profile: dict[Prefix, Fraction] = {(): _ONE}
    for prefix, siblings in _families(drafted):
        before = profile[prefix]
        chances = (_ZERO,) * len(siblings)
        if before:
            chances = chances_after(prefix, siblings, request, chosen)
        for token, chance in zip(siblings, chances, strict=True):
            profile[(*prefix, token)] = before * chance
    del profile[()]
    return profile


def _families(prefixes: Mapping[Prefix, Fraction]) -> Iterator[tuple[Prefix, tuple[int, ...]]]:
    """Every prefix with the last tokens that may follow it."""
    found: dict[Prefix, list[int]] = {}
    for prefix in prefixes:
        if prefix:
            found.setdefault(prefix[:-1], []).append(prefix[-1])
    for prefix, tokens in found.items():
        yield prefix, tuple(tokens)


def _refuse_large(tree: DraftTree, laws: PrefixLaws, limit: int) -> None:
    if tree.is_chain and (count := proposal_count(tree, laws)) > limit:
        raise too_many(count, limit)


def keep_row(profile: Profile, prefix: Prefix, size: int) -> tuple[Fraction, ...]:
    """``k(x)`` for every token x after ``prefix``: with which probability it reaches its test if
    the tokens before it did. 0 for tokens that are never drafted, and where nothing reaches."""
    before = profile.get(prefix, _ONE if not prefix else _ZERO)
    if not before:
        return (_ZERO,) * size
    return tuple(profile.get((*prefix, token), _ZERO) / before for token in range(size))


def verified_proposals(
    tree: DraftTree, laws: PrefixLaws, profile: Profile
) -> Iterator[tuple[Drafted, Fraction]]:
    """What is verified in place of whole proposals, and how often: a drafted chain cut behind its
    first l tokens. ``Pr(z, l = k) = Q(z) Pr(l >= k | z) - sum_x Q(zx) Pr(l >= k + 1 | zx)``."""
    masses = {z: q * profile.get(z, _ONE) for z, q in draft_masses(tree, laws).items()}
    ends = dict(masses)
    for prefix, mass in masses.items():
        if prefix:
            ends[prefix[:-1]] -= mass
    for prefix, mass in ends.items():
        if mass:
            yield Drafted(tree.cut(len(prefix)), prefix), mass


def anticipations(profile: Profile) -> Iterator[tuple[Prefix, Prefix]]:
    """Drafted prefixes whose admission depends on their last token, the least admitted of each
    family, with a sibling that is admitted most. None where the profile does not look ahead."""
    for prefix, tokens in _families(profile):
        family = [(*prefix, token) for token in tokens]
        least, most = min(family, key=profile.__getitem__), max(family, key=profile.__getitem__)
        if profile[least] != profile[most]:
            yield least, most


def admission(
    profile: Profile, vocab: Vocab | None = None, request: int | None = None
) -> Admission:
    """The profile as it is reported, with the first prefix whose admission looks at its own last
    token as the witness, and a sibling of it. Long profiles are cut; the witness is never."""
    first = next(anticipations(profile), None)
    shown = list(profile)[:LISTED]
    if first is not None:
        shown += [z for z in first if z not in shown]

    def line(prefix: Prefix) -> AdmissionLine:
        texts = tuple(None if vocab is None else vocab.text(token) for token in prefix)
        return AdmissionLine(prefix, texts, Figure.of(profile[prefix]), request)

    return Admission(
        lines=tuple(map(line, shown)),
        constant=first is None,
        witness=None if first is None else line(first[0]),
        against=None if first is None else line(first[1]),
    )
