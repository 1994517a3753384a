"""speculative-decoding 0.2.0, the whole loop `speculative_decoding`: lossless up to float rounding.

    specdist audit sample_inputs/audit/package_speculative_decoding.py:two_tokens --gamma 1 \
        --steps 1

Drafts are drawn by Gumbel noise made of uniforms, tested all at once and, after the last, a token
comes from the residual or the bonus row. The loop goes round until two tokens are there, so what is
carried over (ids, both caches) is audited too: the tables are read through the caches. A draft
token is rejected where u > p / q, so one of target probability 0 stands when u is 0: with 2^-24 of
its draft mass, a warning whatever the size.
"""

import torch
from speculative_decoding import speculative_decoding

from specdist.audit import case


def served(side):
    """A network whose cache is the very tokens that it has seen, the prompt's first id included:
    a cache that is not rolled back makes it read other rows."""

    def network(ids, cache=None, **_):
        old = ids[:, :0] if cache is None else cache[0][..., 0]
        seen = torch.cat([old, ids[:, old.shape[1] :]], dim=1)
        tokens = seen[0, 1:].tolist()
        rows = [case.model(side).row(tokens[:i]) for i in range(old.shape[1], len(tokens) + 1)]
        return torch.stack(rows)[None], (seen[..., None], None)

    return network


def two_tokens():
    prompt = torch.tensor([[0, *case.context]])
    target, draft = served("target"), served("draft")
    length = prompt.shape[1] + 2
    tokens, _ = speculative_decoding(target, draft, prompt, length, case.gamma, filter_thres=0.0)
    return tokens[0]
