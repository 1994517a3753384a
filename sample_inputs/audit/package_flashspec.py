"""flashspec 0.3.1: the step of its engine, the same for deterministic drafts, typical acceptance.

    specdist audit sample_inputs/audit/package_flashspec.py:step
    specdist audit sample_inputs/audit/package_flashspec.py:one_hot
    specdist audit sample_inputs/audit/package_flashspec.py:typical

`rejection_step` and `rejection_step_onehot`: lossless up to float rounding. The test is strict
(u < p / q), one draw is left for the residual or the bonus, and where drafts are an argmax the
one-hot row stands in the test and in the residual alike.

`typical_sample`: not lossless, as its documentation says. The draft's row is not looked at: a draft
token stands where -log p(x) is within -log(typical_p) of the entropy. For target (1/2, 1/4, 1/4)
and draft (1/4, 1/2, 1/4) every token does at 0.7, so the law is the draft's: total variation 1/4.
"""

import torch
from flashspec.sampling.rejection import rejection_step, rejection_step_onehot
from flashspec.sampling.typical import typical_sample

from specdist.audit import case, draw


def step():
    tokens = [draw.categorical(case.draft()) for _ in range(case.gamma)]
    found = rejection_step(
        torch.tensor([tokens]), case.draft_logits()[None], case.target_logits()[None]
    )
    return accepted(tokens, found)


def one_hot():
    tokens = []
    for _ in range(case.gamma):
        tokens.append(int(case.draft(tokens).argmax()))
    case.propose(tokens)
    return accepted(
        tokens, rejection_step_onehot(torch.tensor([tokens]), case.target_logits()[None])
    )


def accepted(tokens, found):
    """The tokens of a step, of the number that is accepted and the token that follows."""
    count, follows = found[0].tolist()
    return [*tokens[:count], follows]


def typical():
    tokens = [draw.categorical(case.draft()) for _ in range(case.gamma)]
    rows, drafts = case.target_logits()[None, :-1], case.draft_logits()[None]
    found, first, _ = typical_sample(
        drafts, rows, torch.tensor([tokens]), gamma=case.gamma, typical_p=0.7
    )
    kept = [token for token in found[0].tolist() if token >= 0]
    return kept if first < case.gamma else [*kept, draw.categorical(case.target())]
