"""mini-infer 0.2.5, `speculative_step` at temperature 1: lossless up to float rounding.

    specdist audit sample_inputs/audit/package_mini_infer.py:step

The uniform is read with `.item()` and compared with a quotient of Python floats; draft tokens are
tested one by one, so a step has no leaf that a later uniform would split in vain.
"""

import torch
from mini_infer.speculative.verifier import speculative_step

from specdist.audit import case


def served(side):
    """A model over ids [1, T] whose first id is a prompt that the table does not know."""

    def model(ids):
        tokens = ids[0, 1:].tolist()
        rows = [case.model(side).row(tokens[:i]) for i in range(len(tokens) + 1)]
        return torch.stack(rows)[None], None

    return model


def step():
    ids = torch.tensor([[0, *case.context]])
    tokens, _ = speculative_step(served("target"), served("draft"), ids, case.gamma, temperature=1)
    return tokens
