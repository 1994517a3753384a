"""What each of torch's draw functions is answered with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from specdist.audit import noise_algebra
from specdist.audit.context import Context
from specdist.audit.draw import choose_index, new_atom, new_uniform
from specdist.audit.grid import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Grid
from specdist.audit.torch_state import Source, Tensor, Traced, attach, forget, is_shared
from specdist.audit.uniform import refuse

_GRIDS = {
    torch.float32: FLOAT32, torch.float64: FLOAT64, torch.float16: FLOAT16,
    torch.bfloat16: BFLOAT16,
}  # fmt: skip
_VIEW = "make a tensor of its own and draw into that"


def _grid(run: Context, tensor: Tensor) -> Grid:
    if tensor.device.type != "cpu":
        raise refuse(f"a draw on {tensor.device}", "audit on the CPU: device='cpu'")
    return _GRIDS[tensor.dtype]


def _uniforms(run: Context, tensor: Tensor) -> Tensor:
    """Fills a new tensor with uniforms on [0, 1)."""
    grid = _grid(run, tensor)
    if run.probing:
        points: list[Any] = [new_uniform(run, grid) for _ in range(tensor.numel())]
        return tensor.copy_(torch.tensor(points, dtype=tensor.dtype).reshape(tensor.shape))
    atoms = [new_atom(run, grid) for _ in range(tensor.numel())]
    source = Source(_first(run, tensor), tuple(tensor.shape), tensor.dtype, atoms)
    noise = noise_algebra.uniform(tuple(tensor.shape))
    tensor.fill_(torch.nan)
    return attach(tensor, Traced((source,), _ids(source), lambda p: p[source.first], noise))


def _first(run: Context, tensor: Tensor) -> int:
    """The id of the first element of a new draw."""
    used: int = run.streams.get("torch elements", 0)
    run.streams["torch elements"] = used + max(1, tensor.numel())
    return used


def _ids(source: Source) -> Tensor:
    count = max(1, int(np.prod(source.shape)))
    return torch.arange(source.first, source.first + count)[: int(np.prod(source.shape))].reshape(
        source.shape
    )


def rand(run: Context, *shape: Any, **options: Any) -> Tensor:
    """``torch.rand``."""
    return _uniforms(run, torch.empty(*shape, **options).detach())


def rand_like(run: Context, like: Tensor, **options: Any) -> Tensor:
    """``torch.rand_like``."""
    return _uniforms(run, torch.empty_like(like.detach(), **options))


def uniform_(run: Context, tensor: Tensor, least: float = 0.0, most: float = 1.0) -> Tensor:
    """``tensor.uniform_(least, most)``: u (most - least) + least."""
    _refuse_view(tensor, "uniform_")
    forget(tensor)
    if (least, most) == (0.0, 1.0):
        return _uniforms(run, tensor)
    raise refuse("uniform_ on another interval than [0, 1)", "scale a uniform of [0, 1)")


def exponential_(run: Context, tensor: Tensor, lambd: float = 1.0) -> Tensor:
    """``tensor.exponential_(lambd)``: E / lambd, to be raced along the last axis."""
    _refuse_view(tensor, "exponential_")
    forget(tensor)
    shape = tuple(tensor.shape)
    if run.probing:
        return tensor.copy_(_noise(run, tensor) / lambd)
    run.draws += 1
    source = Source(_first(run, tensor), shape, tensor.dtype)
    noise = noise_algebra.exponential(shape)
    if lambd != 1:
        noise = noise_algebra.changed(noise, "divide", lambd) or noise
    tensor.fill_(torch.nan)
    return attach(tensor, Traced((source,), _ids(source), None, noise))


def _noise(run: Context, tensor: Tensor) -> Tensor:
    width = tensor.shape[-1] if tensor.dim() else 1
    rows = [run.noise(width, "torch exponential_") for _ in range(tensor.numel() // max(1, width))]
    return torch.tensor(rows, dtype=torch.float64).reshape(tensor.shape)


def _refuse_view(tensor: Tensor, name: str) -> None:
    if is_shared(tensor):
        raise refuse(f"{name} in place in a tensor that another one looks into", _VIEW)


def multinomial(
    run: Context,
    probabilities: Tensor,
    num_samples: int,
    replacement: bool = False,
    **_options: Any,
) -> Tensor:
    """``torch.multinomial``: categorical draws, without replacement one after the other."""
    valid = probabilities.is_floating_point() and bool(
        (torch.isfinite(probabilities) & (probabilities >= 0)).all()
    )
    rows = probabilities.reshape(-1, probabilities.shape[-1]).tolist()
    enough = all(sum(map(bool, row)) >= (1 if replacement else num_samples) for row in rows)
    if not (valid and enough and probabilities.dim() in (1, 2) and num_samples > 0):
        torch.multinomial(probabilities, num_samples, replacement)  # its own error
        raise refuse("multinomial with fewer weights than samples", "draw fewer")
    found: list[list[int]] = []
    for row in rows:
        shares = [Fraction(weight) for weight in row]
        drawn: list[int] = []
        for _ in range(num_samples):
            drawn.append(choose_index(run, shares, "torch.multinomial"))
            if not replacement:
                shares[drawn[-1]] = Fraction(0)
        found.append(drawn)
    return torch.tensor(found).reshape(*probabilities.shape[:-1], num_samples)


def bernoulli(run: Context, tensor: Tensor, p: float | None = None, **_: Any) -> Tensor:
    """``torch.bernoulli``: 1 with the probability of the element, or ``p``."""
    given = tensor if p is None else torch.full_like(tensor, p, dtype=torch.float64)
    law = given.is_floating_point() and bool(((given >= 0) & (given <= 1)).all())
    if not law:
        return torch.bernoulli(given)  # its own error
    shares = [Fraction(share) for share in given.flatten().tolist()]
    drawn = [choose_index(run, (1 - share, share), "torch.bernoulli") for share in shares]
    return torch.tensor(drawn).reshape(tensor.shape).to(tensor.dtype)


def bernoulli_(run: Context, tensor: Tensor, p: Any = 0.5) -> Tensor:
    """``tensor.bernoulli_(p)``."""
    given = p.expand(tensor.shape) if isinstance(p, torch.Tensor) else None
    like = tensor.detach().double()
    drawn = bernoulli(run, like, p) if given is None else bernoulli(run, given)
    forget(tensor)
    return tensor.copy_(drawn)


ANSWERS: dict[str, Callable[..., Any]] = {
    "rand": rand, "rand_like": rand_like, "uniform_": uniform_, "exponential_": exponential_,
    "multinomial": multinomial, "bernoulli": bernoulli, "bernoulli_": bernoulli_,
}  # fmt: skip
"""Draw functions, in and out of place."""

REFUSED = frozenset(
    ["randn", "randn_like", "normal", "normal_", "randint", "randint_like", "random_", "randperm",
     "geometric_", "cauchy_", "log_normal_", "poisson", "binomial", "_standard_gamma",
     "_sample_dirichlet", "rrelu", "rrelu_", "kaiming_uniform_", "kaiming_normal_",
     "xavier_uniform_", "xavier_normal_", "trunc_normal_", "gumbel_softmax",
     "fractional_max_pool2d", "fractional_max_pool3d"]
)  # fmt: skip
"""Draw functions that are not followed."""


def _drops(args: Sequence[Any], given: Mapping[str, Any]) -> bool:
    p = given.get("p", args[1] if len(args) > 1 else 0.5)
    train = given.get("training", given.get("train", args[2] if len(args) > 2 else True))
    return bool(train) and bool(p)


def _attention_drops(args: Sequence[Any], given: Mapping[str, Any]) -> bool:
    return bool(given.get("dropout_p", args[4] if len(args) > 4 else 0.0))


FOLLOWED_BY_SHAPE: dict[str, Callable[..., bool]] = {
    "dropout": _drops, "dropout_": _drops, "alpha_dropout": _drops, "feature_dropout": _drops,
    "native_dropout": _drops, "scaled_dot_product_attention": _attention_drops,
}  # fmt: skip
"""Functions that draw in training only: whether this call does."""
