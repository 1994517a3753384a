"""The header of a llama.cpp KLD base file, and whether the size of the file fits it."""

from __future__ import annotations

from dataclasses import dataclass
from struct import unpack

from specdist.errors import CaptureError
from specdist.readers.axes import VOCAB_LIMIT
from specdist.readers.sources import LocalFile
from specdist.readers.storage import Handles

MAGIC = b"_logits_"
HEADER_BYTES = 20
CONTEXT_LIMIT = 1 << 24
TITLE = "a llama.cpp KLD base file"

_AGAIN = "run llama-perplexity --kl-divergence-base again, to its end"


@dataclass(frozen=True, slots=True)
class Layout:
    """The three numbers of the header, and the byte order (``<`` or ``>``) they are written in."""

    n_ctx: int
    n_vocab: int
    n_chunk: int
    order: str = "<"

    @property
    def plausible(self) -> bool:
        return (
            1 <= self.n_ctx <= CONTEXT_LIMIT
            and 1 <= self.n_vocab <= VOCAB_LIMIT
            and self.n_chunk >= 1
        )

    @property
    def first(self) -> int:
        """The index of the first token of a chunk that has a row."""
        return self.n_ctx // 2 + 1

    @property
    def rows_a_chunk(self) -> int:
        return self.n_ctx - self.first

    @property
    def count(self) -> int:
        return self.n_chunk * self.rows_a_chunk

    @property
    def row_bytes(self) -> int:
        return 2 * (2 * ((self.n_vocab + 1) // 2) + 4)

    @property
    def rows_start(self) -> int:
        return HEADER_BYTES + 4 * self.n_chunk * self.n_ctx

    @property
    def size(self) -> int:
        return self.rows_start + self.count * self.row_bytes

    def text(self) -> str:
        return f"n_ctx {self.n_ctx}, n_vocab {self.n_vocab}, n_chunk {self.n_chunk}"


def read_layout(file: LocalFile) -> Layout:
    """The layout that the header says. Raises CaptureError where the file has another size."""
    with Handles() as handles:
        head = handles.read(file.path, file.name, 0, min(HEADER_BYTES, file.size))
    if head[:8] != MAGIC[: len(head)]:
        raise CaptureError(
            "wrong magic bytes", place=file.name, expected=f"{TITLE}, which starts _logits_"
        )
    if len(head) < HEADER_BYTES:
        raise CaptureError(
            f"the file ends inside its header, after {file.size} bytes",
            place=file.name,
            expected="n_ctx, n_vocab, n_chunk, the tokens and the rows",
            advice="llama-perplexity stops there when the text is shorter than two contexts",
        )
    layouts = []
    for order in "<>":
        n_ctx, n_vocab, n_chunk = unpack(f"{order}3i", head[8:])
        layouts.append(Layout(n_ctx, n_vocab, n_chunk, order))
    known = [layout for layout in layouts if layout.plausible]
    layout = next((item for item in known if item.size == file.size), None)
    if layout is not None and layout.count:
        return layout
    if not known:
        raise CaptureError(
            f"the header says {layouts[0].text()}",
            place=file.name,
            expected=f"a context of 1 to {CONTEXT_LIMIT} tokens, 1 to {VOCAB_LIMIT} tokens in the "
            "vocabulary, and at least one chunk",
        )
    raise _wrong_size(file, layout or min(known, key=lambda item: item.size))


def _wrong_size(file: LocalFile, layout: Layout) -> CaptureError:
    if not layout.count:
        return CaptureError(
            f"a context of {layout.n_ctx} tokens leaves no row",
            place=file.name,
            expected="n_ctx of 3 or more: rows stand in the second half of a chunk",
        )
    missing = layout.size - file.size
    if missing < 0:
        return CaptureError(
            f"{-missing} bytes follow the last row",
            place=file.name,
            expected=f"{layout.size} bytes for {layout.text()}",
            advice=_AGAIN,
        )
    whole = max(0, file.size - layout.rows_start) // layout.row_bytes
    return CaptureError(
        f"the file ends early: {whole} of {layout.count} rows are whole",
        place=file.name,
        expected=f"{layout.size} bytes for {layout.text()}, not {file.size}",
        advice=_AGAIN,
    )
