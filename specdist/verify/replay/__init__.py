"""Recorded steps held against the laws of an engine."""
