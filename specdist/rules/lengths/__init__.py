"""Length rules: how many of the drafted tokens of a chain are verified."""
