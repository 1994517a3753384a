"""What is said of a file of lists: facts for `inspect`, and what such a file allows to conclude."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.row import Kind, Stage
from specdist.readers.engine_files.likeliest import Asked
from specdist.readers.engine_files.list_evidence import mass
from specdist.readers.engine_files.listed_rows import ListedRows, Request
from specdist.readers.engine_files.logprob_lists import TokenList


def list_facts(
    lists: Sequence[TokenList],
    usable: Sequence[TokenList],
    kind: Kind,
    asked: dict[Request, Asked],
) -> list[tuple[str, str]]:
    """Facts for `inspect`: how many entries, how much mass, what was asked for."""
    counts = [len(found.entries) for found in lists]
    facts = [("entries a position", range_text(counts))]
    for drawn, what in ((True, "alternatives asked for"), (False, "asked for in the prompt")):
        known = {
            found.exactly
            for (_, was_drawn), found in asked.items()
            if was_drawn is drawn and found.exactly is not None
        }
        if known:
            facts.append((what, ", ".join(map(str, sorted(known)))))
    if kind is Kind.LOGPROBS:
        facts.append(("listed mass", range_text([mass(found) for found in lists])))
    alone = sum(found.own() is None for found in usable)
    if alone:
        facts.append(("token not named", f"at {alone} positions"))
    return facts


def range_text(values: Sequence[float]) -> str:
    """``3 to 4``, or one number where all are equal."""
    low, high = f"{min(values):.6g}", f"{max(values):.6g}"
    return low if low == high else f"{low} to {high}"


def concludes_of(rows_of: ListedRows, service: bool) -> str:
    """What the rows allow to conclude. ``service``: a hosted one, which tells of no draft."""
    if not rows_of.partial:
        text = "exact statements: every possible token is listed"
        text += " (of the processed law)" if rows_of.stage is Stage.PROCESSED else ""
    elif rows_of.kind is Kind.LOGITS:
        text = "quotients of listed tokens, and intervals: the normaliser is not in the file"
    else:
        text = "intervals, as wide as the mass that is not listed; listed tokens exactly"
    if service:
        text += "; nothing of a draft model, which the service does not tell"
    return text
