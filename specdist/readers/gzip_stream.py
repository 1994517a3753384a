"""A gzip stream that closes the file it reads from; imported when a gzip file is met."""

from __future__ import annotations

import gzip
from typing import IO


class GunzipStream(gzip.GzipFile):
    """Decompresses as it is read, so that nothing is unpacked beyond what is asked for."""

    def __init__(self, inner: IO[bytes]) -> None:
        super().__init__(fileobj=inner, mode="rb")
        self._inner = inner

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._inner.close()
