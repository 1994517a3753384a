"""The bonus row of a block, where it is known in part."""

from __future__ import annotations

from collections.abc import Iterable

from specdist.exact.interval import Interval
from specdist.model.capture import Vocab
from specdist.model.partial_report import BoundedBonus, BoundedBonusToken
from specdist.model.role import Role
from specdist.model.row import Row
from specdist.model.settings import CheckSettings
from specdist.verify.partial.bounds import distance
from specdist.verify.partial.laws import PartialLaws, vocabulary
from specdist.verify.partial.listing import listed_by, unlisted_mass
from specdist.verify.partial.position import half_width, judged, shown_tokens
from specdist.verify.partial.products import share_at
from specdist.verify.position_laws import FilledRoles


def bounded_bonus(
    laws: PartialLaws,
    found: FilledRoles,
    row: Row,
    own: Iterable[Row],
    settings: CheckSettings,
    vocab: Vocab | None,
) -> BoundedBonus:
    """The law of the bonus token against the reference at its row, in intervals. ``own`` are the
    rows that the capture gives to a role itself."""
    reference, drawn = laws[Role.REFERENCE], laws[Role.BONUS_FROM]
    identity = laws.same(Role.REFERENCE, Role.BONUS_FROM)
    variation = Interval.of(0) if identity else distance(reference, drawn)
    return BoundedBonus(
        verdict=judged(variation, settings),
        vocab_size=vocabulary(found),
        total_variation=variation,
        by_identity=identity,
        rest=unlisted_mass(reference, listed_by(row)),
        half_width=half_width([row, *own]),
        tokens=tuple(
            BoundedBonusToken(
                id=token,
                text=vocab.text(token) if vocab else None,
                reference=share_at(reference, token),
                output=share_at(drawn, token),
            )
            for token in shown_tokens(laws, settings.show)
        ),
        roles=found.uses,
    )
