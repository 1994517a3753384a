"""Steps over conditional models: the joint law of what a whole step emits."""
