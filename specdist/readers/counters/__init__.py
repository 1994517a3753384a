"""Acceptance counters of engines and of benchmarks, one format a file."""

from specdist.readers.counters.opening import counters_of, open_counters

__all__ = ["counters_of", "open_counters"]
