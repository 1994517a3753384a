"""specdist: is the law of what a speculative decoder emits the law of its target? Exactly."""

__version__ = "0.1.0"
