"""``case``: the rows that an adapter hands to the audited code, and what the audit tells it.

Rows are arrays of the chosen float format: torch tensors where the adapter imported torch, numpy
arrays otherwise. They hold multiples of 1/64, so nothing is rounded on the way in.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from specdist.audit.context import Context, active
from specdist.audit.refusals import AdapterError
from specdist.audit.tables import Tokens
from specdist.audit.whereabouts import whereabouts


class Case:
    """The case of the run that is going on. Every member raises AdapterError outside of a run."""

    @property
    def vocab(self) -> int:
        """How many tokens there are: ids 0 .. vocab - 1."""
        return active().setup.vocab

    @property
    def gamma(self) -> int:
        """How many draft tokens a step has."""
        return active().setup.gamma

    @property
    def context(self) -> Tokens:
        """The tokens that earlier steps emitted."""
        return active().emitted

    @property
    def step(self) -> int:
        """The number of the step, from 0."""
        return len(active().proposals) - 1

    @property
    def drafted(self) -> Tokens:
        """The draft tokens of this step so far: drawn with `draw.categorical` from a draft row,
        or told with `propose`."""
        return tuple(active().proposal.tokens)

    def propose(self, tokens: Iterable[int]) -> None:
        """Tells the draft tokens of this step, where the engine's own sampler drew them."""
        active().proposal.tokens[:] = [int(token) for token in tokens]

    def draft(self, at: int | Sequence[int] | None = None) -> Any:
        """The draft row [vocab] after the context and the first ``at`` draft tokens of the step
        (default: all so far), or after the context and the tokens ``at``."""
        return _row(active(), "draft", at)

    def target(self, at: int | Sequence[int] | None = None) -> Any:
        """The target row [vocab] there."""
        return _row(active(), "target", at)

    def draft_rows(self, tokens: Sequence[int] | None = None) -> Any:
        """The draft rows [n, vocab] along the n draft tokens: what was drafted from, position by
        position. Where a test gets them, the audit compares each with the law really drawn."""
        run = active()
        drafted = _drafted(run, tokens)
        run.proposal.rows_handed = True
        return _stacked(run, "draft", [drafted[:i] for i in range(len(drafted))])

    def target_rows(self, tokens: Sequence[int] | None = None) -> Any:
        """The target rows [n + 1, vocab] along the n draft tokens, the bonus row last."""
        run = active()
        drafted = _drafted(run, tokens)
        return _stacked(run, "target", [drafted[:i] for i in range(len(drafted) + 1)])

    def draft_logits(self, tokens: Sequence[int] | None = None) -> Any:
        """The logarithms of `draft_rows`; -inf for zeros."""
        return _log(self.draft_rows(tokens))

    def target_logits(self, tokens: Sequence[int] | None = None) -> Any:
        """The logarithms of `target_rows`; -inf for zeros."""
        return _log(self.target_rows(tokens))

    def model(self, side: str) -> TableModel:
        """A language model of the table: "target" or "draft"."""
        if side not in ("target", "draft"):
            raise AdapterError(f"case.model({side!r})", expected='"target" or "draft"')
        return TableModel(active(), side)


class TableModel:
    """A language model over a table: ``model(ids)`` are logits [..., T, vocab] for ids [..., T],
    the row at t being that after ids[..., : t + 1]. ``model.row(prefix)`` is one row. Prefixes are
    whole token sequences, the context of the step included."""

    def __init__(self, run: Context, side: str) -> None:
        self._run, self.side = run, side

    def row(self, prefix: Iterable[int]) -> Any:
        """The logits [vocab] after a prefix."""
        return _log(_served(self._run, self.side, tuple(int(token) for token in prefix)))

    def __call__(self, ids: Any) -> Any:
        """The logits at every position of ``ids``."""
        listed = ids.tolist() if hasattr(ids, "tolist") else list(ids)
        if listed and isinstance(listed[0], list):
            return _stack(self._run, [self(row) for row in listed])
        return _stack(self._run, [self.row(listed[: i + 1]) for i in range(len(listed))])

    def for_transformers(self) -> Any:
        """The same as a causal language model of transformers with a cache, for `generate`; its
        ``prompt(context)`` are the ids to begin with. Raises AdapterError without the library."""
        try:
            module = import_module("specdist.audit.transformers_model")
        except ImportError as error:
            raise AdapterError(
                f"a model for transformers needs its library: {error}"[:200],
                place=whereabouts(),
                expected="the libraries of the extra 'engines'",
                advice="pip install 'specdist-verifier[engines]'",
            ) from None
        return module.TableForCausalLM(self._run, self.side)


def _drafted(run: Context, tokens: Sequence[int] | None) -> Tokens:
    return tuple(run.proposal.tokens) if tokens is None else tuple(int(token) for token in tokens)


def _prefix(run: Context, at: int | Sequence[int] | None) -> Tokens:
    drafted = tuple(run.proposal.tokens)
    if at is None:
        return run.emitted + drafted
    if isinstance(at, int):
        if not 0 <= at <= len(drafted):
            raise AdapterError(
                f"a row after {at} draft tokens is asked for, and {len(drafted)} are drafted",
                place=whereabouts(),
                expected="draw.categorical(case.draft()) or case.propose(tokens) before it",
            )
        return run.emitted + drafted[:at]
    return run.emitted + tuple(int(token) for token in at)


def _row(run: Context, side: str, at: int | Sequence[int] | None) -> Any:
    return _served(run, side, _prefix(run, at))


def _served(run: Context, side: str, prefix: Tokens) -> Any:
    unknown = [token for token in prefix if not 0 <= token < run.setup.vocab]
    if unknown:
        raise AdapterError(
            f"token {unknown[0]} is outside the vocabulary of {run.setup.vocab} tokens",
            place=whereabouts(),
            expected=f"ids 0 to {run.setup.vocab - 1}",
        )
    row = _array(run, [float(mass) for mass in run.law(side, prefix)])
    run.served[id(row)] = (row, side)
    return row


def _stacked(run: Context, side: str, ends: Sequence[Tokens]) -> Any:
    return _stack(run, [_served(run, side, run.emitted + end) for end in ends])


def uses_torch(run: Context) -> bool:
    """Whether rows are torch tensors."""
    return run.setup.framework == "torch" or (not run.setup.framework and "torch" in sys.modules)


def _array(run: Context, numbers: list[float]) -> Any:
    if uses_torch(run):
        import torch

        return torch.tensor(numbers, dtype=getattr(torch, run.setup.dtype))
    import numpy as np

    return np.array(numbers, dtype=run.setup.dtype)


def _stack(run: Context, rows: list[Any]) -> Any:
    if uses_torch(run):
        import torch

        shape = (0, run.setup.vocab)
        return (
            torch.stack(rows) if rows else torch.empty(shape, dtype=getattr(torch, run.setup.dtype))
        )
    import numpy as np

    return np.stack(rows) if rows else np.empty((0, run.setup.vocab), dtype=run.setup.dtype)


def _log(rows: Any) -> Any:
    if hasattr(rows, "log"):
        return rows.log()
    import numpy as np

    with np.errstate(divide="ignore"):
        return np.log(rows)


case = Case()
