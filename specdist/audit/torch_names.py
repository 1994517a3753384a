"""What torch's functions are to a tensor of uniforms, by their names."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PLAIN = _names(
    "size dim ndimension numel nelement stride __len__ is_contiguous is_floating_point is_complex "
    "element_size storage_offset get_device is_pinned has_names zeros_like ones_like "
    "empty_like full_like new_empty new_zeros new_ones new_full new_tensor is_tensor "
    "is_same_size get.shape get.dtype get.device get.layout get.ndim get.requires_grad "
    "get.is_cuda get.is_leaf get.grad get.grad_fn get.is_sparse get.is_meta get.is_cpu "
    "get.is_quantized get.names get.is_nested get._base get.nbytes get.itemsize get.is_mps "
    "get.is_xpu requires_grad_ __hash__ _is_view result_type"
)
"""Shape and type alone decide: torch is asked as it is."""

STRUCTURE = _names(
    "__getitem__ reshape view view_as reshape_as squeeze unsqueeze expand expand_as flatten "
    "unflatten ravel transpose permute t swapaxes swapdims movedim moveaxis contiguous clone "
    "detach alias gather index_select select narrow split chunk unbind cat concat concatenate "
    "stack vstack hstack repeat repeat_interleave tile flip roll take_along_dim masked_select "
    "take broadcast_to atleast_1d atleast_2d squeeze_ unsqueeze_ get.T get.mT get.data "
    "diagonal split_with_sizes tensor_split unfold where masked_fill index_put"
)
"""Elements are moved; a number may take the place of some."""

SAME = _names("to type float double half bfloat16 cpu type_as positive cuda")
"""The elements stay where they are, in another float format."""

TRUTHS = _names("less less_equal greater greater_equal")
WHOLE = _names("floor ceil trunc round fix long int short byte searchsorted bucketize")
"""Results that are truths or whole numbers: they are decided."""

MONOTONE = _names(
    "negative log log2 log10 log1p exp exp2 expm1 sqrt sigmoid tanh reciprocal add subtract "
    "multiply divide power clamp clamp_min clamp_max maximum minimum logit square "
    "softmax log_softmax"
)
"""Functions of one uniform, element by element, that are monotone where `POSITIVE` holds."""

POSITIVE = _names("log log2 log10 sqrt power square logit")
"""Those that need an argument of at least 0 to be monotone or defined."""

_SPELLINGS = {
    "lt": "less", "__lt__": "less", "le": "less_equal", "__le__": "less_equal",
    "gt": "greater", "__gt__": "greater", "ge": "greater_equal", "__ge__": "greater_equal",
    "neg": "negative", "__neg__": "negative", "sub": "subtract", "__sub__": "subtract",
    "__rsub__": "reversed subtract", "rsub": "reversed subtract", "mul": "multiply",
    "__mul__": "multiply", "__rmul__": "multiply", "__add__": "add", "__radd__": "add",
    "div": "divide", "true_divide": "divide", "__truediv__": "divide", "__div__": "divide",
    "__rtruediv__": "reversed divide", "__rdiv__": "reversed divide", "pow": "power",
    "__pow__": "power", "float_power": "power", "__rpow__": "reversed power",
    "clip": "clamp", "__iadd__": "add_", "__isub__": "subtract_", "__imul__": "multiply_",
    "__idiv__": "divide_", "__itruediv__": "divide_", "__pos__": "positive",
    "_softmax": "softmax", "special_expit": "sigmoid", "special_log1p": "log1p",
}  # fmt: skip


def name_of(function: object) -> str:
    """The name of a torch function under which the tables know it; ``get.NAME`` for the reading of
    an attribute, ``set.NAME`` for its writing, a last ``_`` for work in place."""
    name = getattr(function, "__name__", "")
    if name in ("__get__", "__set__"):
        return f"{name.strip('_')}.{getattr(getattr(function, '__self__', None), '__name__', '')}"
    if name in _SPELLINGS:
        return _SPELLINGS[name]
    if name.endswith("_") and not name.endswith("__"):
        return _SPELLINGS.get(name[:-1], name[:-1]) + "_"
    return name
