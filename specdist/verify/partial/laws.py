"""The roles of a position whose rows leave something open, as partial laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from specdist.errors import ContextMismatchError
from specdist.exact.law import Law
from specdist.exact.overlap_bounds import as_partial
from specdist.exact.partial_law import PartialLaw
from specdist.exact.vectors import same_law
from specdist.model.role import Role
from specdist.processing import Processed
from specdist.processing.partial_row import PartialProcessed
from specdist.rules.outcomes import RoleLaws
from specdist.verify.position_laws import FilledRoles

Made = Processed | PartialProcessed


@dataclass(frozen=True, eq=False)
class PartialLaws:
    """The laws of one position by role; roles in ``one_hot`` are the point mass at the drafted
    token. Roles that stand for one distribution share one `PartialLaw` object, however little is
    known of it."""

    made: Mapping[Role, Made]
    one_hot: frozenset[Role]
    _converted: dict[int, PartialLaw] = field(default_factory=dict)

    def __getitem__(self, role: Role) -> PartialLaw:
        return self._by_role[role]

    def __contains__(self, role: Role) -> bool:
        return role in self.made

    def same(self, first: Role, second: Role) -> bool:
        """Whether two roles are one real-valued distribution, by construction."""
        return is_same(self.made[first], self.made[second])

    def point(self, role: Role) -> int | None:
        """The only token that a role makes possible; None where it is not known to be one."""
        law = self.made[role].law
        if isinstance(law, PartialLaw) or law.support != 1:
            return None
        return int(self[role].ids[0])

    def repaired(self, role: Role, to: Role) -> PartialLaws:
        """The same with the law of one role in the place of another's; a one-hot role stands for
        the point mass at the drafted token."""
        made, one_hot = dict(self.made), set(self.one_hot)
        made.pop(role, None)
        one_hot.discard(role)
        if to in self.one_hot:
            one_hot.add(role)
        else:
            made[role] = self.made[to]
        return replace(self, made=made, one_hot=frozenset(one_hot))

    @property
    def as_roles(self) -> RoleLaws:
        """What a rule needs to tell from the roles alone that it is lossless."""
        return RoleLaws({}, self.one_hot, self.same)

    @cached_property
    def _by_role(self) -> dict[Role, PartialLaw]:
        found: dict[Role, PartialLaw] = {}
        for role, made in self.made.items():
            like = next((other for other in found if self.same(role, other)), None)
            found[role] = self._partial(made) if like is None else found[like]
        return found

    def _partial(self, made: Made) -> PartialLaw:
        law = made.law
        if id(law) not in self._converted:
            self._converted[id(law)] = counted(law, _size(made))
        return self._converted[id(law)]


def partial_laws(found: FilledRoles, place: str) -> PartialLaws:
    """The laws of a position. Raises RowError where no distribution is like a row, and
    ContextMismatchError for rows over different vocabularies."""
    _refuse_other_sizes(found, place)
    return PartialLaws(found.processed, found.one_hot)


def is_same(first: Made, second: Made) -> bool:
    """Whether two processed rows are one real-valued distribution: one law, or one captured row
    through the same steps."""
    if (
        isinstance(first, PartialProcessed)
        and isinstance(second, PartialProcessed)
        and first.origin is not None
        and first.origin == second.origin
    ):
        return True
    if isinstance(first.law, PartialLaw) or isinstance(second.law, PartialLaw):
        return first.law is second.law
    return same_law(first.law, second.law)


def counted(law: Law | PartialLaw, size: int | None) -> PartialLaw:
    """A law as a partial one over a vocabulary of ``size``. Two laws that leave as many tokens open
    leave the same ones open only if all others of the vocabulary are counted; where some are not
    (a map that never reaches them), any number may be open, which holds as well."""
    if not isinstance(law, PartialLaw):
        return as_partial(law)
    whole = law.others in (0, None) or size is None or len(law.ids) + (law.others or 0) == size
    return law if whole else replace(law, others=None)


def vocabulary(found: FilledRoles) -> int | None:
    """The size of the vocabulary, None where only the smallest is known."""
    sizes = {_size(made) for made in found.processed.values()} - {None}
    return max((size for size in sizes if size is not None), default=None)


def _size(made: Made) -> int | None:
    if isinstance(made, PartialProcessed):
        return None if made.open_ended else made.size
    return made.law.size


def _refuse_other_sizes(found: FilledRoles, place: str) -> None:
    """Rows whose sizes are known must have one size, and an open-ended one must not be larger."""
    sizes = {role: size for role, made in found.processed.items() if (size := _size(made))}
    least = {
        role: made.size
        for role, made in found.processed.items()
        if isinstance(made, PartialProcessed)
    }
    for role, size in {**least, **sizes}.items():
        for other, most in sizes.items():
            if size > most or (role in sizes and size != most):
                raise ContextMismatchError(
                    f"{role.value} is a row of {size} tokens, {other.value} of {most}",
                    place=place,
                    expected="rows over one vocabulary",
                )
