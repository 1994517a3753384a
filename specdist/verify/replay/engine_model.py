"""How an engine may work, as data: what each role reads, how it tests, recovers and prunes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.model.numerics import EXACT, EmptyResidual, Numerics
from specdist.model.recipe import Recipe
from specdist.model.role import DRAFT_ROLES, TARGET_ROLES, Role
from specdist.model.row import NumberFormat
from specdist.model.trace import Conventions
from specdist.verify.plan import Plan


@dataclass(frozen=True, slots=True)
class Source:
    """What a role reads: at position i the row ``i + shift`` of a side (the first or the last where
    there is none), through ``recipe``."""

    side: str
    recipe: Recipe
    shift: int = 0


class Test(StrEnum):
    """How a drafted token is tested, with ``ratio = accept_target / accept_draft``.

    ``RATIO``: accepted iff its uniform is below the ratio. ``ALWAYS``: accepted.
    ``FIRST_UNCHECKED``: the first one is accepted, the others by ratio.
    """

    RATIO = "ratio"
    ALWAYS = "always"
    FIRST_UNCHECKED = "first-unchecked"


class Reuse(StrEnum):
    """Which random numbers of a step are used twice: uniforms of draws by inverse CDF, or for
    ``DRAFT_FINAL`` the noise of a race.

    ``ACCEPTS``: those of all accept tests. ``DRAFT_ACCEPT``: that of a test and that of the draw of
    its token. ``ACCEPT_FINAL``: that of the last test and that of the final token.
    ``DRAFT_FINAL``: that of the final token and that of the draft token which it replaces.
    """

    NONE = "fresh"
    ACCEPTS = "one-uniform"
    DRAFT_ACCEPT = "draft-and-accept"
    ACCEPT_FINAL = "accept-and-final"
    DRAFT_FINAL = "draft-and-final"


@dataclass(frozen=True, slots=True)
class Pruning:
    """A proposed token ends the draft and is dropped where ``measure`` is below ``threshold``; see
    `pruning.measured`. The position is then drawn from the "target", or from the "residual" as if
    the token had been rejected (``dropped``)."""

    measure: str
    threshold: Fraction
    dropped: str = "target"


@dataclass(frozen=True, slots=True)
class EngineModel:
    """One way of working. ``sources`` holds every role; ``one_hot`` are the draft roles that are
    the point mass at the drafted token. ``recovery`` is that of `rules.recovery`. ``arithmetic``:
    target and tested probability, and their quotient, are rounded to this format. ``numerics``: its
    grid is that of the accept uniforms. ``rank`` orders models, simpler ones first."""

    name: str
    ident: str
    statement: str
    sources: Mapping[Role, Source]
    one_hot: frozenset[Role] = frozenset()
    recovery: str = "residual"
    test: Test = Test.RATIO
    reuse: Reuse = Reuse.NONE
    pruning: Pruning | None = None
    arithmetic: NumberFormat | None = None
    numerics: Numerics = EXACT
    rank: int = 0
    parameters: tuple[tuple[str, str], ...] = field(default=())

    def with_sources(self, changed: Mapping[Role, Source]) -> EngineModel:
        """The same engine with some roles filled otherwise; they are not one-hot then."""
        sources = {**self.sources, **changed}
        return replace(self, sources=sources, one_hot=self.one_hot - changed.keys())

    @property
    def confidence(self) -> Source:
        """The draft law that a pruning rule looks at: the tested one, or the drafted one where the
        test is one-hot."""
        tested = Role.ACCEPT_DRAFT not in self.one_hot
        return self.sources[Role.ACCEPT_DRAFT if tested else Role.DRAFTED_FROM]

    def law_key(self, roles: tuple[Role, ...]) -> tuple[tuple[Source, bool], ...]:
        """What tells models apart as far as some roles go."""
        return tuple((self.sources[role], role in self.one_hot) for role in roles)


DECLARED = "declared"
MEASURES = ("own-probability", "top-probability", "draft-entropy", "position")
"""What a pruning rule may look at: the token, its row (twice), the place in the draft."""


def declared_model(plan: Plan, conventions: Conventions) -> EngineModel:
    """The engine as its settings declare it. Where draws are replayed by inverse CDF and nothing
    says what an empty residual gives, no token follows: no x has ``u * 0 < 0``. Raises
    SettingsError for a proposal that is not replayed."""
    recipes = plan.recipes.recipes
    sources = {role: Source("target", recipes[role]) for role in TARGET_ROLES}
    sources |= {role: Source("draft", recipes[role]) for role in DRAFT_ROLES}
    one_hot = frozenset(role for role in DRAFT_ROLES if recipes[role].one_hot)
    numerics = plan.numerics
    if not conventions.strict:
        numerics = replace(numerics, inclusive=True)
    if numerics.empty_residual.how == "ask" and conventions.inverse_cdf:
        numerics = replace(numerics, empty_residual=EmptyResidual("none"))
    return EngineModel(
        DECLARED,
        "",
        "the engine as declared",
        sources,
        one_hot,
        recovery=plan.use.word("recovery") if plan.use.name == "token" else "residual",
        numerics=numerics,
        pruning=_declared_pruning(plan),
    )


def _declared_pruning(plan: Plan) -> Pruning | None:
    """The pruning that ``--keep`` declares, in the measures of `Pruning`."""
    proposal = plan.proposal
    if proposal is None:
        return None
    keep = proposal.keep
    plain = not (proposal.effective or proposal.after_test) and proposal.dropped != "redraw"
    if keep is None or keep.name not in MEASURES or not plain or keep.word("strict") != "no":
        raise SettingsError(
            f"keep={'' if keep is None else keep.text[:40]} is not replayed",
            expected="keep own-probability, top-probability or draft-entropy, dropped tokens drawn "
            "from the target or the residual",
        )
    sign = -1 if keep.name == "draft-entropy" else 1
    return Pruning(keep.name, sign * keep.number(), proposal.dropped)
