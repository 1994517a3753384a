"""Which known fault explains every recorded step, where the declared engine does not.

The declared engine is contradicted by a fact that it rules out, by evidence that refutes it (random
numbers that come again or lie on a coarse grid), or by proposed tokens that are never submitted
although no pruning was declared. Then every known fault is held against every fact; what rules out
one of them is dropped at once. A fault that explains everything is a cause. It must predict what
contradicted the declared engine: that all uniforms of a step are one number, that every uniform is
on the coarse grid, which tokens were dropped. A coarse grid is a fact that any fault may come with;
where it is all that speaks against the declared engine, only the arithmetic of the test is varied.

Facts without random numbers have likelihoods. Of the faults that no fact rules out those are left
whose likelihood lies within the level of the best one; where such facts refute the declared engine,
the quotient of likelihoods, an e-value by itself, must reach the number of faults over the level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from specdist.errors import SpecdistError
from specdist.exact.accept_test import UniformGrid
from specdist.exact.e_values import decimal_logarithm
from specdist.model.settings import CheckSettings
from specdist.model.trace import Trace
from specdist.model.trace_evidence import EmittedLaw, Evidence, Explanation, Hypothesis, TraceFact
from specdist.verify.replay.emitted import EmittedLaws
from specdist.verify.replay.engine_model import DECLARED, EngineModel
from specdist.verify.replay.evidence import LEVEL, evidence_of
from specdist.verify.replay.faults.arithmetic_faults import arithmetic_faults
from specdist.verify.replay.faults.families import known_faults
from specdist.verify.replay.modelled_step import StepFacts
from specdist.verify.replay.reading import RecordedTrace

_WITH_LAWS = 8
"""Causes whose emitted laws are worked out."""
_BY_CHANCE = ("drafts", "decisions", "finals")
"""Statements about facts without random numbers."""
_POSITIONS = 1_000
"""Reached positions whose laws are worked out, for each of them."""


def explain(
    trace: Trace, settings: CheckSettings, found: Sequence[Evidence] | None = None
) -> Explanation:
    """The declared engine and every known fault, held against every recorded fact of ``trace``.

    Reads the steps afresh, several times. Processing is ``trace.options`` under
    ``settings.overrides``, as `Plans` resolves them; ``found`` is the evidence, where it is known
    already. Steps whose rows are missing, or known in part, give no facts but their random
    numbers. Raises SpecdistError for rows and settings that do not fit.
    """
    recorded = RecordedTrace(trace, settings)
    known = evidence_of(recorded) if found is None else found
    return _Search(recorded, known).explanation()


@dataclass(slots=True)
class _Tally:
    """A model and how it fares. ``shared`` counts the steps in which it predicts that uniforms are
    one number; ``gain`` is log10 of its likelihood over that of the declared one."""

    model: EngineModel
    predicted: int = 0
    left_open: int = 0
    missed: TraceFact | None = None
    failed: str = ""
    shared: int = 0
    gain: float = 0.0

    @property
    def alive(self) -> bool:
        return self.missed is None and not self.failed

    def hypothesis(self, laws: tuple[EmittedLaw, ...] | None = None) -> Hypothesis:
        model = self.model
        lossless = None
        if laws:
            sure = all(_is_reference(law) for law in laws)
            lossless = True if sure else False if any(map(_differs, laws)) else None
        return Hypothesis(
            name=model.name,
            ident=model.ident,
            statement=model.statement,
            parameters=model.parameters,
            predicted=self.predicted,
            open=self.left_open,
            missed=self.missed,
            lossless=lossless,
            laws=laws or (),
        )


class _Search:
    """All models against all facts of one trace."""

    def __init__(self, recorded: RecordedTrace, found: Sequence[Evidence]) -> None:
        self._recorded = recorded
        survey = recorded.survey
        refuted = {one.subject for one in found if one.refuted and one.proof is None}
        self._grid = "grid" in refuted
        self._shared = bool(refuted & {"uniforms", "noise"})
        by_chance = [one for one in found if one.subject in _BY_CHANCE and one.observations]
        self._by_chance = bool(by_chance)
        self._unlikely = any(one.passes for one in by_chance)
        self._level = max((one.level for one in found), default=LEVEL)
        self._dropped = survey.dropped > 0 and recorded.declared.pruning is None
        self._proven = bool(refuted) or any(one.proof is not None for one in found)
        base = recorded.declared
        if self._grid and survey.grid:
            coarse = replace(base.numerics, grid=UniformGrid(survey.grid))
            points = ("grid of the accept uniforms", f"{survey.grid} points")
            base = replace(base, numerics=coarse, parameters=(*base.parameters, points))
        self._base = base

    def explanation(self) -> Explanation:
        """See `explain`."""
        if not self._recorded.survey.steps:
            note = "no step has the rows that a fault could be held against"
            return Explanation(_Tally(self._recorded.declared).hypothesis(), False, note=note)
        declared = _Tally(self._recorded.declared)
        self._hold([declared], to_the_end=True)
        contradicted = declared.missed is not None or self._proven or self._dropped
        if not contradicted:
            return Explanation(declared.hypothesis(), contradicted=False)
        tallies = [_Tally(model) for model in self._models(declared)]
        self._hold(tallies)
        causes = [tally for tally in tallies if tally.alive and self._explains(tally)]
        if self._by_chance:
            causes = self._likely(causes, len(tallies))
        return Explanation(
            declared=declared.hypothesis(),
            contradicted=True,
            causes=self._with_laws(causes),
            tried=len(tallies),
            proven=declared.missed is not None or self._proven,
        )

    def _models(self, declared: _Tally) -> list[EngineModel]:
        base, survey = self._base, self._recorded.survey
        if not (self._grid and declared.missed is None and not self._shared and not self._dropped):
            return sorted(known_faults(base, survey), key=lambda model: model.rank)
        coarse = replace(
            base,
            name="accept uniforms on a coarse grid",
            ident="off-grid-uniform",
            statement=f"accept uniforms are multiples of 1/{survey.grid}",
            parameters=(),
        )
        narrow = (
            replace(
                model,
                name=f"{model.name}, coarse grid",
                statement=f"{model.statement}, with uniforms that are multiples of 1/{survey.grid}",
            )
            for model in arithmetic_faults(coarse)
        )
        return [coarse, *narrow]

    def _explains(self, tally: _Tally) -> bool:
        """Whether a model predicts what is no single fact against the declared engine."""
        if self._shared and not tally.shared:
            return False
        return not self._dropped or tally.model.pruning is not None

    def _likely(self, tallies: list[_Tally], tried: int) -> list[_Tally]:
        """Those that the facts without random numbers do not speak against, likeliest first."""
        conventions, declared = self._recorded.trace.conventions, self._recorded.declared
        for _, rows in self._recorded.steps():
            if rows is not None:
                facts = StepFacts(rows, conventions)
                known = list(facts.chances(declared))
                for tally in tallies:
                    tally.gain += _gain(facts.chances(tally.model), known)
        least = decimal_logarithm(tried / self._level) if self._unlikely else float("-inf")
        likely = sorted((t for t in tallies if t.gain >= least), key=lambda t: -t.gain)
        best = likely[0].gain if likely else 0.0
        return [t for t in likely if t.gain >= best + decimal_logarithm(self._level)]

    def _hold(self, tallies: Sequence[_Tally], to_the_end: bool = False) -> None:
        """Every fact of every step against the models that no fact has ruled out yet; with
        ``to_the_end`` against all."""
        conventions = self._recorded.trace.conventions
        for _, rows in self._recorded.steps():
            if rows is None:
                continue
            facts = StepFacts(rows, conventions)
            for tally in tallies:
                if tally.alive or to_the_end:
                    _hold_step(tally, facts, to_the_end)

    def _with_laws(self, causes: Sequence[_Tally]) -> tuple[Hypothesis, ...]:
        conventions = self._recorded.trace.conventions
        laws: dict[str, list[EmittedLaw]] = {t.model.name: [] for t in causes[:_WITH_LAWS]}
        for _, rows in self._recorded.steps() if causes else ():
            if rows is not None:
                emitted = EmittedLaws(rows, conventions)
                for tally in causes[:_WITH_LAWS]:
                    listed = laws[tally.model.name]
                    if len(listed) < _POSITIONS:
                        listed += _laws(emitted, tally.model)
        return tuple(tally.hypothesis(tuple(laws.get(tally.model.name, ()))) for tally in causes)


def _hold_step(tally: _Tally, facts: StepFacts, to_the_end: bool) -> None:
    try:
        for fact in facts.facts(tally.model):
            if fact.holds is None:
                tally.left_open += 1
            elif fact.holds:
                tally.predicted += 1
                tally.shared += fact.kind == "uniforms"
            else:
                tally.missed = tally.missed or fact
                if not to_the_end:
                    return
    except SpecdistError as error:
        if tally.model.name == DECLARED:
            raise
        tally.failed = error.message


def _gain(chances: Iterable[Fraction | None], known: Iterable[Fraction | None]) -> float:
    """log10 of a quotient of likelihoods, over the facts that both models give a chance."""
    pairs = [(mine, theirs) for mine, theirs in zip(chances, known, strict=True) if mine and theirs]
    return sum(decimal_logarithm(mine / theirs) for mine, theirs in pairs if mine and theirs)


def _laws(emitted: EmittedLaws, model: EngineModel) -> list[EmittedLaw]:
    """The laws of one step; none where a rule cannot be enumerated on its rows."""
    try:
        return list(emitted.laws(model))
    except SpecdistError:
        return []


def _is_reference(law: EmittedLaw) -> bool:
    return law.total_variation.exact == 0 and law.total_variation.bound is None


def _differs(law: EmittedLaw) -> bool:
    exact, bound = law.total_variation.exact, law.total_variation.bound
    return exact is not None and exact > (bound or 0)
