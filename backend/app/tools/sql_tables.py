"""The tables that SQL can query at the current point of a session."""

from app.artifacts.workspace import Workspace
from app.datasets.dataset_names import make_table_names
from app.datasets.dataset_source import DatasetSource


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
