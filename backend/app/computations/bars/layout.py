"""Where what stands in a record of a bar, in bytes: for those who send records on and need not read them."""

HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
TRAILER = b"\xff\xff"
RECORD_BYTES = 82
SERIES_AT = 6
TS_AT = 14
POSTGRES_EPOCH_US = 946_684_800_000_000
"""2000-01-01 in microseconds since 1970: where Postgres begins to count."""
