"""The datasets of a session, read from its owner's rows."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from uuid import UUID

from app.datasets.dataset_names import make_table_names
from app.datasets.dataset_source import DatasetRef
from app.datasets.file_readings import FormerReading, reading_at
from app.datasets.repository import DatasetRepository
from app.db.tables import DatasetRow
from app.db.unit_of_work import OpenUnitOfWork
from app.errors import ToolRefused
from app.modeling.problem.name_resolution import hint_names, nearest_names


class SessionDatasets:
    """A DatasetSource over `dataset_ids`, without datasets that were deleted since.

    `began_at`: readings that were corrected later are not used; None for the present ones.
    """

    def __init__(
        self,
        open_uow: OpenUnitOfWork,
        owner: UUID,
        dataset_ids: Sequence[UUID],
        began_at: datetime | None = None,
    ) -> None:
        self._open_uow = open_uow
        self._owner = owner
        self._ids = tuple(dataset_ids)
        self._began_at = began_at

    async def list(self) -> Sequence[DatasetRef]:
        # Many conversations and programs have none, and a transaction takes four round trips.
        if not self._ids:
            return []
        async with self._open_uow() as uow:
            rows = await DatasetRepository(uow.db, self._owner).list_by_ids(self._ids)
        tables = make_table_names([row.name for row in rows])
        # A session reads cells as it began to: a reading that changes midway would contradict its records.
        time = self._began_at or datetime.now(UTC)
        return [_ref(row, table, reading_at(row, time)) for row, table in zip(rows, tables, strict=True)]

    async def get(self, name: str) -> DatasetRef:
        return find_dataset(await self.list(), name)


_IDENTIFIERS: tuple[Callable[[DatasetRef], str], ...] = (
    lambda dataset: dataset.table,
    lambda dataset: dataset.name,
    lambda dataset: str(dataset.id),
)


def find_dataset(datasets: Sequence[DatasetRef], name: str) -> DatasetRef:
    """Find a dataset by table name, name or id, ignoring case. Raises ToolRefused with the nearest names."""
    folded = name.strip().casefold()
    # One kind after the other, so that a table's name goes before another dataset's.
    for identifier in _IDENTIFIERS:
        for dataset in datasets:
            if identifier(dataset).casefold() == folded:
                return dataset
    tables = {dataset.name: dataset.table for dataset in datasets}
    tables |= {dataset.table: dataset.table for dataset in datasets}
    close = list(dict.fromkeys(tables[word] for word in nearest_names(name, tables)))
    hint = hint_names(close, [dataset.table for dataset in datasets])
    raise ToolRefused(f"There is no dataset {name!r}. {hint}")


def _ref(row: DatasetRow, table: str, reading: FormerReading) -> DatasetRef:
    return DatasetRef(
        row.id,
        row.name,
        table,
        reading.digest,
        row.rows,
        reading.columns,
        reading.profile,
        reading.size_bytes,
        reading.reading,
        row.format.get("notes", ()),
    )
