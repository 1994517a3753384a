"""The step of textbook_numpy.py with one mistake: what was rejected is drawn from the target again.

    specdist audit sample_inputs/audit/textbook_faulty.py:step

A rejected token is replaced by a draw from p where it should be one from max(0, p - q). So the
first token has law min(p, q) + (1 - sum min(p, q)) p: tokens that the draft likes too much come
too often. The audit gives the exact total variation and names the rule.
"""

import numpy as np

from specdist.audit import case


def verify(tokens, target, draft, rng):
    """Tokens of one step: of n draft tokens, rows [n + 1, V] of the target and [n, V] of the
    draft."""
    for i, token in enumerate(tokens):
        if rng.random() >= target[i, token] / draft[i, token]:
            return [*tokens[:i], int(rng.choice(case.vocab, p=target[i]))]  # max(0, p - q) is right
    return [*tokens, int(rng.choice(case.vocab, p=target[-1]))]


def step():
    """Drafts with the same generator, then verifies."""
    rng = np.random.default_rng()
    tokens = []
    for _ in range(case.gamma):
        tokens.append(int(rng.choice(case.vocab, p=case.draft(tokens))))
    case.propose(tokens)
    return verify(tokens, case.target_rows(), case.draft_rows(), rng)
