"""The law of every role at every prefix: rows of conditional models after their recipes."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.errors import CaptureError, RowError
from specdist.exact.bounded import OpenComparisonError, bounded_law
from specdist.exact.law import RationalLaw
from specdist.exact.vectors import rational
from specdist.model.capture import Step
from specdist.model.conditional import ConditionalRows, Models, Prefix
from specdist.model.draft_tree import DraftTree
from specdist.model.recipe import Recipe
from specdist.model.report import RoleUse
from specdist.model.role import DRAFT_ROLES, ONE_HOT_ROLES, TARGET_ROLES, Role
from specdist.model.row import Row
from specdist.model.settings import CheckSettings
from specdist.processing import Processed, RowContext, TokenHistory
from specdist.rules.joint.draws import top_of
from specdist.rules.joint.outcomes import Law
from specdist.verify.plan import Plan
from specdist.verify.position_laws import Noted, RowShelf


@dataclass(slots=True)
class Met:
    """What the rows that a step asked for had to say: shared by all of its setups, as the laws are.

    ``rows`` by identity, remarks, the largest bound, and decisions within rounding (``open``)."""

    rows: set[int] = field(default_factory=set)
    noted: dict[Noted, None] = field(default_factory=dict)
    open: dict[str, None] = field(default_factory=dict)
    bound: Fraction = Fraction(0)


class ModelLaws:
    """`PrefixLaws` over the rows of a step, each processed once.

    ``sources`` says whose place a role takes: the law of role r is that of ``sources[r]``, so that
    a repair is a change of sources. Where a chain drafts the most probable token, or given ones,
    `drafted_from` is the point mass at them. Asking for a prefix without a row raises CaptureError
    that names it; rows that hold no distribution raise RowError.
    """

    def __init__(
        self, step: Step, models: Models, tree: DraftTree, plan: Plan, settings: CheckSettings
    ) -> None:
        self._step, self._models, self._settings = step, models, settings
        self._tree = tree
        self._recipes = plan.recipes.recipes
        self._unnormalised = plan.numerics.unnormalised
        fixed = settings.overrides.roles
        self._tables = {role: rows for role, rows in models.roles.items() if role not in fixed}
        self._shelves: dict[Prefix | None, RowShelf] = {}
        self._laws: dict[tuple[Role, int, Prefix], RationalLaw] = {}
        self._points: dict[int, RationalLaw] = {}
        self._rational: dict[int, tuple[Processed, RationalLaw]] = {}
        self.sources: Mapping[Role, Role] = {}
        self.points: frozenset[Role] = frozenset()
        self.met = Met()

    @property
    def size(self) -> int:
        return self._models.size

    @property
    def one_hot(self) -> frozenset[Role]:
        return frozenset(role for role in ONE_HOT_ROLES if self._is_one_hot(role))

    def _is_one_hot(self, role: Role) -> bool:
        source = self.sources.get(role, role)
        if source in self.points:
            return True
        return source not in self._tables and self._recipes[source].one_hot

    def with_sources(
        self, sources: Mapping[Role, Role], points: frozenset[Role] = frozenset()
    ) -> ModelLaws:
        """The same rows with some roles taking the laws of others, and those in ``points`` the
        point mass at the drafted token."""
        other = copy(self)
        other.sources, other.points = sources, points | self.points
        return other

    def law(self, role: Role, prefix: Prefix, rank: int = 0) -> Law:
        """``P(. | prefix)`` of a role: a probability for every token id, summing to one."""
        return self.exact(role, prefix, rank).values

    def exact(self, role: Role, prefix: Prefix, rank: int = 0) -> RationalLaw:
        """`law` with its rounding bound and its origin."""
        source = self.sources.get(role, role)
        rank = rank if source in DRAFT_ROLES else 0
        key = (source, rank, prefix)
        if key not in self._laws:
            made = self._made(source, prefix, rank)
            drafts_one = source is Role.DRAFTED_FROM and self._drafts_one
            self._laws[key] = self._point_mass(made, prefix) if drafts_one else made
        return self._laws[key]

    @property
    def _drafts_one(self) -> bool:
        """Whether the prefix alone decides the token that a chain drafts."""
        return self._tree.is_chain and self._tree.siblings in ("top", "given")

    def _point_mass(self, law: RationalLaw, prefix: Prefix) -> RationalLaw:
        given = self._tree.tokens
        token = self._top(law) if given is None else given[len(prefix)]
        if token not in self._points:
            values = tuple(Fraction(other == token) for other in range(self.size))
            self._points[token] = RationalLaw(values, origin=("drafted", token))
        return self._points[token]

    def _top(self, law: RationalLaw) -> int:
        try:
            return top_of(bounded_law(law))
        except OpenComparisonError:
            self.met.open["draft: two tokens may be the most probable one within rounding"] = None
            return top_of(law.values)

    def same(self, first: Role, second: Role) -> bool:
        """Whether two roles are filled alike by construction: one table, one recipe."""
        return self._alike(self.sources.get(first, first), self.sources.get(second, second))

    def filled_as(self, other: ModelLaws) -> bool:
        """Whether every role is filled as with other sources, by construction."""
        return self.points == other.points and all(
            self._alike(self.sources.get(role, role), other.sources.get(role, role))
            for role in Role
        )

    def _alike(self, mine: Role, other: Role) -> bool:
        if mine is other:
            return True
        if mine in self._tables or other in self._tables:
            return False
        if self._drafts_one and Role.DRAFTED_FROM in (mine, other):
            return False
        one_side = (mine in TARGET_ROLES) == (other in TARGET_ROLES)
        return one_side and self._recipes[mine] == self._recipes[other]

    def uses(self) -> tuple[RoleUse, ...]:
        """How each role is filled at the start of the step."""
        return tuple(self._use(role) for role in (*TARGET_ROLES, *DRAFT_ROLES))

    def _use(self, role: Role) -> RoleUse:
        side = "target" if role in TARGET_ROLES else "draft"
        if self._is_one_hot(role):
            return RoleUse(role.value, side, "one-hot", 1)
        written = "row" if role in self._tables else str(self._recipes[role])
        if role is Role.DRAFTED_FROM and self._tree.siblings in ("top", "given"):
            return RoleUse(role.value, side, "one-hot", 1)
        return RoleUse(role.value, side, written, self.exact(role, ()).support)

    def _made(self, role: Role, prefix: Prefix, rank: int) -> RationalLaw:
        table = self._table(role, rank)
        row = table.row(prefix)
        self.met.rows.add(id(row))
        recipe = Recipe() if role in self._tables else self._recipes[role]
        processed = self._shelf(prefix).processed(row, recipe)
        if processed.law.size != self.size:
            raise _other_size(role, processed.law.size, self.size, row)
        side = "target" if role in TARGET_ROLES else "draft"
        for remark in processed.remarks:
            if remark.ident == "undecided-precision":
                self.met.open[f"{side}: {remark.message}"] = None
            else:
                self.met.noted[Noted(side, remark)] = None
        self.met.bound = max(self.met.bound, processed.law.bound)
        known = self._rational.get(id(processed))
        if known is None:
            known = self._rational[id(processed)] = (processed, rational(processed.law))
        return known[1]

    def _table(self, role: Role, rank: int) -> ConditionalRows:
        if role in self._tables:
            return self._tables[role]
        return self._models.target if role in TARGET_ROLES else self._models.draft(rank)

    def _shelf(self, prefix: Prefix) -> RowShelf:
        """Rows processed with the tokens of the prefix as part of their history."""
        step, settings = self._step, self._settings
        before = settings.history if settings.history is not None else step.context
        prompt = settings.prompt_length if settings.history is not None else step.prompt_length
        key = None if before is None else prefix
        if key not in self._shelves:
            history = None if before is None else TokenHistory(before, prompt, prefix)
            self._shelves[key] = RowShelf(
                RowContext(
                    history=history,
                    normalise=settings.normalise,
                    target_size=self.size,
                    draft_map=settings.draft_map,
                    texts=None if step.vocab is None else step.vocab.texts,
                    draft_texts=None if step.draft_vocab is None else step.draft_vocab.texts,
                    unnormalised=self._unnormalised,
                )
            )
        return self._shelves[key]

    def unused_rows(self) -> int:
        """Rows that no reachable prefix asked for."""
        tables = [self._models.target, *self._models.drafts, *self._tables.values()]
        rows = {id(row) for table in tables for row in table.every_row}
        return len(rows - self.met.rows)


def _other_size(role: Role, size: int, expected: int, row: Row) -> RowError:
    return RowError(
        f"{role.value} is a row of {size}, the target of {expected} tokens",
        place=row.place,
        expected="rows over one vocabulary",
        advice="a draft vocabulary of its own needs its map to target ids: --draft-map FILE",
    )


def require_models(step: Step) -> Models:
    """The models of a step that is known to have them."""
    if step.models is None:
        raise CaptureError("the step has no conditional models", place=step.source)
    return step.models
