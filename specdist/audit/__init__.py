"""The exact law of a real sampler, by driving its randomness: ``specdist audit FILE.py:step``."""
