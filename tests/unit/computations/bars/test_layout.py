"""Records on their way to Postgres are of the series that they are sent to, whatever stood in them."""

import numpy as np
import pytest

from app.computations.bars.layout import HEAD_BYTES, HEADER, RECORD_BYTES, TRAILER, Head, sealed
from app.computations.bars.record import BAR, MEASURES, decoded, encoded


def some(rows: int) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(rows)
    columns = {name: chance.normal(size=rows) for name in MEASURES}
    return {"ts": np.arange(rows, dtype=np.int64) * 300_000_000 - 5, **columns}


def test_a_record_is_as_wide_as_its_layout_says() -> None:
    assert BAR.itemsize == RECORD_BYTES
    assert (len(HEADER), len(TRAILER)) == (19, 2)


def test_columns_come_back_as_they_were_with_the_series_number() -> None:
    columns = some(50)
    back = decoded(np.frombuffer(sealed(encoded(columns).tobytes(), 70_001), dtype=BAR))
    assert (back["series"] == 70_001).all()
    for name, values in columns.items():
        assert (back[name] == values).all()


def test_forged_counts_lengths_and_numbers_are_written_over() -> None:
    honest = encoded(some(20))
    forged = honest.copy()
    forged["series"], forged["fields"], forged["close_bytes"], forged["ts_bytes"] = 9, 1, 1_000, -1
    assert sealed(forged.tobytes(), 3) == sealed(honest.tobytes(), 3)
    with pytest.raises(ValueError, match="cut"):
        sealed(forged.tobytes()[:-1], 3)


def test_a_head_comes_back_as_it_was_and_what_is_none_is_refused() -> None:
    head = Head("BTC/USDT:USDT-240628-70000-C.X", 300, 12, -1, 5)
    assert len(head.packed()) == HEAD_BYTES
    assert Head.unpacked(head.packed()) == head
    for wrong in (Head("", 300, 1, 0, 0), Head("BTC", 0, 1, 0, 0), Head("BTC", 300, -1, 0, 0)):
        with pytest.raises(ValueError, match="no head"):
            Head.unpacked(wrong.packed())
    with pytest.raises(ValueError, match="ascii"):
        Head.unpacked(b"\xff" * HEAD_BYTES)
