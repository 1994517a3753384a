"""Probe mode: the law of a black box, found by feeding it numbers and comparing what it does."""

from specdist.audit.probe.measuring import DELTA, REPLAYS, Probed, probed

__all__ = ["DELTA", "REPLAYS", "Probed", "probed"]
