"""The format of bars between the cell that validated them and Postgres, for forwarding without decoding.

A file is a series of batches: a header, then records of Postgres' binary COPY, of one coin, oldest first.
"""

import struct
from dataclasses import dataclass
from typing import Self

from app.computations.bars.interval import MAX_S

HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
TRAILER = b"\xff\xff"
RECORD_BYTES = 82
POSTGRES_EPOCH_US = 946_684_800_000_000
"""Postgres' epoch, 2000-01-01, in microseconds since 1970."""

MAX_ROWS = 1 << 18
"""Rows of a batch, 20 MB: larger ones are not from our writer."""

_SERIES_AT = 6
"""Byte of a record where the series number begins: behind the field count (2 bytes) and a length (4)."""
_FIELD_BYTES = (4, 8, 8, 8, 8, 8, 8)
_HEAD = struct.Struct(">32siiqq")
HEAD_BYTES = _HEAD.size


@dataclass(frozen=True)
class BatchHeader:
    """Header of a batch: the number of bars, their coin and interval, first and last time (microseconds
    since 1970)."""

    coin: str
    interval_s: int
    rows: int
    first_us: int
    last_us: int

    def pack(self) -> bytes:
        return _HEAD.pack(self.coin.encode("ascii"), self.interval_s, self.rows, self.first_us, self.last_us)

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Unpack a header; raises ValueError for other bytes."""
        coin, *numbers = _HEAD.unpack(data)
        header = cls(coin.rstrip(b"\0").decode("ascii"), *numbers)
        # The cell is not trusted: its numbers decide how much is read next.
        if not (header.coin and 0 < header.rows <= MAX_ROWS and 0 < header.interval_s <= MAX_S):
            raise ValueError("These bytes are not the header of a batch.")
        return header


def set_series(records: bytes, number: int) -> bytes:
    """Rewrite the records as those of series `number`.

    Counts, lengths and the number are overwritten, whatever they were: records from an untrusted cell cannot
    reach another series. Raises ValueError for an incomplete record.
    """
    rows, rest = divmod(len(records), RECORD_BYTES)
    if rest:
        raise ValueError("The last record is incomplete.")
    rewritten = bytearray(records)
    for start, field in _constant_fields(number):
        for offset, byte in enumerate(field, start=start):
            # One byte of all records at once: a loop over rows in Python would cost what forwarding saves.
            rewritten[offset::RECORD_BYTES] = bytes([byte]) * rows
    return bytes(rewritten)


def _constant_fields(number: int) -> list[tuple[int, bytes]]:
    """The parts that are equal in every record, by offset."""
    fields, offset = [(0, struct.pack(">h", len(_FIELD_BYTES)))], 2
    for size in _FIELD_BYTES:
        fields.append((offset, struct.pack(">i", size)))
        offset += 4 + size
    return [*fields, (_SERIES_AT, struct.pack(">i", number))]
