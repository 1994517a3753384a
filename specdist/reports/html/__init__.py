"""The HTML pages: one self-contained file each, no network, nothing computed."""
