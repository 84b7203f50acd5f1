"""Where what stands in a record of a bar, in bytes: for those who send records on and need not read them."""

import struct

HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
TRAILER = b"\xff\xff"
RECORD_BYTES = 82
TS_AT = 14
POSTGRES_EPOCH_US = 946_684_800_000_000
"""2000-01-01 in microseconds since 1970: where Postgres begins to count."""

_SERIES_AT = 6
_FIELD_BYTES = (4, 8, 8, 8, 8, 8, 8)


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
