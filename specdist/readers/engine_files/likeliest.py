"""Lists of likely tokens at one position, and what they say of the tokens that they leave out.

Engines list a position in one of these ways, n entries with the sampled token s among them:

- *merged*: s, then the k likeliest without s. n = k where s is one of the k, else k + 1
  (vLLM 0.33: its objects, `vllm/logprobs.py`, and its completions);
- *cut*: the first k entries of that order (vLLM's chat answers, `chat_completion/serving.py`).
  Where s is not among the k likeliest, the k-th likeliest is missing, so an unlisted token may be
  likelier than s;
- *likeliest*: the k likeliest, and s with its value apart (OpenAI and others), or left out of them
  (LMDeploy).

For all three, if some listed token is less likely than s, then s is itself one of the likeliest,
nothing between is missing, and no unlisted token exceeds the least listed value. Otherwise only the
least value of the *others* bounds the unlisted ones. A rank, or a known k, decides more.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

from specdist.readers.engine_files.logprob_lists import (
    Entry,
    Ranking,
    TokenList,
    number_of,
    values_of,
)
from specdist.readers.engine_files.logprob_numbers import Absent


def falling(found: TokenList) -> bool:
    """Whether the entries beside the sampled one stand in falling order of their values."""
    return all(before >= after for before, after in pairwise(values_of(found.others())))


def ranks_hold(found: TokenList) -> bool:
    """Whether the ranks fit a list of the likeliest tokens.

    A rank is the place in the order, or the number of tokens at least as likely (vLLM's count of
    the sampled token, which differs at ties). So with r the rank of the sampled token among n
    entries, at most r - 1 others are likelier and at least min(r, n) - 1 as likely; the others
    hold the ranks from 1 on, that of the sampled token perhaps left out. vLLM numbers tokens that
    were asked for by name (``logprob_token_ids``) as if they were the likeliest: those do not fit.
    """
    others = found.others()
    ranked = [(item.rank, item.value) for item in others if item.rank is not None]
    if ranked:
        ranks = {rank for rank, _ in ranked}
        largest = max(ranks)
        missing, own_rank = largest - len(ranks), found.rank or 0
        left_out = missing == 1 and 0 < own_rank < largest and own_rank not in ranks
        if len(ranks) < len(others) or min(ranks) < 1 or not (missing == 0 or left_out):
            return False
        ordered = [value for _, value in sorted(ranked) if not isinstance(value, Absent)]
        if any(before < after for before, after in pairwise(ordered)):
            return False
    own = number_of(found.own())
    if own is None or found.rank is None:
        return True
    values = values_of(others)
    likelier = sum(value > own for value in values)
    as_likely = sum(value >= own for value in values)
    return likelier < found.rank and as_likely >= min(found.rank, len(found.entries)) - 1


class Asked(NamedTuple):
    """The number k of alternatives that a request asked for: exactly, where lists prove it, and
    the least that it can be."""

    exactly: int | None
    at_least: int


def requested(lists: Sequence[TokenList]) -> Asked:
    """The k of the merged lists of one request. A list in which some token is less likely than
    the sampled one has k entries, any other k or k + 1, and none has more; one with fewer than k
    lacks some."""
    proven = largest = 0
    for found in lists:
        largest = max(largest, len(found.entries))
        own = number_of(found.own())
        if own is not None and min(values_of(found.others()), default=inf) < own:
            proven = max(proven, len(found.entries))
    least = max(proven, largest - 1)
    return Asked(proven if proven == least else None, least)


def named_tokens(lists: Sequence[TokenList]) -> bool | None:
    """Whether every position lists the same tokens beside its own, as lists of tokens that were
    asked for by name do. None where too few positions, or too short lists without ranks, do not
    tell."""
    several = [found for found in lists if len(found.entries) > 1]
    if not several:
        return False
    shared = set.intersection(*({item.token for item in found.entries} for found in several))
    same = all(item.token in shared for found in several for item in found.others())
    if same and len(several) >= _FEWEST and min(map(_length, several)) >= _FEWEST:
        return True
    return None if same else False


def _length(found: TokenList) -> int:
    return len(found.entries)


_FEWEST = 3
"""Positions, and tokens of each, from which on equal lists are no accident."""


def split(found: TokenList, asked: Asked | None) -> tuple[list[Entry], list[Entry]]:
    """The entries with known values, as the likeliest tokens, falling and none left out between
    them, and the rest of which nothing follows. ``asked`` belongs to merged lists."""
    usable = [item for item in found.entries if isinstance(item.value, float)]
    if found.ranking is Ranking.SET:
        return _sorted(usable), []
    short = asked is not None and len(found.entries) < asked.at_least
    if found.ranking is Ranking.UNKNOWN or short or not _in_order(found):
        return [], usable
    if found.sampled is None:
        return _without_sampled(found, usable)
    own = found.own()
    if own not in usable:
        return _sorted(usable), []
    others = [item for item in usable if item is not own]
    if _is_one_of_them(found, others, asked):
        return _sorted(usable), []
    return _sorted(others), [item for item in usable if item is own]


def _in_order(found: TokenList) -> bool:
    """Whether ranks, or the order of the file where it has none, fit a list of the likeliest."""
    ranked = all(item.rank is not None for item in found.others())
    return ranks_hold(found) and (ranked or falling(found))


def _without_sampled(found: TokenList, usable: list[Entry]) -> tuple[list[Entry], list[Entry]]:
    """At most one entry, the least likely, is there only because it was sampled; none, where the
    ranks run from 1 to the last (`_in_order` has seen that they do)."""
    ordered = _sorted(usable)
    if all(item.rank is not None for item in found.entries):
        return ordered, []
    return ordered[:-1], ordered[-1:]


def _is_one_of_them(found: TokenList, others: list[Entry], asked: Asked | None) -> bool:
    """Whether the sampled token and the others are the n likeliest tokens."""
    if found.rank is not None:
        return found.rank <= len(found.entries)
    if asked is not None and asked.exactly is not None:
        return len(found.entries) <= asked.exactly
    own = number_of(found.own())
    return own is not None and min(values_of(others), default=inf) < own


def _sorted(entries: list[Entry]) -> list[Entry]:
    """Entries with known values, falling; equal ones in the order of the file."""
    values = values_of(entries)
    order = sorted(range(len(values)), key=values.__getitem__, reverse=True)
    return [entries[i] for i in order]
