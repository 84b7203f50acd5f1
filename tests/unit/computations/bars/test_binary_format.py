"""Records on their way to Postgres are of the series that they are sent to, whatever stood in them."""

import numpy as np
import pytest

from app.computations.bars.binary_format import (
    HEAD_BYTES,
    HEADER,
    RECORD_BYTES,
    TRAILER,
    BatchHeader,
    set_series,
)
from app.computations.bars.copy_records import BAR, MEASURES, decode_records, encode_records


def some(rows: int) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(rows)
    columns = {name: chance.normal(size=rows) for name in MEASURES}
    return {"ts": np.arange(rows, dtype=np.int64) * 300_000_000 - 5, **columns}


def test_a_record_is_as_wide_as_its_layout_says() -> None:
    assert BAR.itemsize == RECORD_BYTES
    assert (len(HEADER), len(TRAILER)) == (19, 2)


def test_columns_come_back_as_they_were_with_the_series_number() -> None:
    columns = some(50)
    back = decode_records(np.frombuffer(set_series(encode_records(columns).tobytes(), 70_001), dtype=BAR))
    assert (back["series"] == 70_001).all()
    for name, values in columns.items():
        assert (back[name] == values).all()


def test_forged_counts_lengths_and_numbers_are_overwritten() -> None:
    honest = encode_records(some(20))
    forged = honest.copy()
    forged["series"], forged["fields"], forged["close_bytes"], forged["ts_bytes"] = 9, 1, 1_000, -1
    assert set_series(forged.tobytes(), 3) == set_series(honest.tobytes(), 3)
    with pytest.raises(ValueError, match="incomplete"):
        set_series(forged.tobytes()[:-1], 3)


def test_a_batch_header_round_trips_and_other_bytes_are_refused() -> None:
    head = BatchHeader("BTC/USDT:USDT-240628-70000-C.X", 300, 12, -1, 5)
    assert len(head.pack()) == HEAD_BYTES
    assert BatchHeader.unpack(head.pack()) == head
    for wrong in (
        BatchHeader("", 300, 1, 0, 0),
        BatchHeader("BTC", 0, 1, 0, 0),
        BatchHeader("BTC", 300, -1, 0, 0),
    ):
        with pytest.raises(ValueError, match="not the header of a batch"):
            BatchHeader.unpack(wrong.pack())
    with pytest.raises(ValueError, match="ascii"):
        BatchHeader.unpack(b"\xff" * HEAD_BYTES)
