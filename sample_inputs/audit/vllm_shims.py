"""vLLM's samplers out of an unpacked wheel or source tree: its own files, nothing else of it.

SPECDIST_VLLM names the folder that holds `vllm`. Modules of `REAL` are loaded from there; every
other module of vLLM is a stand-in, whose names are empty classes that cannot be made. What the
samplers do need of them is written out below.
"""

import logging
import os
import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
from triton_interpreter import numbers, tensor, tl, triton

REAL = (
    "vllm.model_executor.warmup.jit_warmup",
    "vllm.model_executor.warmup.jit_warmup_triton_helper",
    "vllm.v1.sample.ops.topk_topp_sampler",
    "vllm.v1.sample.rejection_sampler",
    "vllm.v1.spec_decode.fly",
    "vllm.v1.worker.gpu.sample.gumbel",
    "vllm.v1.worker.gpu.spec_decode.rejection_sampler_utils",
)


def _log1p(value):
    """Of libdevice, which the interpreter does not have."""
    return tl.tensor(tensor(np.log1p(numbers(value)), value.dtype).handle, value.type)


_NEEDED = {
    "vllm.logger": {"init_logger": logging.getLogger},
    "vllm.platforms": {"current_platform": SimpleNamespace(is_cuda=lambda: False)},
    "vllm.triton_utils": {
        "tl": tl, "triton": triton, "tldevice": SimpleNamespace(log1p=_log1p),
        # top-k and top-p by vLLM's torch code, not by its kernel
        "HAS_TRITON": False,
    },
}  # fmt: skip


class _StandIn(ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if f"{self.__name__}.{name}" in REAL:
            return import_module(f"{self.__name__}.{name}")
        return type(name, (), {"__init__": _not_loaded, "__class_getitem__": lambda _, key: object})


def _file(root, name):
    return Path(root, f"{name.replace('.', '/')}.py")


def _not_loaded(self, *_, **__):
    raise NotImplementedError(f"{type(self).__name__} of vLLM is a stand-in here")


class _Tree(MetaPathFinder, Loader):
    def __init__(self, root):
        self._root = Path(root)

    def find_spec(self, name, path=None, target=None):
        if name in REAL:
            return spec_from_file_location(name, _file(self._root, name))
        if name.split(".")[0] == "vllm":
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _StandIn(spec.name)

    def exec_module(self, module):
        vars(module).update(_NEEDED.get(module.__name__, {}))
        if module.__name__ == "vllm":
            facts = {}
            exec((self._root / "vllm/_version.py").read_text(), facts)
            module.__version__ = facts["__version__"]


def install():
    """From here on, `import vllm` means the tree of SPECDIST_VLLM."""
    root = os.environ.get("SPECDIST_VLLM")
    if not root or not all(_file(root, name).exists() for name in REAL):
        raise ImportError(
            "SPECDIST_VLLM names no folder with vllm in it: unpack a wheel of vLLM 0.33.0 there"
        )
    if not any(isinstance(finder, _Tree) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Tree(root))


install()
