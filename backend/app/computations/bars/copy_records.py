"""Bars as records of Postgres' binary COPY, all of one width, so that numpy reads and writes millions.

A record is a count of fields, then each field as its length and its bytes, all big-endian. Times are
microseconds since 2000-01-01, Postgres' epoch.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from app.computations.bars.binary_format import POSTGRES_EPOCH_US

MEASURES = ("open", "high", "low", "close", "volume")

Columns = Mapping[str, npt.NDArray[np.generic]]


def _record(fields: Sequence[tuple[str, str]]) -> tuple[np.dtype[np.void], npt.NDArray[np.void]]:
    """Make the type of a record, and a template with its counts and lengths."""
    layout = [("fields", ">i2")]
    for name, kind in fields:
        layout += [(f"{name}_bytes", ">i4"), (name, kind)]
    template = np.zeros(1, np.dtype(layout))
    template["fields"] = len(fields)
    for name, _ in fields:
        template[f"{name}_bytes"] = template.dtype[name].itemsize
    return template.dtype, template


BAR, _EMPTY_BAR = _record([("series", ">i4"), ("ts", ">i8"), *((name, ">f8") for name in MEASURES)])
"""`series_id, ts, open, high, low, close, volume` of `price_bars`."""


def encode_records(columns: Columns) -> npt.NDArray[np.void]:
    """Encode `ts` (microseconds since 1970) and the measures; the series' number stays 0."""
    records = np.repeat(_EMPTY_BAR, len(columns["ts"]))
    records["ts"] = columns["ts"] - POSTGRES_EPOCH_US
    for name in MEASURES:
        records[name] = columns[name]
    return records


def decode_records(records: npt.NDArray[np.void]) -> dict[str, npt.NDArray[np.generic]]:
    """Decode `series`, `ts` (microseconds since 1970) and the measures, in this machine's byte order."""
    columns: dict[str, npt.NDArray[np.generic]] = {
        "series": records["series"].astype(np.int32),
        "ts": records["ts"].astype(np.int64) + POSTGRES_EPOCH_US,
    }
    return columns | {name: records[name].astype(np.float64) for name in MEASURES}
