"""Raw logits of both models during assisted generation, seen by forward hooks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any


class RawRows:
    """The last raw rows of the target's forward pass, and the draft's since the last step."""

    def __init__(self) -> None:
        self._target: Any = None
        self._draft: list[Any] = []

    @contextmanager
    def of(self, target: Any, draft: Any) -> Iterator[None]:
        """Watches both models while the block runs; ``draft`` None: only the target."""
        with ExitStack() as stack:
            stack.callback(target.register_forward_hook(self._see_target).remove)
            if draft is not None:
                stack.callback(draft.register_forward_hook(self._see_draft).remove)
            yield

    def taken(self, length: int) -> tuple[Any, Any]:
        """Raw float32 rows [length + 1, V] and [length, V] of the step that is verified now; None
        where a model did not show as many."""
        target, draft = self._target, self._draft
        self._target, self._draft = None, []
        ours = None if target is None or len(target) < length + 1 else target[-length - 1 :]
        if ours is not None:
            ours = ours.detach().float().cpu().numpy()
        if len(draft) != length:
            return ours, None
        import numpy as np

        return ours, np.stack([row.detach().float().cpu().numpy() for row in draft])

    def _see_target(self, module: Any, inputs: Any, outputs: Any) -> None:
        # The warpers write into this tensor: transformers makes no copy of float32 logits.
        self._target = outputs.logits[0].detach().clone()

    def _see_draft(self, module: Any, inputs: Any, outputs: Any) -> None:
        self._draft.append(outputs.logits[0, -1].detach().clone())
