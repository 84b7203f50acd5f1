"""Bars on their way from the cell that judged them to Postgres, for those who send them on unread.

They travel in parcels: a head, then records as Postgres' binary COPY spells them, of one coin, oldest first.
"""

import struct
from dataclasses import dataclass
from typing import Self

from app.computations.bars.interval import MAX_S

HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
TRAILER = b"\xff\xff"
RECORD_BYTES = 82
POSTGRES_EPOCH_US = 946_684_800_000_000
"""2000-01-01 in microseconds since 1970: where Postgres begins to count."""

MAX_ROWS = 1 << 18
"""Of a parcel."""

_SERIES_AT = 6
_FIELD_BYTES = (4, 8, 8, 8, 8, 8, 8)
_HEAD = struct.Struct(">32siiqq")
HEAD_BYTES = _HEAD.size


@dataclass(frozen=True)
class Head:
    """What a parcel holds: how many bars of which coin and interval, from when to when (us since 1970)."""

    coin: str
    interval_s: int
    rows: int
    first_us: int
    last_us: int

    def packed(self) -> bytes:
        return _HEAD.pack(self.coin.encode("ascii"), self.interval_s, self.rows, self.first_us, self.last_us)

    @classmethod
    def unpacked(cls, data: bytes) -> Self:
        """Raises ValueError for bytes that are no head."""
        coin, *numbers = _HEAD.unpack(data)
        head = cls(coin.rstrip(b"\0").decode("ascii"), *numbers)
        if not (head.coin and 0 < head.rows <= MAX_ROWS and 0 < head.interval_s <= MAX_S):
            raise ValueError("This is no head of a parcel.")
        return head


def sealed(records: bytes, number: int) -> bytes:
    """The records as series `number`'s.

    Counts, lengths and the number are written anew, whatever stood there: what the reader of a file left cannot
    reach into another series. Raises ValueError for half a record.
    """
    rows, rest = divmod(len(records), RECORD_BYTES)
    if rest:
        raise ValueError("The last record is cut.")
    made = bytearray(records)
    for at, fixed in _fixed(number):
        for place, byte in enumerate(fixed, start=at):
            made[place::RECORD_BYTES] = bytes([byte]) * rows
    return bytes(made)


def _fixed(number: int) -> list[tuple[int, bytes]]:
    """What is the same in every record, by its offset."""
    found, at = [(0, struct.pack(">h", len(_FIELD_BYTES)))], 2
    for size in _FIELD_BYTES:
        found.append((at, struct.pack(">i", size)))
        at += 4 + size
    return [*found, (_SERIES_AT, struct.pack(">i", number))]
