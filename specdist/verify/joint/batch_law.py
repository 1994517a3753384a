"""The joint law of what all requests of a batch emit, and the law of each by itself.

With w(y_1, .., y_R) the mass of "the tokens y_r of request r are verified", and out_r(z | y) the
law of the first K tokens of request r once y is verified (completed with the target):

    out(z_1, .., z_R) = sum over y of w(y_1, .., y_R) prod_r out_r(z_r | y_r)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import add
from typing import TypeVar

from specdist.model.conditional import Prefix
from specdist.model.length import Blocks
from specdist.model.role import Role
from specdist.rules.joint.outcomes import Outcome, PrefixLaws
from specdist.verify.joint.batch_setup import Batch
from specdist.verify.joint.gathering import Gathered, gather, refuse_lost_mass
from specdist.verify.joint.given_drafts import outcomes_of
from specdist.verify.joint.joint_setup import JointSetup
from specdist.verify.joint.output import JointLaw, joint_law

_ZERO, _ONE = Fraction(0), Fraction(1)
Masses = dict[Prefix, Fraction]
Output = tuple[Prefix, ...]
"""The first K tokens of every request."""
Each = TypeVar("Each")
Whole = TypeVar("Whole")


@dataclass(frozen=True)
class BatchLaw:
    """Output and reference by output of all requests; ``accepted[i]`` is the probability that i
    draft tokens are accepted in all. ``alone`` holds each request by itself."""

    horizon: int
    output: Mapping[Output, Fraction]
    reference: Mapping[Output, Fraction]
    accepted: tuple[Fraction, ...]
    alone: tuple[RequestLaw, ...]

    @property
    def total_variation(self) -> Fraction:
        """``sum [output - reference]_+``"""
        gaps = (mass - self.reference.get(z, _ZERO) for z, mass in self.output.items())
        return sum((gap for gap in gaps if gap > 0), _ZERO)

    @property
    def forbidden_mass(self) -> Fraction:
        """Mass on outputs that the reference never emits."""
        return sum((m for z, m in self.output.items() if not self.reference.get(z)), _ZERO)


@dataclass(frozen=True)
class RequestLaw:
    """One request: its gathered outcomes, and their law against its own reference."""

    gathered: Gathered
    law: JointLaw


@dataclass(frozen=True)
class _Conditional:
    """A request given its verified tokens: its outcomes, the law of its first K tokens, and how
    many of its draft tokens are accepted."""

    outcomes: tuple[Outcome, ...]
    output: Masses
    accepted: Mapping[int, Fraction]


def batch_law(batch: Batch, horizon: int) -> BatchLaw:
    """The joint law of the first ``horizon`` tokens of every request (module docstring).

    Raises `SettingsError` where more is to be listed than the limit of the batch.
    """
    batch.refuse_large(horizon)
    known = [_conditionals(batch, r, horizon) for r in range(len(batch.setups))]
    references = [_completed((), setup.laws, horizon) for setup in batch.setups]
    outputs = [{y: given.output for y, given in ys.items()} for ys in known]
    lengths = [{y: given.accepted for y, given in ys.items()} for ys in known]
    accepted = _contracted(batch.verified, lengths, 0, add)
    most = sum(setup.tree.depth for setup in batch.setups)
    plain: Mapping[Blocks, Fraction] = {((),) * len(references): _ONE}
    output: dict[Output, Fraction] = _contracted(batch.verified, outputs, (), _beside)
    alone = tuple(_alone(batch, r, known[r], horizon) for r in range(len(batch.setups)))
    refuse_lost_mass(output.values(), sum((one.gathered.error for one in alone), _ZERO))
    return BatchLaw(
        horizon,
        output,
        _contracted(plain, [{(): law} for law in references], (), _beside),
        tuple(accepted.get(count, _ZERO) for count in range(most + 1)),
        alone,
    )


def _conditionals(batch: Batch, request: int, horizon: int) -> dict[Prefix, _Conditional]:
    setup = batch.setups[request]
    return {y: _conditional(setup, y, horizon) for y in {key[request] for key in batch.verified}}


def _conditional(setup: JointSetup, verified: Prefix, horizon: int) -> _Conditional:
    outcomes = tuple(outcomes_of(setup, verified))
    gathered = gather(outcomes, setup.laws.size, setup.limit)
    output: Masses = {}
    for emitted, mass in gathered.emitted.items():
        for z, share in _completed(emitted[:horizon], setup.laws, horizon).items():
            output[z] = output.get(z, _ZERO) + mass * share
    accepted: dict[int, Fraction] = {}
    for kept, mass in gathered.accepted.items():
        accepted[len(kept)] = accepted.get(len(kept), _ZERO) + mass
    return _Conditional(outcomes, output, accepted)


def _completed(prefix: Prefix, laws: PrefixLaws, horizon: int) -> Masses:
    """The reference's law of the rest, up to the horizon."""
    level: Masses = {prefix: _ONE}
    for _ in range(horizon - len(prefix)):
        level = {
            (*z, token): mass * share
            for z, mass in level.items()
            for token, share in enumerate(laws.law(Role.REFERENCE, z))
            if share
        }
    return level


def _contracted(
    weights: Mapping[Blocks, Fraction],
    laws: Sequence[Mapping[Prefix, Mapping[Each, Fraction]]],
    start: Whole,
    joined: Callable[[Whole, Each], Whole],
) -> dict[Whole, Fraction]:
    """Request after request, in place of y_r one of the things that follow it, added up."""
    table = {(start, blocks): mass for blocks, mass in weights.items()}
    for known in laws:
        following: dict[tuple[Whole, Blocks], Fraction] = {}
        for (done, blocks), mass in table.items():
            for each, share in known[blocks[0]].items():
                key = (joined(done, each), blocks[1:])
                following[key] = following.get(key, _ZERO) + mass * share
        table = following
    return {done: mass for (done, _), mass in table.items()}


def _beside(outputs: Output, output: Prefix) -> Output:
    return (*outputs, output)


def _alone(
    batch: Batch, request: int, known: Mapping[Prefix, _Conditional], horizon: int
) -> RequestLaw:
    setup = batch.setups[request]
    masses: Masses = {}
    for key, mass in batch.verified.items():
        masses[key[request]] = masses.get(key[request], _ZERO) + mass

    def outcomes() -> Iterator[Outcome]:
        for y, mass in masses.items():
            for outcome in known[y].outcomes:
                yield replace(outcome, mass=mass * outcome.mass)

    gathered = gather(outcomes(), setup.laws.size, setup.limit)
    return RequestLaw(gathered, joint_law(gathered, setup.laws, horizon))
