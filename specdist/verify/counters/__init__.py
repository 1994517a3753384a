"""Counters of engines: their definitions, their contradictions, and the exact acceptance."""
