"""Two recorded outputs compared; a near-tie is told from a difference that needs another cause."""
