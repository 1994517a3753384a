"""transformers 5.24.0: whole assisted `generate`, over the table of the audit.

specdist audit sample_inputs/audit/transformers_table.py:step --steps 1

One call of `generate` has several rounds of drafting and testing, so its caches and counters are
part of what is audited: `--steps 1` is enough, and every further step would call it anew.
"""

from transformers import logging

from specdist.audit import case

logging.set_verbosity_error()


def step():
    """gamma + 1 new tokens after the context, by a target and a draft of the table."""
    target = case.model("target").for_transformers()
    draft = case.model("draft").for_transformers()
    draft.generation_config.num_assistant_tokens = case.gamma
    draft.generation_config.num_assistant_tokens_schedule = "constant"
    draft.generation_config.assistant_confidence_threshold = 0
    prompt = target.prompt(case.context)
    ids = target.generate(
        prompt, assistant_model=draft, do_sample=True, max_new_tokens=case.gamma + 1
    )
    return ids[0, prompt.shape[1] :].tolist()
