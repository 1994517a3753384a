"""Known faults of speculative decoders, one kind a module; each yields its engine models."""
