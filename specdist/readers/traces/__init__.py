"""Readers of recorded steps: a folder or a file of JSON lines, with the rows beside it."""
