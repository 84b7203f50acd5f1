"""Decoding of bars from the binary form in which their reader leaves them, for tests that look into them."""

from typing import Any

import numpy as np

from app.computations.bars.binary_format import HEAD_BYTES, RECORD_BYTES, BatchHeader
from app.computations.bars.copy_records import BAR, decode_records


def decode_batches(batches: bytes) -> dict[str, Any]:
    """Return the columns of all batches one after another, once each agrees with its header."""
    records = b""
    while batches:
        head = BatchHeader.unpack(batches[:HEAD_BYTES])
        end = HEAD_BYTES + head.rows * RECORD_BYTES
        ts = decode_records(np.frombuffer(batches[HEAD_BYTES:end], dtype=BAR))["ts"]
        assert (ts[0], ts[-1]) == (head.first_us, head.last_us)
        records, batches = records + batches[HEAD_BYTES:end], batches[end:]
    return decode_records(np.frombuffer(records, dtype=BAR))
