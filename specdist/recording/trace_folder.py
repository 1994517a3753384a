"""A trace as a folder: config.json, steps.jsonl, and the rows as .npy files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from specdist.recording.row_file import RowFile

USED_TARGET, USED_DRAFT = "target_scores.npy", "draft_scores.npy"
RAW_TARGET, RAW_DRAFT = "target_logits.npy", "draft_logits.npy"
NOISE = "final_noise.npy"
LENGTHS = "draft_lengths.json"


class TraceFolder:
    """Writes steps as they come. A step is held back until it is known what was emitted."""

    def __init__(self, folder: Path) -> None:
        self.steps = 0
        self._folder = folder
        self._lines = (folder / "steps.jsonl").open("w", encoding="utf-8")
        names = (USED_TARGET, USED_DRAFT, RAW_TARGET, RAW_DRAFT, NOISE)
        self._files = {name: RowFile(folder / name) for name in names}
        self._settings: dict[str, Any] = {}
        self._held: dict[str, Any] | None = None
        self._prompt_length = 0
        self._in_sequence = 0
        self._lengths: list[int] = []
        self._raw = True

    def begin(self, settings: dict[str, Any], prompt_length: int) -> None:
        """A new sequence, with the settings of its generate call."""
        self._settings = self._settings or settings
        if settings != self._settings:
            self._settings["several_settings"] = True
        self._prompt_length = prompt_length
        self._in_sequence = 0

    def step(self, **seen: Any) -> None:
        """One verified block; see `Recording.verification`."""
        self._release(seen["context"])
        accepted = [True] * seen["matches"]
        rejected = seen["matches"] < len(seen["drafted"])
        used = self._files[USED_TARGET].append(seen["target"])
        drafted = self._files[USED_DRAFT].append(seen["draft"])
        self._keep_raw(seen["raw_target"], seen["raw_draft"])
        noise = None if seen["noise"] is None else self._files[NOISE].append(seen["noise"])[0]
        self._lengths.append(len(seen["drafted"]))
        self._held = {
            "sequence": seen["sequence"],
            "step": self._in_sequence,
            "prompt_len": self._prompt_length,
            "context": seen["context"],
            "drafted": seen["drafted"],
            "u_accept": seen["uniforms"],
            "accepted": [*accepted, False] if rejected else accepted,
            "n_matches": seen["matches"],
            "final_kind": "recovered" if rejected else "bonus",
            "final_token": seen["valid"][-1],
            "valid_tokens": seen["valid"],
            "draft_rows": drafted,
            "target_rows": used,
            "noise_row": noise,
        }
        self._in_sequence += 1
        self.steps += 1

    def ended(self, sequence: list[int]) -> None:
        """The sequence has ended with these ids."""
        self._release(sequence)

    def close(self, engine: str) -> None:
        """Writes what is left, and config.json."""
        if self._held is not None:  # the generate call was broken off
            self._release(self._held["context"] + self._held["valid_tokens"])
        self._lines.close()
        for file in self._files.values():
            file.close()
        files = {name: file.count for name, file in self._files.items() if file.count}
        if not self._raw:
            for name in (RAW_TARGET, RAW_DRAFT):
                (self._folder / name).unlink(missing_ok=True)
                files.pop(name, None)
        config = {
            "format": "specdist.trace/1",
            "engine": engine,
            **self._settings,
            "rows": {name: {"rows": count} for name, count in files.items()},
        }
        lengths = json.dumps(self._lengths) + "\n"
        (self._folder / LENGTHS).write_text(lengths, encoding="utf-8")
        text = json.dumps(config, indent=1) + "\n"
        (self._folder / "config.json").write_text(text, encoding="utf-8")

    def _release(self, context: list[int]) -> None:
        """Writes the step that was held back: ``context`` shows how much of it was emitted."""
        held, self._held = self._held, None
        if held is None:
            return
        before, valid = held["context"], held["valid_tokens"]
        emitted = context[len(before) : len(before) + len(valid)]
        held["emitted"] = emitted
        held["next_context"] = before + emitted
        self._lines.write(json.dumps(held) + "\n")

    def _keep_raw(self, target: Any, draft: Any) -> None:
        """Raw rows are kept only while every step has them, so that row numbers agree."""
        self._raw = self._raw and target is not None and draft is not None
        if self._raw:
            self._files[RAW_TARGET].append(target)
            self._files[RAW_DRAFT].append(draft)
