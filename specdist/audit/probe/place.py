"""A place in the tree: what is answered already, and the completions to compare runs under."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from specdist.audit.probe.completions import MIXED, scattered, spread
from specdist.audit.probe.questions import Answer, Completion, Question, Trace
from specdist.audit.probe.runs import Runs

Along = Callable[[Answer], Trace]
"""The run with one more answer, under one completion."""


@dataclass(frozen=True)
class Place:
    """``fixed`` are the answers by position; ``extras`` completions that replays added here or
    above; ``traces`` one run for every completion."""

    runs: Runs
    fixed: Mapping[int, Answer]
    extras: tuple[Completion, ...]
    completions: tuple[Completion, ...]
    traces: tuple[Trace, ...]

    @classmethod
    def at(
        cls, runs: Runs, fixed: Mapping[int, Answer], extras: tuple[Completion, ...] = ()
    ) -> Place:
        """The place, with as many completions as a later question has options, and some more."""
        first = runs.run(fixed, scattered(0))
        later = [q for position, q in enumerate(first.questions) if position not in fixed]
        options = max((2, *(question.options for question in later)))
        completions = (
            *(spread(j, options) for j in range(options)),
            *(scattered(seed) for seed in range(MIXED)),
            *extras,
        )
        traces = tuple(runs.run(fixed, completion) for completion in completions)
        return cls(runs, fixed, extras, completions, traces)

    def below(self, position: int, answer: Answer) -> Place:
        """The place after one more answer."""
        return Place.at(self.runs, {**self.fixed, position: answer}, self.extras)

    def also(self, completion: Completion) -> Place:
        """The same place with one more completion."""
        return Place.at(self.runs, self.fixed, (*self.extras, completion))

    @property
    def settled(self) -> bool:
        """Whether every completion comes to the same."""
        return all(trace.outcome == self.traces[0].outcome for trace in self.traces)

    def open_draws(self) -> list[tuple[int, Question]]:
        """The next draws that every completion makes alike; the first one is always among them."""
        found = []
        for position, question in enumerate(self.traces[0].questions):
            if not all(trace.asks(position, question) for trace in self.traces):
                break
            if position not in self.fixed:
                found.append((position, question))
        return found

    def along(self, position: int) -> list[Along]:
        """For every completion, the run as a function of the answer at a position."""

        def run(completion: Completion, answer: Answer) -> Trace:
            return self.runs.run({**self.fixed, position: answer}, completion)

        return [partial(run, completion) for completion in self.completions]
