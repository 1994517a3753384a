"""transformers 5.24.0: Gemma 4 with its own assistant, do_sample=True: not lossless.

The assistant's drafts are its most probable tokens (generation/candidate_generator.py,
`SinglePositionMultiTokenCandidateGenerator`), and its raw logits are handed to the test as what
they were drawn from. With target (1/2, 1/4, 1/4) and draft (1/4, 1/2, 1/4) a tested token has the
law (1/2, 1/2, 0): total variation 1/4. `reported` hands over the law that drafts really have.

specdist audit sample_inputs/audit/transformers_gemma4.py:step --reference plain --gamma 1 --steps 1
"""

import torch
from transformers import (
    Gemma4AssistantConfig,
    Gemma4AssistantForCausalLM,
    Gemma4ForCausalLM,
    Gemma4TextConfig,
    GenerationConfig,
    logging,
)

from specdist.audit import case

logging.set_verbosity_error()
TARGET, DRAFT = (1 / 2, 1 / 4, 1 / 4), (1 / 4, 1 / 2, 1 / 4)


class Head(torch.nn.Module):
    """Logits that do not depend on the hidden state, so that the numbers are round."""

    def __init__(self, law):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(law).log(), requires_grad=False)

    def forward(self, hidden):
        """The same row at every position."""
        return self.weight.expand(*hidden.shape[:-1], -1)


def text(**options):
    """A tiny model: one layer with sliding attention, one with full attention."""
    return Gemma4TextConfig(
        vocab_size=3, hidden_size=8, intermediate_size=8, num_hidden_layers=2,
        num_attention_heads=1, num_key_value_heads=1, head_dim=8, global_head_dim=8,
        layer_types=["sliding_attention", "full_attention"], sliding_window=32,
        hidden_size_per_layer_input=0, vocab_size_per_layer_input=0, tie_word_embeddings=False,
        bos_token_id=None, eos_token_id=None, pad_token_id=None, **options,
    )  # fmt: skip


class Greedy(Gemma4AssistantForCausalLM):
    """Its logits are those of what it drafts: all mass on the most probable token."""

    def forward(self, *arguments, **options):
        """As before, one-hot."""
        made = super().forward(*arguments, **options)
        chosen = torch.nn.functional.one_hot(made.logits.argmax(-1), made.logits.shape[-1])
        made.logits = chosen.to(made.logits.dtype).log()
        return made


Greedy.__name__ = Gemma4AssistantForCausalLM.__name__  # the engine looks at the name


def assistant(kind):
    """An assistant whose draft row is DRAFT."""
    made = kind(
        Gemma4AssistantConfig(
            text_config=text(num_kv_shared_layers=2), backbone_hidden_size=8,
            tie_word_embeddings=False,
        )
    ).eval()  # fmt: skip
    made.lm_head = Head(DRAFT)
    return made


target = Gemma4ForCausalLM(text()).eval()
target.lm_head = Head(TARGET)
raw, one_hot = assistant(Gemma4AssistantForCausalLM), assistant(Greedy)


def generated(assistant_model=None):
    """gamma + 2 new tokens: the first one is never drafted."""
    if assistant_model is not None:
        assistant_model.generation_config = GenerationConfig(num_assistant_tokens=case.gamma)
    prompt = torch.tensor([[0, *case.context]])
    ids = target.generate(
        prompt, assistant_model=assistant_model, do_sample=True, top_k=0,
        max_new_tokens=case.gamma + 2,
    )  # fmt: skip
    return ids[0, prompt.shape[1] :].tolist()


def step():
    """The engine as it is."""
    return generated(raw)


def reported():
    """The draft law that is handed over is that of the drafts."""
    return generated(one_hot)


def plain():
    """Without an assistant: the reference."""
    return generated()
