"""Triton kernels on the CPU: its interpreter, three times as quick, and numbers for its kernels.

Import `triton` and `tl` from here: Triton reads TRITON_INTERPRET while it is imported. The text of
a kernel stays as it is.
"""

import inspect
import os
from dataclasses import replace
from functools import lru_cache

import numpy as np

os.environ["TRITON_INTERPRET"] = "1"

import triton
import triton.language as tl
from triton.runtime import interpreter

if not isinstance(tl.argmax, interpreter.InterpretedFunction):
    raise ImportError("triton was imported as a compiler: set TRITON_INTERPRET=1 before the start")
__all__ = ["numbers", "tensor", "tl", "triton"]

_TILES = ("BLOCK_SIZE", "MAX_NUM_TOKENS")
_LANES = 64


class _Kept:
    """The interpreter takes its patches of triton.language back after a kernel; these stay."""

    def restore(self):
        pass


def _patch_once(patch):
    seen = set()

    def patched(function):
        names = function.__globals__
        key = any(value is tl for value in names.values()), names.get("core") is tl.core
        if key not in seen:
            seen.add(key)
            patch(function)
        return _Kept()

    return lru_cache(maxsize=None)(patched)


def _by_name(format_of):
    known = {}

    def found(kind):
        key = str(kind.scalar)
        if key not in known:
            known[key] = format_of(kind)
        return known[key]

    return found


def quicken():
    """Patches triton.language once instead of at every call, looks signatures and formats up once,
    leaves arguments where they are (on the CPU), leaves the check of integer overflow out, and cuts
    tiles of thousands of lanes to 64: more tokens than a table has."""
    interpreter._patch_lang = _patch_once(interpreter._patch_lang)
    interpreter._get_np_dtype = _by_name(interpreter._get_np_dtype)
    interpreter.GridExecutor._init_args_hst = lambda _, arguments, options: (arguments, options)
    interpreter.GridExecutor._restore_args_dev = lambda *_: None
    builder = interpreter.interpreter_builder
    builder.options = replace(builder.options, sanitize_overflow=False)
    inspect.getfullargspec = lru_cache(maxsize=None)(inspect.getfullargspec)
    interpreter.InterpretedFunction.run = _with_small_tiles(interpreter.InterpretedFunction.run)


def _with_small_tiles(run):
    def smaller(kernel, *arguments, **options):
        cut = {name: min(options[name], _LANES) for name in _TILES if name in options}
        with np.errstate(all="ignore"):  # as a GPU: infinities and NaN without a word
            return run(kernel, *arguments, **options | cut)

    return smaller


def tensor(values, dtype):
    """Numbers as a kernel sees them: a scalar, or a block of them."""
    data = np.atleast_1d(np.asarray(values, dtype=interpreter._get_np_dtype(dtype)))
    kind = tl.block_type(dtype, [data.size]) if np.ndim(values) else dtype
    return tl.tensor(interpreter.TensorHandle(data, dtype), kind)


def numbers(value):
    """What a kernel sees as numbers: those of a scalar or block, in an array."""
    return value.handle.data if isinstance(value, tl.tensor) else np.asarray([value])


quicken()
