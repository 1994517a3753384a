"""Block verification: the draft tokens of a chain are accepted together, not one by one.

Law. For draft tokens x_1 .. x_g let z_i = x_1 .. x_i, r_0 = 1 and

    r_i = min(1, r_(i-1) P(x_i | z_(i-1)) / Q(x_i | z_(i-1)))
    R_i(y) = [r_i S(y | z_i) - U(y | z_i)]_+,   Z_i = sum_y R_i(y)
    h_i = Z_i / (Z_i + 1 - r_i) for i < g (1 where that is 0/0),   h_g = r_g

with P = `accept_target`, Q = `accept_draft`, S = `residual_target`, U = `residual_draft`.
Flip an independent coin for every i, heads with probability h_i; tau is the last heads, 0 if there
is none. Accept z_tau. For tau < g the next token is drawn from R_tau, normalised; for tau = g it
is the bonus token, from `bonus_from` at z_g. Where Q is one-hot at the drafted token, r_i is the
product of the P(x_j), and where U is, ``R_i(y) = r_i S(y | z_i)`` for y other than x_(i+1): the
rule then accepts what token verification accepts.

Lossless when all target roles are the reference and the drafted law is Q = U, or Q and U are
one-hot: then Pr(tau >= i | z_i) = r_i, and the mass that keeps z is A(z) with
``A(zy) = min(Q(z) Q(y | z), A(z) P(y | z))``, which no lossless verifier of one path exceeds.

The options make mistakes that ports made: ``coins`` (see `block_coins`), ``thresholds=ratio`` for
h_i = r_i, ``residual=token`` for ``[S - U]_+`` without the weight. Sources: Sun et al. 2403.10444,
algorithm 2; vLLM 0.33.0, V2, ``rejection_sample_method="block"``; vllm-ascend pull request 7808.
"""

from __future__ import annotations

from collections.abc import Iterator

from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import Option
from specdist.model.value_texts import one_of
from specdist.rules.joint.block_coins import COINS
from specdist.rules.joint.block_path import block_positions
from specdist.rules.joint.block_walk import block_walk, block_walk_size
from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.outcomes import Drafted, Outcome, PrefixLaws
from specdist.rules.joint.recovered import EMPTY, recovered
from specdist.rules.joint.token_chain_rule import require_chain


def block_outcomes(drafted: Drafted, laws: PrefixLaws, use: RecipeStep) -> Iterator[Outcome]:
    """The outcomes of a chain of draft tokens: one for each accepted length that is possible.

    Raises SettingsError for a tree and for a drafted token whose tested probability is 0. Where a
    rejection meets an empty residual, option ``empty`` says what follows.
    """
    require_chain(drafted.tree, laws, use)
    tokens = drafted.tokens
    positions = block_positions(tokens, laws, use)
    stops = COINS[use.word("coins")]([position.threshold for position in positions[1:]])
    for length, chance in enumerate(stops.chances):
        if not chance:
            continue
        prefix = tokens[:length]
        if length == len(tokens):
            law = laws.law(Role.BONUS_FROM, prefix)
            yield Outcome(chance, prefix, law, bonus=True, error=stops.error)
            continue
        target = laws.law(Role.RESIDUAL_TARGET, prefix)
        left = positions[length].residual
        yield recovered(chance, prefix, left, target, use, stops.error)


def _known_mistake(use: RecipeStep) -> bool:
    return any(use.word(option.name) != option.default for option in _MISTAKES)


_MISTAKES = (
    Option(
        "coins",
        one_of(*COINS),
        "independent",
        "independent: the last heads; contiguous: heads before the first tails; shared: one "
        "uniform for all positions; product: a running product of uniforms",
    ),
    Option(
        "thresholds",
        one_of("block", "ratio"),
        "block",
        "block: h_i = Z_i / (Z_i + 1 - r_i); ratio: h_i = r_i",
    ),
    Option(
        "residual",
        one_of("block", "token"),
        "block",
        "block: [r S - U]+ at the last accepted position; token: [S - U]+",
    ),
)

BLOCK = JointRule(
    "block",
    "block verification",
    "lossless",
    block_outcomes,
    walk=block_walk,
    walk_size=block_walk_size,
    check=require_chain,
    options=(*_MISTAKES, EMPTY),
    mistaken=_known_mistake,
)
