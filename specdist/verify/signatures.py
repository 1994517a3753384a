"""Signs of well-known mistakes, each checked exactly, as notes that name the mistake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import exp

from specdist.exact.vector import ExactVector
from specdist.model.capture import Vocab
from specdist.model.report import RoleUse
from specdist.model.role import Role
from specdist.rules.recovery import residual
from specdist.rules.residuals import floored
from specdist.verify.position import Checked
from specdist.verify.variants import Repair
from specdist.verify.wording import named_share, written

_ONE = Fraction(1)
_SMALL = Fraction(1, 2**20)
_SOFTMAX_UP_TO = 65_536


def signature_notes(
    checked: Checked, repairs: Sequence[Repair], vocab: Vocab | None
) -> Iterator[str]:
    """Sentences about the mistakes that this position shows the signs of."""
    yield from _draft_passes(checked)
    yield from _swapped(checked)
    yield from _mixed_conventions(checked)
    yield from _deterministic_draft(checked)
    yield from _drafted_untested(checked, vocab)
    yield from _cut_row(checked)
    touched = {name for repair in repairs for name in repair}
    if touched & {"rule", "recovery", "residual_draft", "residual_target"}:
        yield from _recovery(checked)
    if "residual_floor" in touched:
        yield from _floor(checked)
    if "uniform" in touched:
        yield from _one_uniform(checked)
    if checked.setup.rule.kind == "observed" or not (
        repairs or checked.setup.rule.lossy(checked.setup.use)
    ):
        yield from _above_optimum(checked)


def _draft_passes(checked: Checked) -> Iterator[str]:
    setup, outcomes = checked.setup, checked.outcomes
    if setup.same(Role.ACCEPT_TARGET, Role.DRAFTED_FROM) or _tests_target(checked):
        return
    if not (checked.comparison.output - checked.laws[Role.DRAFTED_FROM]).is_zero():
        return
    if not outcomes.rejected:
        yield "the output law is the draft's own: the accept test never rejects"
    else:
        yield "the output law is the law drafted from, although tokens are rejected"


def _tests_target(checked: Checked) -> bool:
    """Whether the tested row is the target's own, so that nothing could be rejected."""
    setup = checked.setup
    if Role.ACCEPT_DRAFT in setup.one_hot:
        return False
    return setup.same(Role.ACCEPT_TARGET, Role.ACCEPT_DRAFT)


def _swapped(checked: Checked) -> Iterator[str]:
    setup, laws = checked.setup, checked.laws
    if setup.one_hot or setup.rule.name not in ("token", "given"):
        return
    if setup.same(Role.REFERENCE, Role.DRAFTED_FROM):
        return
    if laws.captured and "accept" in laws.captured:
        if _inverted(checked, laws.captured["accept"]):
            yield "the accept probabilities are min(1, draft/target): the ratio is upside down"
        return
    tests = setup.same(Role.ACCEPT_TARGET, Role.DRAFTED_FROM) and setup.same(
        Role.ACCEPT_DRAFT, Role.REFERENCE
    )
    recovers = setup.same(Role.RESIDUAL_TARGET, Role.DRAFTED_FROM) and setup.same(
        Role.RESIDUAL_DRAFT, Role.REFERENCE
    )
    if tests and recovers:
        yield "target and draft have changed places in test and residual"
    elif tests:
        yield "the ratio is upside down: the test accepts with min(1, draft/target)"


def is_upside_down(checked: Checked) -> bool:
    """Whether the acceptance ratio is draft/target."""
    return any(True for _ in _swapped(checked))


def _inverted(checked: Checked, chances: ExactVector) -> bool:
    """Whether ``a(x) P(x) = min(P(x), D(x))`` wherever a token is drafted."""
    target, drafted = checked.laws[Role.REFERENCE], checked.laws[Role.DRAFTED_FROM]
    claimed = chances.product(target) - target.minimum(drafted)
    return claimed.where(drafted).is_zero() and not (target - drafted).is_zero()


def _mixed_conventions(checked: Checked) -> Iterator[str]:
    one_hot = checked.setup.one_hot
    if one_hot == {Role.RESIDUAL_DRAFT}:
        yield (
            "the accept test uses the whole draft row, the residual only the drafted token: "
            "one-hot and dense conventions are mixed"
        )
    elif one_hot == {Role.ACCEPT_DRAFT}:
        yield (
            "the accept test takes the draft as one-hot, the residual subtracts its whole row: "
            "one-hot and dense conventions are mixed"
        )


def _deterministic_draft(checked: Checked) -> Iterator[str]:
    setup, laws = checked.setup, checked.laws
    if setup.one_hot or setup.laws[Role.DRAFTED_FROM].support != 1:
        return
    if setup.laws[Role.ACCEPT_DRAFT].support == 1 or setup.rule.name != "token":
        return
    target, tested = laws[Role.REFERENCE], laws[Role.ACCEPT_DRAFT]
    one_hot = laws[Role.DRAFTED_FROM].product(target).total()
    sampled = target.minimum(tested).total()
    yield (
        "the draft token is deterministic, and tested against a row with "
        f"{setup.laws[Role.ACCEPT_DRAFT].support:,} tokens; one-hot in test and residual is "
        f"lossless at acceptance {written(one_hot)}, sampled from that row it would be "
        f"{written(sampled)}"
    )


