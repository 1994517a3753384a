"""The rejection sampler of vLLM's V1 engine, both of its Triton kernels on the CPU.

specdist audit sample_inputs/audit/vllm_v1.py:Sampled --mode probe --steps 1

`SPECDIST_VLLM` names the folder that holds vLLM's source.
"""

from types import SimpleNamespace

import torch
import triton_interpreter  # noqa: F401
import vllm_shims  # noqa: F401
from vllm.v1.sample.rejection_sampler import apply_sampling_constraints, rejection_sample

from specdist.audit import case, draw

_BONUS = 1_000_000


class Sampled:
    """One request, drafts sampled from the draft rows."""

    def metadata(self):
        """What vLLM knows of a request: temperature 1, no top-k, no top-p, no seed of its own."""
        return SimpleNamespace(
            temperature=torch.ones(1), top_k=None, top_p=None, generators={},
            all_greedy=False, all_random=True,
        )  # fmt: skip

    def draft(self):
        """Draws the draft tokens and returns their rows."""
        for place in range(case.gamma):
            draw.categorical(case.draft(place))
        return case.draft_rows()

    def __call__(self):
        rows, metadata = self.draft(), self.metadata()
        counts = torch.tensor([case.gamma], dtype=torch.int32)
        logits = case.target_logits()[:-1].float()
        logits = apply_sampling_constraints(logits, counts, metadata)
        # The kernel copies the bonus token, so it is drawn only where it comes out.
        emitted = rejection_sample(
            torch.tensor(case.drafted, dtype=torch.int32), [case.gamma], case.gamma, counts, rows,
            logits, torch.tensor([[_BONUS]]), metadata,
        )[0].tolist()  # fmt: skip
        tokens = [token for token in emitted if token >= 0]
        return [draw.categorical(case.target()) if t == _BONUS else t for t in tokens]


class OneHot(Sampled):
    """Drafts that are certain, as n-gram lookup makes them: the likeliest token, no rows."""

    def draft(self):
        drafted = []
        for _ in range(case.gamma):
            drafted.append(int(case.draft().argmax()))
            case.propose(drafted)
