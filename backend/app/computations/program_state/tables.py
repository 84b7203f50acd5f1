"""Frames, series and indexes of pandas as Parquet, with what Parquet would change about them."""

import io
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from app.computations.program_state.refused_values import NotKept

TABLE_CLASSES = (pd.DataFrame, pd.Series, pd.Index, pd.api.extensions.ExtensionArray)


def to_frame(value: Any) -> tuple[str, pd.DataFrame, object]:
    """Return a frame that holds the value, its kind, and the name of a series."""
    if isinstance(value, pd.DataFrame):
        return "frame", value, None
    if isinstance(value, pd.Series):
        return "series", value.to_frame("values"), value.name
    if isinstance(value, pd.Index):
        return "index", pd.DataFrame(index=value), None
    return "extension", pd.DataFrame({"values": pd.Series(value, copy=False)}), None


def from_frame(kind: str, frame: pd.DataFrame, name: Any) -> Any:
    match kind:
        case "frame":
            return frame
        case "series":
            return frame["values"].rename(name)
        case "index":
            return frame.index
        case _:
            return frame["values"].array


def encode_frame(frame: pd.DataFrame) -> tuple[bytes, tuple[Any, ...]]:
    """Encode a frame. Returns the bytes, and its restoration: columns of objects, and the index' frequency.

    Raises NotKept for a frame that would not come back as it is.
    """
    if type(frame) is not pd.DataFrame:
        raise NotKept(f"a {type(frame).__name__}, which is no plain DataFrame")
    try:
        table = pa.Table.from_pandas(frame)
        # No row suffices to see the labels, index and types that would come back.
        empty = table.slice(0, 0).to_pandas()
    except (pa.ArrowException, TypeError, ValueError, KeyError, NotImplementedError) as error:
        raise NotKept(f"a table whose cells cannot be stored: {str(error)[:200]}") from None
    nested = [field.name for field in table.schema if pa.types.is_nested(field.type)]
    if nested:
        raise NotKept(f"a table whose column {nested[0]} holds lists or mappings")
    if not empty.columns.equals(frame.columns) or list(empty.columns.names) != list(frame.columns.names):
        raise NotKept("a table whose column names cannot be stored")
    if type(empty.index) is not type(frame.index) or list(empty.index.names) != list(frame.index.names):
        raise NotKept(f"a table with an index of the class {type(frame.index).__name__}")
    objects = []
    for place, (is_type, was_type) in enumerate(zip(frame.dtypes, empty.dtypes, strict=True)):
        if is_type == was_type:
            continue
        if not pd.api.types.is_object_dtype(is_type):
            raise NotKept(f"a table whose column {frame.columns[place]} has the type {is_type}")
        objects.append(place)
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="snappy")
    frequency = getattr(frame.index, "freqstr", None)
    return sink.getvalue(), (tuple(objects), frequency if isinstance(frequency, str) else None)


def decode_frame(data: bytes, restoration: tuple[Any, ...]) -> pd.DataFrame:
    objects, frequency = restoration
    frame: pd.DataFrame = pq.read_table(pa.BufferReader(data)).to_pandas()
    for place in objects:
        # By position, since a frame may have columns of any label.
        frame.isetitem(place, frame.iloc[:, place].astype(object))
    if frequency is not None and isinstance(frame.index, pd.DatetimeIndex | pd.TimedeltaIndex):
        setattr(frame.index, "freq", frequency)  # noqa: B010 - the stubs have it read-only
    return frame
