"""One drafted position, or one bonus row: laws, outcomes, comparison, result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from specdist.errors import RowError
from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector
from specdist.exact.vectors import same_law, vectors_of_laws
from specdist.model.capture import Vocab
from specdist.model.figure import Figure
from specdist.model.report import BonusResult, PositionResult
from specdist.model.role import Role
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.verify.comparison import Comparison, compare, compare_laws, probability
from specdist.verify.position_laws import PositionLaws
from specdist.verify.setup import Setup, is_linear
from specdist.verify.statements import forbidden_mass, lossy_figures, proposal_figures, used_target
from specdist.verify.token_lines import bonus_tokens, listed_tokens, token_lines

_RECHECKED_UP_TO = 4_096
_QUOTIENTS_UP_TO = 64


@dataclass(frozen=True, slots=True)
class Checked:
    """A finished position with what its findings are made from."""

    result: PositionResult
    setup: Setup
    laws: RoleLaws
    outcomes: Outcomes
    comparison: Comparison
    other_reading: Comparison | None = None
    """The same with target/0 read as 0, where a token is drafted whose tested mass is 0."""


class DesynchronisedError(Exception):
    """The fast representation and its readable twin disagree: a bug in specdist."""


def check_position(
    index: int,
    found: PositionLaws,
    setup: Setup,
    settings: CheckSettings,
    vocab: Vocab | None,
    place: str,
) -> Checked:
    """Enumerates one position and compares its output law with the reference."""
    setup, laws, other_reading, outcomes, comparison = _enumerated(found, setup, place)
    size = next(iter(found.laws.values())).size
    tokens = listed_tokens(comparison, laws[Role.REFERENCE], size, settings.show)
    accepted = outcomes.accepted
    variation_bound = min(comparison.bound, Fraction(1))
    different = comparison.verdict is not Verdict.EQUAL
    result = PositionResult(
        index=index,
        verdict=_agreed(_judged(comparison, settings), other_reading, settings),
        vocab_size=size,
        acceptance_rate=probability(accepted.total(), accepted.error),
        reference_acceptance_rate=_honest_acceptance(setup, laws, accepted),
        rejected_mass=probability(outcomes.rejected, accepted.error),
        recovered_mass=probability(outcomes.recovered.total(), outcomes.recovered.error),
        total_variation=probability(comparison.total_variation, variation_bound),
        tokens=token_lines(tokens, setup.drafted_laws(laws), outcomes, comparison, vocab),
        roles=found.uses,
        forbidden_mass=forbidden_mass(comparison, laws) if different else None,
        used_target=used_target(setup, laws, outcomes) if different else None,
        lossy=lossy_figures(setup, laws, outcomes, comparison),
        proposal=proposal_figures(setup, laws, outcomes),
    )
    return Checked(result, setup, laws, outcomes, comparison, other_reading)


class _Enumerated(NamedTuple):
    """The laws by role, and what they yield; where a token is drafted whose tested mass is 0 and
    nothing says what target/0 is, with target/0 read as infinite, and the comparison with it read
    as 0."""

    setup: Setup
    laws: RoleLaws
    other_reading: Comparison | None
    outcomes: Outcomes
    comparison: Comparison


def _enumerated(found: PositionLaws, setup: Setup, place: str) -> _Enumerated:
    """The position by float64 arrays where it was dumped; what their rounding leaves open is
    settled by fractions, where rows are exact and short."""
    made = _settled(found, setup, place)
    if made.comparison.verdict is Verdict.DIFFERENT and not made.setup.in_fractions:
        _recheck(setup, made.laws.numerics.zero_draft, made.comparison)
    return made


def _settled(found: PositionLaws, setup: Setup, place: str) -> _Enumerated:
    made = _readings(found, setup, place)
    verdicts = (of.verdict for of in (made.comparison, made.other_reading) if of is not None)
    if Verdict.UNDECIDED in verdicts and _settled_by_fractions(setup, made):
        return _readings(found, replace(setup, in_fractions=True), place)
    return made


def acceptance_of(found: PositionLaws, setup: Setup, place: str) -> Figure:
    """The acceptance rate of `check_position`, without its other figures and its recheck."""
    accepted = _settled(found, setup, place).outcomes.accepted
    return probability(accepted.total(), accepted.error)


def _settled_by_fractions(setup: Setup, made: _Enumerated) -> bool:
    if isinstance(made.laws[Role.REFERENCE], RationalVector):
        return False
    return all(law.support <= _QUOTIENTS_UP_TO and not law.bound for law in setup.laws.values())


def _readings(found: PositionLaws, setup: Setup, place: str) -> _Enumerated:
    laws = setup.role_laws()
    asks = setup.rule.divides and setup.numerics.zero_draft == "error"
    other = None
    if asks and drafts_outside_test(laws):
        if found.drafted_or_tested_by_row:
            _refuse_drafted_outside(laws, place)
        other = _compared(setup, setup.role_laws(zero_draft="reject"))[1]
        laws = setup.role_laws(zero_draft="accept")
    return _Enumerated(setup, laws, other, *_compared(setup, laws))


def _compared(setup: Setup, laws: RoleLaws) -> tuple[Outcomes, Comparison]:
    outcomes = setup.outcomes(laws)
    return outcomes, compare(outcomes, laws[Role.REFERENCE], setup.lossless_by_roles)


def check_bonus(found: PositionLaws, settings: CheckSettings, vocab: Vocab | None) -> BonusResult:
    """The law of the bonus token against the reference at its row."""
    vectors = vectors_of_laws(found.laws)
    reference, output = vectors[Role.REFERENCE], vectors[Role.BONUS_FROM]
    same = same_law(found.laws[Role.REFERENCE], found.laws[Role.BONUS_FROM])
    comparison = compare_laws(output, reference, same)
    size = found.laws[Role.REFERENCE].size
    tokens = listed_tokens(comparison, reference, size, settings.show)
    return BonusResult(
        verdict=_judged(comparison, settings),
        vocab_size=size,
        total_variation=probability(comparison.total_variation, comparison.bound),
        tokens=bonus_tokens(tokens, reference, comparison, vocab),
        roles=found.uses,
    )


def drafts_outside_test(laws: RoleLaws) -> bool:
    """Whether a token is drafted although its tested probability is 0, and that matters."""
    if Role.ACCEPT_DRAFT in laws.one_hot or laws.numerics.ratio_epsilon:
        return False
    return bool(laws[Role.DRAFTED_FROM].drafted_outside(laws[Role.ACCEPT_DRAFT]))


def _refuse_drafted_outside(laws: RoleLaws, place: str) -> None:
    """Rows of a capture that contradict each other: what was drafted cannot have been drafted."""
    drafted, tested = laws[Role.DRAFTED_FROM], laws[Role.ACCEPT_DRAFT]
    token = drafted.drafted_outside(tested)[0]
    raise RowError(
        f"token {token} is drafted with mass {float(drafted.value(token)):.6g} but its draft "
        "probability in the test is 0",
        place=place,
        expected="accept_draft above 0 wherever drafted_from is",
        advice="engines differ in target/0: --zero-draft accept reads it as infinite, "
        "--zero-draft reject never accepts such a token",
    )


def _judged(comparison: Comparison, settings: CheckSettings) -> Verdict:
    """The verdict under the tolerance that the run declared."""
    verdict = comparison.verdict
    if verdict is Verdict.EQUAL:
        return verdict
    largest = comparison.total_variation + comparison.bound
    if settings.max_tv is not None and not comparison.unassigned and largest <= settings.max_tv:
        return Verdict.WITHIN_TOLERANCE
    return verdict


def _agreed(verdict: Verdict, other: Comparison | None, settings: CheckSettings) -> Verdict:
    """The verdict that both readings of target/0 share, or undecided."""
    if other is None:
        return verdict
    return verdict if _judged(other, settings) is verdict else Verdict.UNDECIDED


def _honest_acceptance(setup: Setup, laws: RoleLaws, accepted: ExactVector) -> Figure:
    """Acceptance with every role repaired: of the rule itself where it is lossless, else of token
    verification, the reference throughout and tested as drafted."""
    if setup.lossless_by_roles:
        return probability(accepted.total(), accepted.error)
    if setup.rule.kind == "lossless" and setup.use.text != "token":
        repaired = setup.repaired()
        honest = repaired.outcomes(repaired.role_laws()).accepted
        return probability(honest.total(), honest.error)
    reference, drafted = laws[Role.REFERENCE], laws[Role.DRAFTED_FROM]
    if Role.ACCEPT_DRAFT in laws.one_hot:
        honest = drafted.product(reference)
    else:
        honest = drafted.minimum(reference)
    return probability(honest.total(), honest.error)


def _recheck(setup: Setup, zero_draft: str, comparison: Comparison) -> None:
    """Before an accusation: the same position as fractions must show the same total variation."""
    small = max(law.support for law in setup.laws.values())
    if small > _RECHECKED_UP_TO or isinstance(comparison.output, RationalVector):
        return
    if small > _QUOTIENTS_UP_TO and not is_linear(setup):
        return
    laws = setup.role_laws(fractions=True, zero_draft=zero_draft)
    twin = compare(setup.outcomes(laws), laws[Role.REFERENCE], proven_by_roles=False)
    if abs(twin.total_variation - comparison.total_variation) > comparison.bound:
        raise DesynchronisedError(
            f"float64 vectors give total variation {float(comparison.total_variation)!r}, "
            f"fractions give {float(twin.total_variation)!r}"
        )
