"""Capture formats, one a file: from a file to captures of steps. Imports no numpy by itself."""

from specdist.readers.draft_map_file import load_draft_map, load_file_map
from specdist.readers.opening import describe, open_captures, open_pair
from specdist.readers.vocab_file import load_vocab

__all__ = [
    "describe",
    "load_draft_map",
    "load_file_map",
    "load_vocab",
    "open_captures",
    "open_pair",
]
