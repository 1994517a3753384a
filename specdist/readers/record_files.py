"""Files of records (tfrecord), which have no magic number: the first length is told by its sum."""

from __future__ import annotations

_POLYNOMIAL = 0x82F63B78
_MASK = 0xA282EAD8


def is_tfrecord(head: bytes) -> bool:
    """Whether content begins as a tfrecord does: a length of 8 bytes and its masked CRC-32C
    (TensorFlow 2.19, tensorflow/core/lib/io/record_writer.h)."""
    if len(head) < 12:
        return False
    return _masked(crc32c(head[:8])) == int.from_bytes(head[8:12], "little")


def crc32c(data: bytes) -> int:
    """The CRC-32C (Castagnoli) of some bytes, RFC 3720 appendix B.4."""
    found = 0xFFFFFFFF
    for byte in data:
        found ^= byte
        for _ in range(8):
            found = (found >> 1) ^ (_POLYNOMIAL if found & 1 else 0)
    return found ^ 0xFFFFFFFF


def _masked(crc: int) -> int:
    return (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF
