"""What recorded steps prove, or suggest, beyond the single decision."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from specdist.model.figure import Figure


@dataclass(frozen=True, slots=True)
class TraceFact:
    """One recorded fact, held against a law of the engine.

    ``kind``: "draft" (a proposed token against its uniform), "kept" (whether a proposed token was
    submitted), "decision" (accepted or not), "final" (the recovered or bonus token), "uniforms"
    (those of one step, whether they are one number), "grid" (an accept uniform on its grid).
    ``holds``: True, the law predicts what was recorded; False, it rules it out; None, it allows it
    and other outcomes as well, or the numbers lie within rounding. ``step`` is the id of the step,
    ``index`` the position.
    """

    step: str
    source: str
    kind: str
    index: int
    holds: bool | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class TokenShift:
    """Probability of a token under the law that is emitted, and under the reference."""

    token: int
    output: Figure
    reference: Figure


@dataclass(frozen=True, slots=True)
class EmittedLaw:
    """The law of the token emitted at a reached position, given the recorded path before it.

    ``total_variation`` is half the sum of its absolute differences from the reference at that row,
    over tokens, with its rounding bound;
    ``shifts`` are the largest differences, largest first. ``kind`` is "drafted" where a token was
    proposed at that position, else "bonus". ``unassigned`` is rejected mass that meets an empty
    residual (None: nothing): no token follows, and the law sums to that much less than one.
    """

    step: str
    source: str
    sequence: int
    step_index: int
    position: int
    kind: str
    total_variation: Figure
    shifts: tuple[TokenShift, ...] = ()
    unassigned: Figure | None = None


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A way an engine may work, held against every recorded fact.

    ``name`` is a short key (``recovered-from-target``), ``statement`` a sentence, ``ident`` that
    of the finding it would be, ``parameters`` what was inferred from the trace (``("threshold",
    "above 0.19, up to 0.21")``). ``predicted`` facts follow from it, ``open`` ones are allowed by
    it, ``missed`` is the first fact that it rules out, None where it explains all of them.
    ``laws`` are those of the reached positions (of the first thousand or so in a long trace).
    ``lossless``: whether each of them is proven to be the reference; None: open, or no law.
    """

    name: str
    ident: str
    statement: str
    parameters: tuple[tuple[str, str], ...] = ()
    predicted: int = 0
    open: int = 0
    missed: TraceFact | None = None
    lossless: bool | None = None
    laws: tuple[EmittedLaw, ...] = ()

    @property
    def explains(self) -> bool:
        """Whether no recorded fact speaks against it."""
        return self.missed is None

    @property
    def worst(self) -> EmittedLaw | None:
        """The reached position with the largest total variation."""
        return max(self.laws, key=lambda law: law.total_variation.approx, default=None)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Which ways of working agree with a trace.

    ``declared`` is the engine as declared. ``contradicted``: a recorded fact is impossible under
    it, or the evidence refutes it at its level; else ``causes`` is empty. ``causes`` are the
    hypotheses that explain every fact, simplest first; more than one: the trace does not tell
    them apart. ``tried`` counts all of them. ``proven``: what contradicts the declared engine is
    impossible under it, or refuted at the level of the evidence; False where all that speaks
    against it are proposed tokens that were dropped without a declared pruning, which may as well
    be lossless (see the evidence on "dropped"). ``note`` says why nothing was tried.
    """

    declared: Hypothesis
    contradicted: bool
    causes: tuple[Hypothesis, ...] = ()
    tried: int = 0
    proven: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """An e-value against one statement about the engine, for the facts that cannot be replayed.

    Under the statement the e-value has mean at most 1 at every moment, so that it ever reaches
    ``1 / level`` has probability at most ``level``. ``log10`` is a proven lower bound of its
    decimal logarithm; ``refuted``: ``e_value * share >= 1 / level`` with the ``share`` of the level
    that was set aside for this statement beforehand. It never confirms. ``proof``: a fact of
    probability 0 under the statement, which needs no level; ``passes``: the e-value
    alone refutes it. ``favourite`` is the bet that gained the most.
    """

    subject: str
    ident: str
    statement: str
    observations: int
    log10: float
    level: Fraction
    share: Fraction
    refuted: bool
    proof: TraceFact | None = None
    favourite: str = ""
    passes: bool = False


@dataclass(frozen=True, slots=True)
class CounterfactualPosition:
    """One recorded context under the declared and under other settings.

    ``declared`` and ``other`` are acceptance rates of that context (drafted mass that is accepted);
    ``declared_chance`` and ``other_chance`` the chance of the recorded draft token there, None
    where that token cannot be drafted, and under a rule that does not test token by token.
    """

    step: str
    index: int
    token: int
    declared: Figure
    other: Figure
    declared_chance: Figure | None = None
    other_chance: Figure | None = None


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """The recorded contexts under other settings, without sampling noise.

    ``declared_rate`` and ``other_rate`` are plain means over the positions. ``declared_length`` and
    ``other_length`` are mean tokens a step, bonus included, given the recorded draft tokens:
    ``1 + sum_i prod_{j <= i} a_j(x_j)`` with the chances above, over the steps whose draft tokens
    both settings can draft; None where there is no such step. ``steps`` counts the steps with
    rows, ``without_rows`` the others, ``impossible`` those with a token that one of the settings
    never drafts. ``condition`` says what is conditioned on.
    """

    label: str
    positions: tuple[CounterfactualPosition, ...]
    steps: int
    without_rows: int
    impossible: int
    declared_rate: Figure | None
    other_rate: Figure | None
    declared_length: Figure | None
    other_length: Figure | None
    condition: str
