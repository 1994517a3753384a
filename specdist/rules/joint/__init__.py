"""Rules over whole proposals: chains and trees of draft tokens."""
