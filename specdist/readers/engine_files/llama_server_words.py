"""What is said of a llama-server answer."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.row import Kind, ListedValues
from specdist.readers.engine_files.engine_file import EngineRow
from specdist.readers.engine_files.llama_server_settings import ServerSettings

_SHOWN = 12


def evidence(kind: Kind) -> str:
    """Why the rows are of their stage."""
    if kind is Kind.LOGPROBS:
        return "the server lists a softmax of the raw logits, at temperature 1"
    return "post_sampling_probs: the law after the whole sampler chain"


def concludes(rows: tuple[EngineRow, ...], kind: Kind) -> str:
    """What such rows allow to conclude."""
    used = [row.values for row in rows if row.values is not None]
    if all(not isinstance(values, ListedValues) or values.others == 0 for values in used):
        return "every possible token is listed: exact statements"
    if kind is Kind.PROBABILITIES:
        return "bounds on the processed law, as wide as the unlisted mass"
    return "bounds, as wide as the unlisted mass; ratios of listed tokens exactly"


def warnings(
    rows: tuple[EngineRow, ...],
    settings: ServerSettings,
    kind: Kind,
    slack: Fraction,
    size: int | None,
) -> tuple[str, ...]:
    """What a user must know of these rows."""
    found: list[str] = []
    refused = sum(1 for row in rows if row.refused)
    if refused:
        usable = [row.index - rows[0].index for row in rows if not row.refused]
        found.append(
            f"{refused} of {len(rows)} positions hold no value, as llama-server leaves tokens of a "
            f"verified block; usable: {_numbers(usable)}"
        )
    if kind is Kind.LOGPROBS and size is None:
        found.append(
            "the server adds up its softmax in float32, over a vocabulary of unknown size: a "
            f"common factor within {float(slack):.2g} is left open; --vocab-size N narrows it"
        )
    if kind is Kind.PROBABILITIES and settings.grammar:
        found.append(
            "a grammar was in force: it is applied after the chain, so a listed token may be ruled "
            "out by it"
        )
    return tuple(found)


def _numbers(values: list[int]) -> str:
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(str(value) for value in values[:_SHOWN]) + more
