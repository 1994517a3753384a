"""The recorder: wraps transformers' assisted generation and writes a trace that can be replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from specdist.errors import SettingsError
from specdist.recording.draws import watched
from specdist.recording.extra import library
from specdist.recording.raw_rows import RawRows
from specdist.recording.trace_folder import TraceFolder

_UTILS = "transformers.generation.utils"


class Recording:
    """A running recording; `steps` counts the verified blocks so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = TraceFolder(folder)
        self._raw = RawRows()
        self._sequence = -1

    @property
    def steps(self) -> int:
        return self._folder.steps

    def generation(self, decode: Callable[..., Any]) -> Callable[..., Any]:
        """`_assisted_decoding`, with its settings and what came out of it written down."""

        def decoded(model: Any, input_ids: Any, *args: Any, **kwargs: Any) -> Any:
            self._sequence += 1
            self._folder.begin(_settings(args, kwargs), int(input_ids.shape[-1]))
            with self._raw.of(model, kwargs.get("assistant_model")):
                found = decode(model, input_ids, *args, **kwargs)
            sequences = getattr(found, "sequences", found)
            self._folder.ended(sequences[0].tolist())
            return found

        return decoded

    def verification(self, verify: Callable[..., Any]) -> Callable[..., Any]:
        """`_speculative_sampling`, with its rows, draws and decisions written down."""

        def verified(
            candidate_ids: Any, draft: Any, length: int, target: Any, *args: Any, **kwargs: Any
        ) -> Any:
            if kwargs.get("assistant_ensemble_weight") is not None:
                raise SettingsError(
                    "assistant_ensemble_weight tests a mixture of both models: lossy by design",
                    expected="generate without assistant_ensemble_weight",
                    advice="specdist check --engine transformers-ensemble gives its law",
                )
            with watched() as draws:
                tokens, matches = verify(candidate_ids, draft, length, target, *args, **kwargs)
            raw_target, raw_draft = self._raw.taken(length)
            self._folder.step(
                sequence=self._sequence,
                context=candidate_ids[0, :-length].tolist(),
                drafted=candidate_ids[0, -length:].tolist(),
                target=_rows(target[0, : length + 1]),
                draft=_rows(draft[0]),
                raw_target=raw_target,
                raw_draft=raw_draft,
                uniforms=[float(u) for draw in draws.uniforms for u in draw.reshape(-1)],
                noise=None if draws.noise is None else _rows(draws.noise.reshape(1, -1)),
                matches=int(matches),
                valid=tokens[0].tolist(),
            )
            return tokens, matches

        return verified

    def close(self) -> None:
        self._folder.close(_versions())


@contextmanager
def record(folder: str | Path) -> Iterator[Recording]:
    """Records every assisted ``generate`` of the block into a new or empty ``folder``.

    Raises MissingExtraError without transformers, SettingsError for a folder that holds files, and
    when the block ends without a verified block: greedy decoding, and candidates without logits,
    are compared token by token and have no acceptance test.
    """
    utils = library(_UTILS)
    recording = Recording(_empty(Path(folder)))
    mixin, verify = utils.GenerationMixin, utils._speculative_sampling
    decode = mixin._assisted_decoding
    mixin._assisted_decoding = recording.generation(decode)
    utils._speculative_sampling = recording.verification(verify)
    try:
        yield recording
    finally:
        mixin._assisted_decoding, utils._speculative_sampling = decode, verify
        recording.close()
    if not recording.steps:
        raise SettingsError(
            "nothing was recorded: no block was verified by an acceptance test",
            place=str(folder),
            expected="generate(..., assistant_model=draft, do_sample=True)",
            advice="greedy decoding and prompt lookup compare tokens and have no draft law",
        )


def _empty(folder: Path) -> Path:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingsError(
            "the place for the recording is not an empty folder",
            place=str(folder),
            expected="a folder that is new or empty",
        )
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _rows(tensor: Any) -> Any:
    return tensor.detach().float().cpu().numpy()


def _settings(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Sampling settings and end tokens of a generate call, as its configuration has them."""
    config = kwargs.get("generation_config") or next(
        (item for item in args if hasattr(item, "to_diff_dict")), None
    )
    processors = kwargs.get("logits_processor") or (args[0] if args else ())
    names = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")
    ends = getattr(config, "_eos_token_tensor", None)
    return {
        "sampling": {
            name: getattr(config, name) for name in names if getattr(config, name, None) is not None
        },
        "processors": [type(item).__name__ for item in processors],
        "eos_token_id": [] if ends is None else ends.reshape(-1).tolist(),
    }


def _versions() -> str:
    return ", ".join(f"{name} {library(name).__version__}" for name in ("transformers", "torch"))
