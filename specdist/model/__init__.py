"""The nouns: plain immutable values that travel through the pipeline. No logic lives here."""
