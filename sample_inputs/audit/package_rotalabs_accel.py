"""rotalabs-accel 1.1.1, `rejection_sample` and `verify_tokens`: not lossless.

    specdist audit sample_inputs/audit/package_rotalabs_accel.py:step
    specdist audit sample_inputs/audit/package_rotalabs_accel.py:verified

`rejection_sample`: the residual subtracts the draft's mass at the drafted token only, and every
other token keeps its whole target mass. For target (1/2, 1/4, 1/4) and draft (1/4, 1/2, 1/4) the
law is (5/12, 1/4, 1/3), total variation 1/12. With a vocabulary of two tokens it cannot be seen:
there a residual is one token anyway.

`verify_tokens`, the step of the package's loop, has the same residual, and its bonus token is the
target's best one: top_p arrives in the place of top_k, where 0.9 means the one best token.
"""

from types import SimpleNamespace

import torch
from rotalabs_accel.speculative.core import verify_tokens
from rotalabs_accel.speculative.sampling import rejection_sample

from specdist.audit import case, draw


def step():
    tokens = [draw.categorical(case.draft()) for _ in range(case.gamma)]
    target, draft, logits = case.target_rows(), case.draft_rows(), case.target_logits()
    for i, token in enumerate(tokens):
        kept, chosen = rejection_sample(
            target[i, token], draft[i, token], torch.tensor(token), logits[i]
        )
        if not kept:
            return [*tokens[:i], int(chosen)]
    return [*tokens, draw.categorical(case.target())]


def verified():
    tokens = torch.tensor([draw.categorical(case.draft()) for _ in range(case.gamma)])
    shares = case.draft_rows()[torch.arange(case.gamma), tokens]

    def target(ids, **_):
        return SimpleNamespace(logits=case.target_logits()[None], past_key_values=None)

    emitted, _, _ = verify_tokens(target, torch.tensor([[0]]), tokens, shares, None)
    return emitted
