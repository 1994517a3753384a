"""transformers 5.24.0, generation/utils.py: `_speculative_sampling`, the test alone.

specdist audit sample_inputs/audit/transformers_function.py:step
"""

import torch
from transformers.generation.utils import _speculative_sampling

from specdist.audit import case, draw


def step():
    """Draft, test, one recovered or bonus token."""
    drafted = [draw.categorical(case.draft()) for _ in range(case.gamma)]
    tokens, _ = _speculative_sampling(
        torch.tensor([drafted]), case.draft_logits()[None], case.gamma, case.target_logits()[None]
    )
    return tokens[0].tolist()
