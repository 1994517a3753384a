"""Whether the schedule of a batch can be followed while drafts are revealed one after the other.

The requests of a batch emit independently if the drafts can be revealed in some order in which a
token is revealed only once it is known to be verified. At a state (verified prefixes so far, and
which requests have ended) the next token x of request r may come next iff

    Pr(state, x drafted, x verified) / Q(x | prefix of r)

does not depend on x: its admission looks at nothing of it, and nothing known of the others tells it
apart from a fresh draw. If no request may come next, the schedule looks at a token that is not
revealed yet: that state and token are the witness. Each request by itself can still be right.
Derived; for one request this is the condition of 2607.05147, appendix A.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from specdist.model.conditional import Prefix
from specdist.verify.joint.admission import draft_masses
from specdist.verify.joint.batch_setup import Batch, Scheduled

_ZERO = Fraction(0)
_MOST_STATES = 20_000


@dataclass(frozen=True, slots=True)
class Reveal:
    """A token of a request whose admission depends on it, given what is revealed. ``densities`` are
    how often each token of the family is drafted and verified there, against a fresh draw of it
    (1: the same); ``least`` and ``most`` are the ends."""

    request: int
    revealed: tuple[Prefix, ...]
    least: int
    most: int
    densities: dict[int, Fraction]


class TooManyStatesError(Exception):
    """More orders than are looked at."""


@dataclass(frozen=True, slots=True)
class _State:
    """What is revealed of each request, which have ended, and what may have been drafted."""

    revealed: tuple[Prefix, ...]
    ended: tuple[bool, ...]
    left: tuple[Scheduled, ...]

    def admitted(self, request: int, token: int) -> _State:
        place = len(self.revealed[request])
        prefixes = list(self.revealed)
        prefixes[request] = (*prefixes[request], token)
        left = tuple(
            entry
            for entry in self.left
            if entry.lengths[request] > place and entry.blocks[request][place] == token
        )
        return _State(tuple(prefixes), self.ended, left)

    def stopped(self, request: int) -> _State:
        place = len(self.revealed[request])
        ended = tuple(done or r == request for r, done in enumerate(self.ended))
        left = tuple(entry for entry in self.left if entry.lengths[request] == place)
        return _State(self.revealed, ended, left)


def unrevealed(batch: Batch) -> Reveal | None:
    """The first token whose admission no order of revealing explains; None where one order does.

    Raises `TooManyStatesError` after 20,000 states.
    """
    return _Search(batch).first()


class _Search:
    def __init__(self, batch: Batch) -> None:
        self._laws: list[dict[Prefix, dict[int, Fraction]]] = [
            _draws(batch, r) for r in range(len(batch.setups))
        ]
        count = len(batch.setups)
        self._start = _State(((),) * count, (False,) * count, batch.scheduled)
        self._seen = 0

    def first(self) -> Reveal | None:
        return self._from(self._start)

    def _from(self, state: _State) -> Reveal | None:
        self._seen += 1
        if self._seen > _MOST_STATES:
            raise TooManyStatesError(self._seen)
        running = [r for r, prefix in enumerate(state.revealed) if self._goes_on(state, r, prefix)]
        running.sort(key=lambda r: (len(state.revealed[r]), r))
        found: Reveal | None = None
        for request in running:
            densities = self._densities(state, request)
            if len(set(densities.values())) > 1:
                found = found or _witness(state, request, densities)
                continue
            deeper = self._branches(state, request, densities)
            if deeper is None:
                return None
            found = deeper if found is None or _depth(deeper) > _depth(found) else found
        return found

    def _goes_on(self, state: _State, request: int, prefix: Prefix) -> bool:
        return not state.ended[request] and prefix in self._laws[request]

    def _densities(self, state: _State, request: int) -> dict[int, Fraction]:
        """How often each token is drafted and verified here, against a fresh draw of it."""
        place = len(state.revealed[request])
        total = sum((entry.mass for entry in state.left), _ZERO)
        law = self._laws[request][state.revealed[request]]
        masses = dict.fromkeys(law, _ZERO)
        for entry in state.left:
            if entry.lengths[request] > place:
                masses[entry.blocks[request][place]] += entry.mass
        return {token: masses[token] / (total * chance) for token, chance in law.items()}

    def _branches(
        self, state: _State, request: int, densities: dict[int, Fraction]
    ) -> Reveal | None:
        for token, density in densities.items():
            if density and (found := self._from(state.admitted(request, token))) is not None:
                return found
        stopped = state.stopped(request)
        return self._from(stopped) if stopped.left else None


def _draws(batch: Batch, request: int) -> dict[Prefix, dict[int, Fraction]]:
    """The law of the next drafted token of a request after each of its prefixes."""
    setup = batch.setups[request]
    masses = draft_masses(setup.tree, setup.laws)
    found: dict[Prefix, dict[int, Fraction]] = {}
    for prefix, mass in masses.items():
        if prefix:
            found.setdefault(prefix[:-1], {})[prefix[-1]] = mass / masses[prefix[:-1]]
    return found


def _witness(state: _State, request: int, densities: dict[int, Fraction]) -> Reveal:
    least, most = (
        min(densities, key=densities.__getitem__),
        max(densities, key=densities.__getitem__),
    )
    return Reveal(request, state.revealed, least, most, densities)


def _depth(reveal: Reveal) -> int:
    return sum(map(len, reveal.revealed))
