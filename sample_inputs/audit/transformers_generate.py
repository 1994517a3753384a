"""transformers 5.24.0: whole assisted `generate` of a tiny random Llama pair.

Processors change what the target samples from, so the reference is plain `generate` of the same
target with the same options: every NAME here has its NAME_plain.

specdist audit sample_inputs/audit/transformers_generate.py:top_k --reference top_k_plain --steps 1
"""

from copy import deepcopy

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, logging

from specdist.audit import case

logging.set_verbosity_error()
PROMPT = [0, 1, 0]
CONSTANT = {"num_assistant_tokens_schedule": "constant", "assistant_confidence_threshold": 0}


def llama(vocab, layers, seed):
    """A random model, made once and outside of the runs: its weights are no draws of the step."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(
            LlamaConfig(
                vocab_size=vocab, hidden_size=8, intermediate_size=16, num_hidden_layers=layers,
                num_attention_heads=2, max_position_embeddings=32, initializer_range=0.3,
                bos_token_id=None, eos_token_id=None, pad_token_id=None,
            )
        ).eval()  # fmt: skip


MODELS = {vocab: (llama(vocab, 2, seed=2), llama(vocab, 1, seed=102)) for vocab in (2, 3, 4)}


def generated(options, assistant=None):
    """gamma + 1 new tokens after the prompt and the context."""
    prompt = torch.tensor([[*PROMPT, *case.context]])
    ids = MODELS[case.vocab][0].generate(
        prompt, assistant_model=assistant, do_sample=True, top_k=options.pop("top_k", 0),
        max_new_tokens=case.gamma + 1, **options,
    )  # fmt: skip
    return ids[0, prompt.shape[1] :].tolist()


def assisted(**options):
    """The adapter with these options of `generate`, and the plain one.

    The schedule of the draft length writes its counter into the config of the assistant, which
    would be state between runs. So every run begins with a config of its own.
    """
    drafting = {name: options.pop(name, value) for name, value in CONSTANT.items()}

    def step():
        assistant = MODELS[case.vocab][1]
        assistant.generation_config = GenerationConfig(num_assistant_tokens=case.gamma, **drafting)
        return generated(deepcopy(options), assistant)

    plain = {k: v for k, v in options.items() if k != "assistant_ensemble_weight"}
    return step, lambda: generated(deepcopy(plain))


plain_sampling, plain_sampling_plain = assisted()
temperature, temperature_plain = assisted(temperature=0.7)
top_k, top_k_plain = assisted(top_k=2)
top_p, top_p_plain = assisted(top_p=0.8)
min_p, min_p_plain = assisted(min_p=0.5)
typical_p, typical_p_plain = assisted(typical_p=0.7)
epsilon_cutoff, epsilon_cutoff_plain = assisted(epsilon_cutoff=0.2)
eta_cutoff, eta_cutoff_plain = assisted(eta_cutoff=0.3)
repetition_penalty, repetition_penalty_plain = assisted(repetition_penalty=1.7)
no_repeat_ngram, no_repeat_ngram_plain = assisted(no_repeat_ngram_size=2)
bad_words, bad_words_plain = assisted(bad_words_ids=[[0, 2], [1, 1]])
eos, eos_plain = assisted(eos_token_id=1, pad_token_id=0)
min_new_tokens, min_new_tokens_plain = assisted(min_new_tokens=2, eos_token_id=1, pad_token_id=0)
confidence, confidence_plain = assisted(assistant_confidence_threshold=0.5)
heuristic, heuristic_plain = assisted(num_assistant_tokens_schedule="heuristic")
# Lossy by design: accepts with 1 - w + w p/q, for a weight w below 1.
ensemble, ensemble_plain = assisted(assistant_ensemble_weight=0.5)


def prompt_lookup():
    """Drafts are copied from the prompt: no draft law, the target's own token is compared."""
    return generated({"prompt_lookup_num_tokens": case.gamma})


prompt_lookup_plain = plain_sampling_plain


COUNTING = {vocab: llama(vocab, 1, seed=102) for vocab in (2, 3, 4)}
for counting in COUNTING.values():
    counting.generation_config = GenerationConfig(
        num_assistant_tokens=1, **CONSTANT | {"num_assistant_tokens_schedule": "heuristic"}
    )


def heuristic_kept():
    """As `heuristic`, but the counter stays from run to run: refused, no function of its draws."""
    return generated({}, COUNTING[case.vocab])
