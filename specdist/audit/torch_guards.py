"""Ways past the audit that torch leaves open: tensors of random numbers are refused there.

Such a tensor holds nan, so what reads it without being followed would decide by nan. Other threads
have no mode of calls: they meet the class. Scripted code, and vmap, take the memory itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn
from unittest.mock import patch

import torch
import torch._functorch.vmap
from torch.overrides import TorchFunctionMode

from specdist.audit.torch_state import Tensor, TracedTensor, traced_arguments
from specdist.audit.uniform import refuse


def _unfollowed(_: Any, function: Any, *_given: Any) -> NoReturn:
    name = getattr(function, "__name__", str(function))
    raise refuse(f"torch.{name} of a random number in another thread, or after its run,",
                 "compare it in the thread that draws it")  # fmt: skip


def _scripted(real: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if traced_arguments(args, kwargs):
            raise refuse("scripted code on a random number", "call the function without torch.jit")
        before = torch.default_generator.get_state()
        found = real(self, *args, **kwargs)
        if not torch.equal(before, torch.default_generator.get_state()):
            raise refuse("scripted code that draws", "call the function without torch.jit")
        return found

    return call


def _batched(real: Callable[..., Any]) -> Callable[..., Any]:
    def call(tensor: Tensor, *args: Any) -> Any:
        if isinstance(tensor, TracedTensor):
            raise refuse("torch.vmap over a random number", "write the batch out")
        return real(tensor, *args)

    return call


def refuse_unowned(name: str, args: Sequence[Any], given: Mapping[str, Any]) -> None:
    """Refuses draws that no answer fits: under vmap, and with laws that are random themselves."""
    if torch._C._functorch.peek_interpreter_stack() is not None:
        raise refuse(f"torch.{name} under torch.func", "draw outside of vmap and grad")
    law = args[1:] if name.endswith(("_", "_like")) else args
    if traced_arguments(law, given):
        raise refuse(f"torch.{name} with a random law", "draw from numbers")


@contextmanager
def guarded(mode: TorchFunctionMode) -> Iterator[None]:
    """Within ``mode``, with every way past it closed."""
    with ExitStack() as stack:
        for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod):
            stack.enter_context(patch.object(kind, "__call__", _scripted(kind.__call__)))
        batch: Any = torch._functorch.vmap
        adding = _batched(batch._add_batch_dim)
        stack.enter_context(patch.object(batch, "_add_batch_dim", adding))
        stack.enter_context(
            patch.object(TracedTensor, "__torch_function__", classmethod(_unfollowed))
        )
        stack.enter_context(mode)
        yield
