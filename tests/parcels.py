"""Bars as a reader of files left them, for tests that look into them."""

from typing import Any

import numpy as np

from app.computations.bars.binary_format import HEAD_BYTES, RECORD_BYTES, BatchHeader
from app.computations.bars.copy_records import BAR, decode_records


def opened(parcels: bytes) -> dict[str, Any]:
    """The columns of all parcels one after another, whose heads say what is in them."""
    records = b""
    while parcels:
        head = BatchHeader.unpack(parcels[:HEAD_BYTES])
        end = HEAD_BYTES + head.rows * RECORD_BYTES
        ts = decode_records(np.frombuffer(parcels[HEAD_BYTES:end], dtype=BAR))["ts"]
        assert (ts[0], ts[-1]) == (head.first_us, head.last_us)
        records, parcels = records + parcels[HEAD_BYTES:end], parcels[end:]
    return decode_records(np.frombuffer(records, dtype=BAR))
