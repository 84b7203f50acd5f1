"""The tables that SQL can query at the current point of a session."""

from collections.abc import Iterable, Mapping

from app.artifacts.workspace import Workspace
from app.datasets.dataset_names import make_table_names
from app.datasets.dataset_source import DatasetRef, DatasetSource
from app.json_types import JsonValue
from app.plans.schema import TableSchema, read_table_schema


async def list_queryable_tables(datasets: DatasetSource, frames: Workspace) -> dict[str, str]:
    """Return `{table name: digest}`: the frames, and the datasets until the hold-out is locked.

    After the split, datasets are hidden since they contain the hold-out rows.
    """
    tables = {}
    if not await frames.is_split():
        tables = {dataset.table: dataset.digest for dataset in await datasets.list()}
    refs = await frames.frames()
    names = make_table_names([ref.name for ref in refs], reserved=tables)
    return tables | {name: ref.digest for name, ref in zip(names, refs, strict=True)}


async def list_table_schemas(
    datasets: DatasetSource, frames: Workspace, digests: Mapping[str, str]
) -> dict[str, TableSchema]:
    """Schemas of the queryable tables: of datasets and frames by the digest of their rows."""
    by_digest = {dataset.digest: read_table_schema(dataset.columns) for dataset in await datasets.list()}
    for frame in await frames.frames():
        by_digest.setdefault(frame.digest, read_table_schema(frame.meta.get("columns", [])))
    return {name: by_digest[digest] for name, digest in digests.items() if digest in by_digest}


def find_named_ids(datasets: Iterable[DatasetRef], *queries: str) -> dict[str, JsonValue]:
    """Return the parameter `schemas`: the datasets that queries name by their ids; empty for most queries."""
    # UUIDs may be written in capitals.
    folded = "\n".join(queries).casefold()
    schemas: JsonValue = {str(dataset.id): dataset.table for dataset in datasets if str(dataset.id) in folded}
    return {"schemas": schemas} if schemas else {}
