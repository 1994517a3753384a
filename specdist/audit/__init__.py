"""The exact law of a real sampler, by driving its randomness: ``specdist audit FILE.py:step``."""

from specdist.audit.case import case
from specdist.audit.draw import draw

__all__ = ["case", "draw"]
