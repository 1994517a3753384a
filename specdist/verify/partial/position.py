"""One drafted position whose rows are known in part: intervals and a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.capture import Position, Vocab
from specdist.model.partial_report import BoundedPosition, BoundedToken
from specdist.model.role import Role
from specdist.model.row import ListedValues, Row
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.verify.partial.bounds import BoundedRule
from specdist.verify.partial.detection import rows_of
from specdist.verify.partial.laws import PartialLaws, vocabulary
from specdist.verify.partial.listing import Ids, counts_of, likeliest, listed_by, unlisted_mass
from specdist.verify.position_laws import FilledRoles
from specdist.verify.token_lines import ALL_TOKENS_UP_TO

_GIVEN = "vocab-map:given"
_OWN_IDS = ("vocab-map", "retokenise")
"""Steps before which the ids of a row are those of the draft."""


@dataclass(frozen=True, slots=True)
class BoundedCheck:
    """A finished position with what its findings are made from."""

    result: BoundedPosition
    rule: BoundedRule
    left_open: str
    open_cuts: tuple[str, ...]
    target_ids: Ids
    draft_ids: Ids


def check_bounded(
    position: Position,
    rule: BoundedRule,
    found: FilledRoles,
    settings: CheckSettings,
    vocab: Vocab | None,
) -> BoundedCheck:
    """The intervals of one position."""
    laws, bounds, size = rule.laws, rule.bounds(), vocabulary(found)
    target, draft = laws[Role.REFERENCE], laws[Role.DRAFTED_FROM]
    draft_map = settings.draft_map or position.draft_map
    ours = _listed(position.target, position, Role.REFERENCE, rule, found, None)
    theirs = _listed(position.draft, position, Role.DRAFTED_FROM, rule, found, draft_map)
    result = BoundedPosition(
        index=position.index,
        verdict=judged(bounds.variation, settings),
        vocab_size=size,
        acceptance_rate=bounds.acceptance,
        reference_acceptance_rate=bounds.reference_acceptance,
        total_variation=bounds.variation,
        by_identity=bounds.by_identity,
        target_rest=unlisted_mass(target, ours),
        draft_rest=unlisted_mass(draft, theirs),
        half_width=half_width(rows_of(position)),
        counts=counts_of(ours, theirs, size),
        tokens=_lines(rule, shown_tokens(laws, settings.show), vocab),
        roles=found.uses,
    )
    return BoundedCheck(result, rule, bounds.open, found.open_cuts, ours, theirs)


def _lines(rule: BoundedRule, shown: list[int], vocab: Vocab | None) -> tuple[BoundedToken, ...]:
    return tuple(
        BoundedToken(
            id=token.id,
            text=vocab.text(token.id) if vocab else None,
            reference=token.reference,
            drafted=token.drafted,
            accepted=token.accepted,
            output=token.output,
        )
        for token in rule.tokens(shown)
    )


def _listed(
    side: Row,
    position: Position,
    role: Role,
    rule: BoundedRule,
    found: FilledRoles,
    draft_map: tuple[int, ...] | None,
) -> Ids:
    """The tokens that the row of a role lists, by target id."""
    own = position.roles.get(role)
    recipe = next(use.recipe for use in found.uses if use.role == role.value)
    if isinstance(own, Row) and recipe == "row":
        return listed_by(own)
    if any(name in recipe for name in _OWN_IDS) and isinstance(side.values, ListedValues):
        if draft_map is None or _GIVEN not in recipe:
            return frozenset(map(int, rule.laws[role].ids))
        return listed_by(side, draft_map)
    return listed_by(side)


def judged(variation: Interval, settings: CheckSettings) -> Verdict:
    """Within the declared tolerance, different beyond it, or undecided. Rows known in part are
    never called equal: what is proven by identity is a total variation of 0, and undecided."""
    tolerance = settings.max_tv
    if tolerance is not None and variation.most <= tolerance:
        return Verdict.WITHIN_TOLERANCE
    if variation.least > (tolerance or 0):
        return Verdict.DIFFERENT
    return Verdict.UNDECIDED


def shown_tokens(laws: PartialLaws, show: int) -> list[int]:
    """The listed tokens of a table: all where they are few, else the likeliest of either side."""
    roles = [role for role in (Role.REFERENCE, Role.DRAFTED_FROM, Role.BONUS_FROM) if role in laws]
    listed = {token for role in roles for token in likeliest(laws[role], ALL_TOKENS_UP_TO + 1)}
    if len(listed) <= ALL_TOKENS_UP_TO:
        return sorted(listed)
    return sorted({token for role in roles for token in likeliest(laws[role], show)})


def half_width(rows: Iterable[Row]) -> Fraction:
    """The largest rounding of a stored value."""
    widths = [row.values.half_width for row in rows if isinstance(row.values, ListedValues)]
    return max(widths, default=Fraction(0))
