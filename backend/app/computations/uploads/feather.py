"""Conversion of Arrow files (Feather) to Parquet, bounded by the bytes that their cells take written out.

Buffers of an Arrow file are taken as they lie in it, and may refer to each other: a few bytes of indices name
one long text millions of times, and an offset may point outside. So a batch is checked and measured first.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from app.computations.uploads.column_names import check_width
from app.computations.uploads.expansion_limits import check_columnar
from app.errors import InvalidInput

_GROUP_ROWS = 65_536
"""Rows of a row group: as pandas writes batches of Feather. A group of each tiny batch would take minutes."""
_MEASURED_ROWS = 1_024
"""Rows that are written out at a time to measure them: a megabyte, if each takes a kilobyte."""
_SHARING_TYPES = (
    pa.types.is_dictionary,
    pa.types.is_run_end_encoded,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
    pa.types.is_string_view,
    pa.types.is_binary_view,
)
"""Types whose rows may name the same bytes again."""


def feather_as_parquet(path: Path, work: Path) -> Path:
    """Convert a Feather file to Parquet. Raises InvalidInput for a damaged file, TooLarge for too many bytes.

    Raises MemoryError for a batch that takes more memory than there is.
    """
    target = work / "feather.parquet"
    try:
        with (
            pa.memory_map(str(path)) as source,
            pa.ipc.open_file(source) as reader,
        ):
            check_width(len(reader.schema))
            plain = _plain(reader.schema)
            with pq.ParquetWriter(target, plain, compression="lz4") as writer:
                for group in _groups(_batches(reader, plain, path.stat().st_size)):
                    writer.write_table(group, row_group_size=_GROUP_ROWS)
    # Also an ArrowException, but a limit of the cell and no damage.
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InvalidInput("damaged_file", f"The Feather file cannot be read: {str(error)[:300]}") from error
    return target


def _batches(
    reader: pa.ipc.RecordBatchFileReader, plain: pa.Schema, upload_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Batches of plain types that are not empty, while their cells together are within the bound."""
    expanded_bytes = 0
    for place in range(reader.num_record_batches):
        batch = reader.get_batch(place)
        if not batch.num_rows:
            continue
        # Offsets and indices that point outside of a buffer would read memory beside it.
        batch.validate(full=True)
        for size_bytes in _measure(batch, plain):
            expanded_bytes += size_bytes
            check_columnar(upload_bytes, expanded_bytes)
        yield _write_out(batch, plain)


def _measure(batch: pa.RecordBatch, plain: pa.Schema) -> Iterator[int]:
    """Bytes that a batch takes with each value written out, in parts."""
    # Rows of nulls take no bytes here, but do in a table.
    yield batch.num_rows * batch.num_columns * _MIN_CELL_BYTES
    if not any(map(_shares, batch.schema.types)):
        yield batch.nbytes
        return
    for start in range(0, batch.num_rows, _MEASURED_ROWS):
        yield _write_out(batch.slice(start, _MEASURED_ROWS), plain).nbytes


_MIN_CELL_BYTES = 1
"""Bytes of the smallest cell, a truth value."""


def _shares(type_: pa.DataType) -> bool:
    inner = [type_.field(place).type for place in range(type_.num_fields)]
    return any(is_sharing(type_) for is_sharing in _SHARING_TYPES) or any(map(_shares, inner))


def _write_out(batch: pa.RecordBatch, plain: pa.Schema) -> pa.RecordBatch:
    columns = [_lists(column) if _is_view(column.type) else column for column in batch.columns]
    arrays = [column.cast(type_) for column, type_ in zip(columns, plain.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=plain)


def _is_view(type_: pa.DataType) -> bool:
    return bool(pa.types.is_list_view(type_) or pa.types.is_large_list_view(type_))


def _lists(views: pa.Array) -> pa.Array:
    """Lists in place of views of lists, which a cast of pyarrow 26 turns into empty ones."""
    lengths = pc.fill_null(pc.list_value_length(views).cast(pa.int64()), 0)
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(lengths)])
    return pa.LargeListArray.from_arrays(offsets, views.flatten(), mask=views.is_null())


def _groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join small batches until they are a row group."""
    pending: list[pa.RecordBatch] = []
    for batch in batches:
        pending.append(batch)
        if sum(part.num_rows for part in pending) >= _GROUP_ROWS or len(pending) >= _MAX_PENDING:
            yield pa.Table.from_batches(pending)
            pending = []
    if pending:
        yield pa.Table.from_batches(pending)


_MAX_PENDING = 4_096
"""Batches that wait for their group: each has objects of its own besides its rows."""


def _plain(schema: pa.Schema) -> pa.Schema:
    """Remove dictionaries and views, which Parquet lacks, and metadata of other libraries."""
    return pa.schema([pa.field(column.name, _unpacked(column.type)) for column in schema])


def _unpacked(type_: pa.DataType, *, is_inner: bool = False) -> pa.DataType:
    """The type with each value written out, at any level of lists and records."""
    if _is_view(type_):
        if is_inner:
            raise InvalidInput("damaged_file", f"Views of lists inside of other values are not read: {type_}.")
        return pa.large_list(_unpacked(type_.value_type, is_inner=True))
    if pa.types.is_dictionary(type_):
        return _unpacked(type_.value_type, is_inner=True)
    if pa.types.is_string_view(type_):
        return pa.string()
    if pa.types.is_binary_view(type_):
        return pa.binary()
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_unpacked(field.type, is_inner=True)) for field in type_])
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return pa.large_list(_unpacked(type_.value_type, is_inner=True))
    return type_
