"""A batch ready to be enumerated: drafts of all requests, the lengths that a schedule gives them.

Draft tokens of different requests are independent; a schedule may look at all of them. Given the
drafts and the lengths each request is verified by itself, with coins of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import NamedTuple

from specdist.errors import SettingsError
from specdist.model.capture import Step
from specdist.model.conditional import Prefix
from specdist.model.length import NO_TABLES, Blocks, Lengths
from specdist.model.settings import CheckSettings
from specdist.rules.joint.draws import proposal_count, proposals
from specdist.rules.lengths.chosen_length import ChosenLength, chosen_length, lengths_law
from specdist.rules.lengths.length_rule import Request
from specdist.verify.joint.admission import Profile, draft_masses
from specdist.verify.joint.gathering import lists_all, too_many
from specdist.verify.joint.joint_setup import JointSetup
from specdist.verify.joint.step import joint_setup
from specdist.verify.plan import Plans

_ZERO, _ONE = Fraction(0), Fraction(1)


class Scheduled(NamedTuple):
    """What was drafted for every request, how much of it is verified, and how often."""

    blocks: Blocks
    lengths: Lengths
    mass: Fraction


@dataclass(frozen=True)
class Batch:
    """The requests of a step and the rule that gives them their lengths. ``limit`` is the most
    outcomes to list."""

    setups: tuple[JointSetup, ...]
    requests: tuple[Request, ...]
    schedule: ChosenLength
    limit: int

    @cached_property
    def scheduled(self) -> tuple[Scheduled, ...]:
        """Every drafting of positive probability with its lengths, of total mass 1."""
        return tuple(self._scheduled())

    def _scheduled(self) -> Iterator[Scheduled]:
        drafts = [
            [(drafted.tokens, mass) for drafted, mass in proposals(setup.tree, setup.laws)]
            for setup in self.setups
        ]
        for chosen in product(*drafts):
            blocks = tuple(tokens for tokens, _ in chosen)
            mass = prod((weight for _, weight in chosen), start=_ONE)
            for lengths, share in lengths_law(blocks, self.requests, self.schedule).items():
                yield Scheduled(blocks, lengths, mass * share)

    @cached_property
    def verified(self) -> Mapping[Blocks, Fraction]:
        """How often which tokens are verified, over all requests."""
        found: dict[Blocks, Fraction] = {}
        for blocks, lengths, mass in self.scheduled:
            cut = tuple(block[:end] for block, end in zip(blocks, lengths, strict=True))
            found[cut] = found.get(cut, _ZERO) + mass
        return found

    @property
    def as_specified(self) -> bool:
        """Whether roles and schedule alone prove the joint law, whatever was rounded."""
        return self.schedule.predictable and all(setup.as_specified for setup in self.setups)

    @property
    def drafts(self) -> int:
        """How many draftings there are at most."""
        return prod(proposal_count(setup.tree, setup.laws) for setup in self.setups)

    @property
    def depth(self) -> int:
        """Draft tokens of the longest request."""
        return max(setup.tree.depth for setup in self.setups)

    def outputs(self, horizon: int) -> int:
        """How many outputs of all requests together there are at most."""
        return prod(setup.laws.size**horizon for setup in self.setups)

    def profile(self, request: int) -> Profile:
        """``Pr(l >= k | x_1 .. x_k)`` of one request, by its own drafted prefix."""
        setup = self.setups[request]
        drafted = draft_masses(setup.tree, setup.laws)
        reached = dict.fromkeys(drafted, _ZERO)
        for blocks, lengths, mass in self.scheduled:
            for end in range(lengths[request] + 1):
                reached[blocks[request][:end]] += mass
        return {prefix: reached[prefix] / mass for prefix, mass in drafted.items() if prefix}

    def size(self, horizon: int | None = None) -> int:
        """The most draftings, or outputs of all requests, that are listed."""
        return max(self.drafts, self.outputs(horizon or self.depth + 1))

    def refuse_large(self, horizon: int) -> None:
        """Raises `SettingsError` where more is to be listed than the limit."""
        size = self.size(horizon)
        if size > self.limit:
            raise too_many(size, self.limit, self._what_fits(horizon, size))

    def _what_fits(self, horizon: int, size: int) -> str:
        if self.drafts <= self.limit:
            for shorter in range(horizon - 1, 0, -1):
                if self.outputs(shorter) <= self.limit:
                    return f"--horizon {shorter} lists {self.outputs(shorter):,} outputs"
        for depth in range(self.depth - 1, 0, -1):
            most = prod(setup.laws.size**depth for setup in self.setups)
            if most <= self.limit:
                return f"draft length {depth} lists {most:,} draftings"
        return lists_all(size, "fewer requests; ") or "fewer requests"


def batch_of(step: Step, settings: CheckSettings) -> Batch:
    """The batch with the settings that hold for it.

    Raises `SettingsError` and `CaptureError` for requests that are no chains, for a keep rule
    beside the schedule, and for a schedule that lacks what it reads.
    """
    schedule = chosen_length(settings.length, step.length)
    if schedule is None:
        raise SettingsError(
            "the batch has no schedule", place=step.source, expected="schedule, or --length RULE"
        )
    alone = replace(settings, length=None)
    plans = Plans(alone)
    setups = []
    for request in step.requests:
        bare = replace(request, length=None)
        try:
            setup = joint_setup(bare, plans.of(bare), alone)
        except SettingsError as error:
            error.at(request.source)
            raise
        if setup.proposal is not None:
            raise SettingsError(
                "a keep rule and the schedule of a batch are given together",
                place=request.source,
                expected="one of them: the schedule says which draft tokens are verified",
            )
        setups.append(setup)
    _refuse_trees(setups, step)
    requests = tuple(
        Request(setup.laws, request.length or NO_TABLES)
        for setup, request in zip(setups, step.requests, strict=True)
    )
    return Batch(tuple(setups), requests, schedule, settings.max_outcomes)


def _refuse_trees(setups: Sequence[JointSetup], step: Step) -> None:
    for setup, request in zip(setups, step.requests, strict=True):
        if not setup.tree.is_chain:
            raise SettingsError(
                f"a schedule cuts chains of draft tokens, and the proposal is {setup.tree.shape}",
                place=request.source,
                expected="a chain for every request: draft_length",
            )


def prefix_of(blocks: Blocks) -> Prefix:
    """The tokens of all requests, one after the other."""
    return tuple(token for block in blocks for token in block)
