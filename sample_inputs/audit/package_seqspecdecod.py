"""sequential-speculative-decoding 0.1.1: three step functions over the same tables.

    specdist audit sample_inputs/audit/package_seqspecdecod.py:standard
    specdist audit sample_inputs/audit/package_seqspecdecod.py:naive_hierarchical
    specdist audit sample_inputs/audit/package_seqspecdecod.py:capped_hierarchical

`standard` and `naive_hierarchical` (the block is tested from its end, by ratios of whole prefixes)
are lossless up to float rounding.

`capped_hierarchical` is not. Ratios and rows are read one position early, so with two draft tokens
the first one always stands and its ratio decides on the second: for target (1/2, 1/4, 1/4) and
draft (1/4, 1/2, 1/4) the first token has the draft's law, and the joint total variation is 5/16.
One draft token alone shows nothing, unless the draft has a zero: then the weights q (p / q - 1) of
the residual miss that token, and where nothing else is left `torch.multinomial` raises.
"""

from types import SimpleNamespace

import torch
from seqspecdecod.capped_hsd import capped_hsd_step
from seqspecdecod.naive_hsd import naive_hsd_step
from seqspecdecod.standard_sd import standard_speculative_step

from specdist.audit import case


def served(side):
    """A model over ids [1, T] whose first id is a prompt that the table does not know."""

    def model(ids):
        tokens = ids[0, 1:].tolist()
        rows = [case.model(side).row(tokens[:i]) for i in range(len(tokens) + 1)]
        return SimpleNamespace(logits=torch.stack(rows)[None])

    return model


def emitted(rule):
    ids = torch.tensor([[0, *case.context]])
    longer, _, _ = rule(served("draft"), served("target"), ids, case.gamma, 1.0, 1.0)
    return longer[0, ids.shape[1] :]


def standard():
    return emitted(standard_speculative_step)


def naive_hierarchical():
    return emitted(naive_hsd_step)


def capped_hierarchical():
    return emitted(capped_hsd_step)