def _drafted_untested(checked: Checked, vocab: Vocab | None) -> Iterator[str]:
    setup, laws = checked.setup, checked.laws
    if Role.ACCEPT_DRAFT in setup.one_hot or not setup.rule.divides:
        return
    drafted = laws[Role.DRAFTED_FROM]
    share = drafted.positive_where_zero(laws[Role.ACCEPT_DRAFT])
    if share is not None:
        yield (
            f"{named_share(share, vocab, drafted.size)} can be drafted, with mass "
            f"{written(share.mass)}, and the test takes its draft probability as 0"
        )


def _cut_row(checked: Checked) -> Iterator[str]:
    """One of two rows that a capture gives is the other one, cut and divided by what was kept."""
    setup, laws = checked.setup, checked.laws
    recipes = {use.role: use.recipe for use in checked.result.roles}
    if setup.one_hot or "row" not in (recipes["drafted_from"], recipes["accept_draft"]):
        return
    drafted, tested = laws[Role.DRAFTED_FROM], laws[Role.ACCEPT_DRAFT]
    sides = (
        ("row drafted from is the tested row", tested, drafted, Role.DRAFTED_FROM),
        ("tested row is the row drafted from", drafted, tested, Role.ACCEPT_DRAFT),
    )
    for words, whole, cut, role in sides:
        kept = whole.where(cut)
        share = kept.total()
        count = setup.laws[role].support
        if count > 1 and share < _ONE and (kept - cut.scaled(share)).is_zero():
            yield f"the {words} cut to {count:,} tokens and divided by {written(share)}"


def _recovery(checked: Checked) -> Iterator[str]:
    laws, outcomes = checked.laws, checked.outcomes
    rejected = outcomes.rejected
    if not rejected or checked.comparison.unassigned:
        return
    target = laws[Role.REFERENCE]
    if (outcomes.recovered - target.scaled(rejected)).is_zero():
        yield "what is recovered has the target's own law, not that of the residual"
    elif checked.setup.rule.name == "given" and _is_softmax(checked):
        yield (
            "what is recovered has the law of a softmax over max(target - draft, 0), within "
            "2^-20: the residual is a weight, not a logit"
        )


def _is_softmax(checked: Checked) -> bool:
    laws, outcomes = checked.laws, checked.outcomes
    if checked.setup.one_hot or laws[Role.REFERENCE].size > _SOFTMAX_UP_TO:
        return False
    left = residual(laws)
    weights = [exp(float(left.value(token))) for token in range(left.size)]
    total = sum(weights)
    recovered = (outcomes.recovered.value(token) for token in range(left.size))
    return all(
        abs(value / outcomes.rejected - Fraction(weight / total)) <= _SMALL
        for value, weight in zip(recovered, weights, strict=True)
    )


def _floor(checked: Checked) -> Iterator[str]:
    """How much of the recovered mass is the floor's."""
    laws = checked.laws
    if checked.setup.one_hot or checked.setup.rule.name != "token":
        return
    positive = (laws[Role.RESIDUAL_TARGET] - laws[Role.RESIDUAL_DRAFT]).positive_part()
    whole = floored(positive, laws.numerics.residual_floor).total()
    leaked = whole - positive.total()
    if leaked > 0:
        yield (
            f"the floor adds {written(leaked)} to a residual of {written(positive.total())}: "
            f"{written(leaked / whole)} of the recoveries are its noise"
        )


def _one_uniform(checked: Checked) -> Iterator[str]:
    """A grid of one point is no randomness at all."""
    grid = checked.setup.numerics.grid
    if grid is not None and grid.first == grid.last:
        yield f"the uniform is always {written(Fraction(grid.first, grid.points))}"


def _above_optimum(checked: Checked) -> Iterator[str]:
    """More is accepted than any lossless rule could: an error by itself."""
    laws, accepted = checked.laws, checked.outcomes.accepted
    best = laws[Role.REFERENCE].minimum(laws[Role.DRAFTED_FROM])
    gap = accepted.total() - best.total()
    if gap > accepted.error + best.error:
        yield (
            f"{written(accepted.total())} is accepted, above sum min(target, draft) = "
            f"{written(best.total())}, the most that any lossless rule accepts"
        )


def rounding_only(uses: Sequence[RoleUse]) -> str | None:
    """The step that a draft role has beyond another where that is number rounding alone: a cast,
    or a draw on a grid of random numbers. None where the recipes differ in anything else."""
    recipes = {use.role: use.recipe for use in uses}
    drafted = _steps(recipes["drafted_from"])
    tested = _steps(recipes["accept_draft"])
    extra = [step for step in (*drafted, *tested) if (step in drafted) is not (step in tested)]
    names = {step.partition(":")[0] for step in extra}
    if extra and names <= {"cast", "inverse-cdf", "gumbel-race"}:
        return " and ".join(step.replace(":", " ", 1) for step in extra)
    return None


def _steps(recipe: str) -> list[str]:
    return [step for step in recipe.split(",") if step != "raw"]
