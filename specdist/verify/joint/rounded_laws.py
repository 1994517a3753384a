"""The laws of a step with the rounding of their rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from specdist.exact.bounded import bounded_law
from specdist.model.conditional import Prefix
from specdist.model.role import Role
from specdist.rules.joint.outcomes import Law
from specdist.verify.joint.prefix_laws import ModelLaws


@dataclass(slots=True)
class RoundedLaws:
    """The same laws with the rounding of every entry (`Bounded`), for rules over proposals."""

    laws: ModelLaws
    _known: dict[int, tuple[Law, Law]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return self.laws.size

    @property
    def one_hot(self) -> frozenset[Role]:
        return self.laws.one_hot

    def law(self, role: Role, prefix: Prefix, rank: int = 0) -> Law:
        """``P(. | prefix)`` of a role, each entry with its error. Raises as `bounded_law`."""
        found = self.laws.exact(role, prefix, rank)
        if not found.bound:
            return found.values
        key = id(found.values)
        if key not in self._known:
            self._known[key] = (found.values, bounded_law(found))
        return self._known[key][1]
