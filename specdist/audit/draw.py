"""``draw``: random numbers that the audit answers. Every one is a decision, with exact mass."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from specdist.audit.context import Context, active
from specdist.audit.grid import FLOAT64, Atom, Grid
from specdist.audit.refusals import AdapterError
from specdist.audit.uniform import Uniform
from specdist.audit.whereabouts import whereabouts


class Draw:
    """Controlled randomness, for what the audited code does not draw by itself."""

    def categorical(self, weights: Any) -> int:
        """An index, with probability proportional to its weight; floats are the binary rationals
        that they are. Of a row of `case.draft` it is a draft token of the step."""
        run = active()
        shares = exact_shares(weights)
        token = choose_index(run, shares, "a categorical draw")
        _, side = run.served.get(id(weights), (None, ""))
        if side == "draft":
            run.proposal.tokens.append(token)
        return token

    def bernoulli(self, probability: Any) -> bool:
        """True with this probability."""
        share = _rational(probability)
        if not 0 <= share <= 1:
            raise AdapterError(
                f"a probability of {float(share):g}", place=whereabouts(), expected="0 to 1"
            )
        return choose_index(active(), (1 - share, share), "a Bernoulli draw") == 1

    def uniform(self, bits: int = FLOAT64.bits) -> Uniform:
        """A number k / 2^bits in [0, 1), to be compared."""
        return new_uniform(active(), Grid(bits))

    def uniforms(self, count: int, bits: int = FLOAT64.bits) -> list[Uniform]:
        """``count`` of them."""
        return [self.uniform(bits) for _ in range(count)]


def new_uniform(run: Context, grid: Grid) -> Uniform:
    """A fresh uniform of the run; it costs no decision before it is compared."""
    return Uniform(new_atom(run, grid))


def new_atom(run: Context, grid: Grid) -> Atom:
    """A fresh grid point of the run, named by its number."""
    run.draws += 1
    return Atom(run.session, grid, f"uniform {run.draws} ({grid})")


def choose_index(run: Context, shares: Sequence[Fraction], what: str) -> int:
    """One index, decided; weights of 0 are branches that are never taken."""
    total = sum(shares)
    if total <= 0 or min(shares) < 0:
        raise AdapterError(
            f"{what} from weights that are no law: {_short(shares)}",
            place=whereabouts(),
            expected="weights of at least 0, with a positive sum",
        )
    masses = tuple(share / total for share in shares)
    return run.choose(f"{what} of {_short(shares)}", masses)


def exact_shares(weights: Any) -> tuple[Fraction, ...]:
    """Weights as exact numbers. Raises AdapterError for what is no row of finite numbers."""
    listed = weights.tolist() if hasattr(weights, "tolist") else list(weights)
    if not isinstance(listed, list) or not listed or isinstance(listed[0], list):
        raise AdapterError("weights that are no row", place=whereabouts(), expected="a row [V]")
    return tuple(_rational(weight) for weight in listed)


def _rational(value: Any) -> Fraction:
    try:
        return Fraction(value.item() if hasattr(value, "item") else value)
    except (ValueError, OverflowError, TypeError):
        raise AdapterError(
            f"{value!r} is no finite number", place=whereabouts(), expected="finite weights"
        ) from None


def _short(shares: Sequence[Fraction]) -> str:
    shown = ", ".join(f"{float(share):.6g}" for share in shares[:8])
    return f"[{shown}{', ...' if len(shares) > 8 else ''}]"


draw = Draw()
