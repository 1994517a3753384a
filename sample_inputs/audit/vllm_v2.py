"""The rejection sampler of vLLM's V2 runner, its Triton kernels on the CPU: the token rule, block
verification, and both with one-hot drafts.

specdist audit sample_inputs/audit/vllm_v2.py:Block --mode probe --steps 1

`SPECDIST_VLLM` names the folder that holds vLLM's source.
"""

import numpy as np
import torch
import vllm_shims  # noqa: F401
from triton_interpreter import numbers, tensor, tl
from vllm.v1.worker.gpu.sample import gumbel
from vllm.v1.worker.gpu.spec_decode import rejection_sampler_utils
from vllm.v1.worker.gpu.spec_decode.rejection_sampler_utils import rejection_sample

from specdist.audit import case, draw

_LEAST = 4.6566127342e-10  # tl_rand32 raises a zero to this


class Streams:
    """vLLM's random numbers are functions of seed and position. Here every pair names a number of
    its own, and the same pair the same number again."""

    def __init__(self):
        self._uniforms, self._noise = {}, {}

    def uniform(self, seed, position, includes_zero):
        """Stands for `tl_rand32`."""
        key = int(numbers(seed).item()), int(numbers(position).item())
        if key not in self._uniforms:
            self._uniforms[key] = draw.uniform("tl.rand")
        least = 0.0 if includes_zero else _LEAST
        return tensor(max(self._uniforms[key], least), tl.float32)

    def noise(self, seed, position, tokens):
        """Stands for `murmur3_uniform32`: the numbers u whose -log(1 - u) are exponentials."""
        key = int(numbers(seed).item()), int(numbers(position).item())
        if key not in self._noise:
            self._noise[key] = draw.exponentials(case.vocab)
        padded = np.ones(numbers(tokens).size)
        padded[: case.vocab] = self._noise[key]
        return tensor(-np.expm1(-padded), tl.float32)


class Token:
    """One request, drafts sampled from the draft rows."""

    block = False

    def __init__(self):
        streams = Streams()
        gumbel.murmur3_uniform32 = streams.noise
        rejection_sampler_utils.tl_rand32 = streams.uniform

    def draft(self):
        """Draws the draft tokens and returns their logits [requests, places, vocab]."""
        for place in range(case.gamma):
            draw.categorical(case.draft(place))
        return case.draft_logits().float()[None]

    def __call__(self):
        draft_logits, rows = self.draft(), case.gamma + 1
        first, same = len(case.context), torch.zeros(rows, dtype=torch.int32)
        sampled, count = rejection_sample(
            target_logits=case.target_logits().float(),
            draft_logits=draft_logits,
            draft_sampled=torch.tensor([0, *case.drafted]),
            cu_num_logits=torch.tensor([0, rows], dtype=torch.int32),
            pos=torch.arange(first, first + rows),
            idx_mapping=same[:1],
            expanded_idx_mapping=same,
            expanded_local_pos=torch.arange(rows, dtype=torch.int32),
            temperature=torch.ones(1),
            seed=torch.tensor([11]),
            num_speculative_steps=case.gamma,
            use_block_verification=self.block,
        )
        return sampled[0, : count.item()].tolist()


class Block(Token):
    """The same by block verification."""

    block = True


class OneHot(Token):
    """Drafts that are certain, as n-gram lookup makes them: the likeliest token, no logits."""

    def draft(self):
        drafted = []
        for _ in range(case.gamma):
            drafted.append(int(case.draft().argmax()))
            case.propose(drafted)


class OneHotBlock(OneHot):
    """Those by block verification."""

    block = True
