"""Recording from the command line: two saved models, prompts, one assisted generation a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdist.errors import CaptureError, SettingsError, SpecdistError
from specdist.recording.extra import library
from specdist.recording.recorder import record

DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. ``sampling`` are keyword arguments of ``generate``; ``draft_length`` is the
    number of draft tokens a step (None: as the draft model's configuration says)."""

    target: str
    draft: str
    prompts: tuple[str, ...]
    prompt_ids: tuple[tuple[int, ...], ...]
    sampling: dict[str, float | int]
    max_new_tokens: int
    draft_length: int | None
    seed: int
    dtype: str


def record_models(plan: Plan, folder: Path) -> int:
    """Runs the plan and writes the trace; gives the number of verified blocks.

    Raises MissingExtraError, CaptureError for a model that cannot be loaded, SettingsError for
    prompts that do not fit it.
    """
    torch, transformers = library("torch"), library("transformers")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    target = _model(transformers, torch, plan.target, plan.dtype)
    draft = _model(transformers, torch, plan.draft, plan.dtype)
    if plan.draft_length is not None:
        settings = draft.generation_config
        settings.num_assistant_tokens = plan.draft_length
        settings.num_assistant_tokens_schedule = "constant"
        settings.assistant_confidence_threshold = 0.0
    prompts = [*_encoded(transformers, plan), *plan.prompt_ids]
    _check(prompts, int(target.config.vocab_size))
    torch.manual_seed(plan.seed)
    with record(folder) as recording:
        for ids in prompts:
            batch = torch.tensor([list(ids)], device=target.device)
            target.generate(
                batch,
                attention_mask=torch.ones_like(batch),
                assistant_model=draft,
                do_sample=True,
                max_new_tokens=plan.max_new_tokens,
                **plan.sampling,
            )
    return recording.steps


def _model(transformers: Any, torch: Any, name: str, dtype: str) -> Any:
    try:
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            name, dtype=getattr(torch, dtype)
        )
    except (OSError, ValueError, KeyError) as error:
        raise _not_loaded("model", name, error) from None
    return loaded.eval()


def _encoded(transformers: Any, plan: Plan) -> list[tuple[int, ...]]:
    if not plan.prompts:
        return []
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(plan.target)
    except (OSError, ValueError, KeyError) as error:
        raise _not_loaded("tokenizer", plan.target, error) from None
    return [tuple(tokenizer(text)["input_ids"]) for text in plan.prompts]


def _not_loaded(what: str, name: str, error: Exception) -> SpecdistError:
    first = str(error).strip().partition("\n")[0]
    return CaptureError(
        f"no {what} can be loaded: {first[:120]}",
        place=name,
        expected="a folder written by save_pretrained, or a name of the model hub",
    )


def _check(prompts: Sequence[Sequence[int]], size: int) -> None:
    if not prompts:
        raise SettingsError(
            "there is no prompt",
            expected="--prompt TEXT, or --prompt-ids 1,2,3 where there is no tokenizer",
        )
    for ids in prompts:
        wrong = [token for token in ids if not 0 <= token < size]
        if wrong or not ids:
            raise SettingsError(
                f"prompt id {wrong[0]} is outside the vocabulary" if wrong else "a prompt is empty",
                expected=f"ids from 0 to {size - 1}",
            )
