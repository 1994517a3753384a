"""Speculative sampling as a textbook in numpy has it: lossless up to float rounding.

    specdist audit sample_inputs/audit/textbook_numpy.py:step

Leviathan et al. 2023 (arXiv 2211.17192), algorithm 1: draft token x is kept where a uniform is
below p(x) / q(x), all draft tokens tested at once; the first that fails is replaced by a draw from
max(0, p - q) / sum(max(0, p - q)); after the last a bonus token comes from the target. What keeps
the enumerated law from the target's is the rounding of these quotients in the format of the rows.
"""

import numpy as np

from specdist.audit import case


def verify(tokens, target, draft, rng):
    """Tokens of one step: of n draft tokens, rows [n + 1, V] of the target and [n, V] of the
    draft."""
    at = np.arange(len(tokens))
    failed = np.flatnonzero(rng.random(len(tokens)) >= target[at, tokens] / draft[at, tokens])
    if failed.size == 0:
        return [*tokens, int(rng.choice(case.vocab, p=target[-1]))]
    first = failed[0]
    residual = np.maximum(target[first] - draft[first], 0)
    recovered = rng.choice(case.vocab, p=residual / residual.sum())
    return [*tokens[:first], int(recovered)]


def step():
    """Drafts with the same generator, then verifies."""
    rng = np.random.default_rng()
    tokens = []
    for _ in range(case.gamma):
        tokens.append(int(rng.choice(case.vocab, p=case.draft(tokens))))
    case.propose(tokens)
    return verify(tokens, case.target_rows(), case.draft_rows(), rng)
