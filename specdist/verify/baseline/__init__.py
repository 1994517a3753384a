"""A run against an accepted report: matched step by step, compared number by number."""
