"""specdec 0.2.0, `SpecDecoder.generate_small` and `.verify`: lossless up to float rounding.

    specdist audit sample_inputs/audit/package_specdec.py:step

A uniform is compared strictly (u < p / q), the residual is normalised, and the bonus row is the one
after the last draft token. Both models are tables; the decoder is made without loading weights.
"""

from types import SimpleNamespace

import torch
from specdec.decoder import SpecDecoder

from specdist.audit import case


def served(side):
    """A model over ids [1, T] whose first id is a prompt that the table does not know."""

    def model(ids, **_):
        tokens = ids[0, 1:].tolist()
        rows = [case.model(side).row(tokens[:i]) for i in range(len(tokens) + 1)]
        return SimpleNamespace(logits=torch.stack(rows)[None])

    return model


decoder = SpecDecoder.__new__(SpecDecoder)
decoder.small_model, decoder.big_model, decoder.device = served("draft"), served("target"), "cpu"


def step():
    ids = torch.tensor([[0, *case.context]])
    tokens, rows = decoder.generate_small(ids, case.gamma)
    return decoder.verify(ids, tokens, rows)
