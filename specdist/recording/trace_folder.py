"""A trace as a folder: config.json, steps.jsonl, and the rows as .npy files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from specdist.recording.packing import pack_npz, pack_safetensors
from specdist.recording.row_file import RowFile

USED = ("candidate_logits", "new_logits")
RAW = ("draft", "target")
NOISE = "final_noise"
LENGTHS = "draft_lengths.json"


class TraceFolder:
    """Writes steps as they come. A step is held back until it is known what was emitted."""

    def __init__(self, folder: Path) -> None:
        self.steps = 0
        self._folder = folder
        self._lines = (folder / "steps.jsonl").open("w", encoding="utf-8")
        self._files = {name: RowFile(folder / f"{name}.npy.part") for name in (*USED, *RAW, NOISE)}
        self._settings: dict[str, Any] = {}
        self._held: dict[str, Any] | None = None
        self._prompt_length = 0
        self._in_sequence = 0
        self._lengths: list[int] = []
        self._raw = self._noise = True

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
        drafted = self._files[USED[0]].append(seen["draft"])
        used = self._files[USED[1]].append(seen["target"])
        self._raw = self._kept(RAW, (seen["raw_draft"], seen["raw_target"]), self._raw)
        self._noise = self._kept((NOISE,), (seen["noise"],), self._noise)
        self._lengths.append(len(seen["drafted"]))
        self._held = {
            "sequence": seen["sequence"],
            "step": self._in_sequence,
            "prompt_len": self._prompt_length,
            "context": seen["context"],
            "drafted": seen["drafted"],
            "candidate_length": len(seen["drafted"]),
            "u_accept": seen["uniforms"],
            "accepted": [*accepted, False] if rejected else accepted,
            "n_matches": seen["matches"],
            "final_kind": "recovered" if rejected else "bonus",
            "final_token": seen["valid"][-1],
            "valid_tokens": seen["valid"],
            "draft_rows": drafted,
            "target_rows": used,
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
        self._pack()
        config = {"engine": engine, **self._settings, "steps": self.steps}
        text = json.dumps(config, indent=1) + "\n"
        (self._folder / "config.json").write_text(text, encoding="utf-8")
        lengths = json.dumps(self._lengths) + "\n"
        (self._folder / LENGTHS).write_text(lengths, encoding="utf-8")

    def _pack(self) -> None:
        """The rows as the verifying function got them, and the raw rows where every step has
        them; what only some steps have is left out."""
        for names, whole in ((RAW, self._raw), ((NOISE,), self._noise)):
            for name in names if not whole else ():
                self._files.pop(name).path.unlink(missing_ok=True)
        files = {name: file for name, file in self._files.items() if file.count}
        used = {name: files[name] for name in (*USED, NOISE) if name in files}
        if used:
            pack_npz(self._folder / "spec_inputs.npz", used)
        raw = {name: files[name] for name in RAW if name in files}
        if raw:
            pack_safetensors(self._folder / "raw_rows.safetensors", raw)

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

    def _kept(self, names: tuple[str, ...], rows: tuple[Any, ...], before: bool) -> bool:
        """Appends rows that every step so far has had; row numbers then agree between files."""
        whole = before and all(found is not None for found in rows)
        for name, found in zip(names, rows, strict=True):
            if whole:
                self._files[name].append(found)
        return whole
