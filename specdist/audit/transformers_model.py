"""A table as a causal language model of transformers, for whole `generate` loops.

The keys that it puts into the cache are the token ids themselves and the values are their
positions, and every row is that of the prefix which is read back from there. So a cache that is not
rolled back, is cropped at a wrong place or is masked wrongly leads to another row, and shows in the
law. Written for transformers 5.24.0 (modeling_utils.py, generation/utils.py).

Imported where transformers is loaded: `TableModel.for_transformers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from specdist.audit.context import Context
from specdist.audit.refusals import AdapterError
from specdist.audit.tables import Tokens
from specdist.audit.whereabouts import whereabouts

_torch: Any = import_module("torch")
_transformers: Any = import_module("transformers")
_outputs: Any = import_module("transformers.modeling_outputs")
if not hasattr(_outputs.CausalLMOutputWithPast, "cache"):  # it was past_key_values before
    raise ImportError(f"transformers 5.24 or later, and {_transformers.__version__} is installed")

PROMPT = (0,)
"""`generate` begins with at least one token. This one is no part of the table's prefixes."""


class TableConfig(_transformers.PreTrainedConfig):  # type: ignore[misc]
    """What caches and `generate` ask of a model: one layer with one head of size 1."""

    model_type = "specdist_table"

    def __init__(self, vocab_size: int = 2, **options: Any) -> None:
        self.vocab_size = vocab_size
        self.num_hidden_layers = self.num_attention_heads = self.hidden_size = 1
        super().__init__(**options)


class TableForCausalLM(
    _transformers.PreTrainedModel,  # type: ignore[misc]
    _transformers.GenerationMixin,  # type: ignore[misc]
):
    """A side of the table of the run: logits are the logarithms of its rows, -inf for zeros.

    ``side`` is "target" or "draft". Rows are those after the tokens that follow `PROMPT`.
    """

    config_class = TableConfig

    def __init__(self, run: Context, side: str) -> None:
        super().__init__(TableConfig(run.setup.vocab))
        self._run, self.side = run, side
        run.served[id(self)] = (self, side)
        kind = getattr(_torch, run.setup.dtype)
        # A model has the device and the format of its first parameter.
        self.anchor = _torch.nn.Parameter(_torch.zeros(1, dtype=kind), requires_grad=False)
        self.post_init()

    def prompt(self, context: Sequence[int] = ()) -> Any:
        """The ids [1, n] to begin with: `PROMPT`, then the tokens of a context."""
        return _torch.tensor([[*PROMPT, *context]])

    def forward(
        self,
        input_ids: Any = None,
        attention_mask: Any = None,
        position_ids: Any = None,
        cache: Any = None,
        use_cache: bool | None = None,
        logits_to_keep: Any = 0,
        **_: Any,
    ) -> Any:
        """Logits [B, T, vocab] after the ids [B, T] and what the cache holds before them."""
        if use_cache and cache is None:
            cache = _transformers.DynamicCache(config=self.config)
        before = cache.get_seq_length() if cache is not None else 0
        if position_ids is None:
            position_ids = _torch.arange(before, before + input_ids.shape[1])[None]
        keys = input_ids[:, None, :, None]
        values = position_ids[:, None, :, None].expand(keys.shape)
        if cache is not None:
            keys, values = cache.update(keys, values, 0)
        held = list(zip(keys[:, 0, :, 0].tolist(), values[:, 0, :, 0].tolist(), strict=True))
        rows = [
            [self._row(sequence, seen) for seen in _seen(attention_mask, i, before, input_ids)]
            for i, sequence in enumerate(held)
        ]
        logits = _torch.tensor(rows, dtype=self.anchor.dtype).log()
        kept = slice(-logits_to_keep, None) if isinstance(logits_to_keep, int) else logits_to_keep
        return _outputs.CausalLMOutputWithPast(logits=logits[:, kept, :], cache=cache)

    def _row(self, held: tuple[list[int], list[int]], seen: list[int]) -> list[float]:
        """The row after the tokens that one query sees."""
        tokens, positions = ([column[k] for k in seen] for column in held)
        prefix = tuple(tokens[len(PROMPT) :])
        unknown = [token for token in prefix if not 0 <= token < self._run.setup.vocab]
        if unknown:
            raise AdapterError(
                f"token {unknown[0]} is outside the vocabulary of {self._run.setup.vocab} tokens",
                place=whereabouts(),
                expected=f"ids 0 to {self._run.setup.vocab - 1}",
            )
        return [float(mass) for mass in self._run.law(self.side, prefix + _gaps(positions))]


def _seen(mask: Any, sequence: int, before: int, input_ids: Any) -> list[list[int]]:
    """For every query of a sequence the places of the cache that it sees: those up to its own which
    a mask [B, n] leaves, or those of a mask [B, 1, T, n]."""
    count = input_ids.shape[1]
    if mask is None or mask.dim() == 2:
        row = [1] * (before + count) if mask is None else mask[sequence].tolist()
        return [[k for k in range(before + i + 1) if k < len(row) and row[k]] for i in range(count)]
    visible = mask[sequence, 0]
    visible = visible if visible.dtype == _torch.bool else visible >= 0
    return [[k for k, shown in enumerate(row) if shown] for row in visible.tolist()]


def _gaps(positions: list[int]) -> Tokens:
    """Nothing for positions in a row; otherwise what makes it a prefix of its own, whose row is
    another one, as a model's would be."""
    first = positions[0] if positions else 0
    if positions == list(range(first, first + len(positions))):
        return ()
    return (-1, *positions)
