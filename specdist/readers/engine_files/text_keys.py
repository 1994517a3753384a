"""Lists whose keys are decoded texts: labels with values, and never a law."""

from __future__ import annotations

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import array_lists
from specdist.readers.engine_files.engine_file import EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import Ranking, TokenList
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers


def text_file(
    document: Node, source: ListedSource, numbers: LogprobNumbers, reading: ReadingSettings
) -> EngineFile:
    """The rows of every choice of an answer keyed by text. Raises CaptureError and RowError."""
    source.keyed_by_text = True
    lists: list[TokenList] = []
    for sequence, choice in enumerate(document.member("choices").items()):
        logprobs = choice.optional("logprobs")
        if logprobs is not None:
            lists += array_lists(logprobs, (sequence, 0), _text, numbers, Ranking.UNKNOWN)
    return listed_file(source, lists, numbers, reading)


def _text(text: str, node: Node) -> str:
    """A text is its own label, wherever it stands."""
    return text
