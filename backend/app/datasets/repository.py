"""Repository of one owner's datasets."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import cast, func, select
from sqlalchemy.dialects.postgresql import JSONB, JSONPATH
from sqlalchemy.orm import defer

from app.db.keyset import ListPage, PageRequest
from app.db.repository import OwnedRepository
from app.db.tables import DatasetRow


class DatasetRepository(OwnedRepository[DatasetRow]):
    row = DatasetRow
    noun = "dataset"

    async def page(self, portion: PageRequest) -> ListPage[DatasetRow]:
        """Read a page without the profiles, which are larger than all other columns."""
        large = (defer(column, raiseload=True) for column in (DatasetRow.profile, DatasetRow.former))
        return await self.read_page(self.select_owned().options(*large), portion)

    async def by_idempotency_key(self, key: str) -> DatasetRow | None:
        query = self.select_owned().where(DatasetRow.idempotency_key == key)
        return (await self.db.execute(query)).scalar_one_or_none()

    async def latest_of_kind(self, names: Sequence[str]) -> DatasetRow | None:
        """Return the newest dataset with the columns `names`, in their order; None if there is none."""
        columns = func.jsonb_path_query_array(DatasetRow.columns, cast("$[*].name", JSONPATH))
        query = self.select_owned().where(columns == cast(list(names), JSONB))
        newest = query.order_by(DatasetRow.created_at.desc()).limit(1)
        return (await self.db.execute(newest)).scalar_one_or_none()

    async def lock(self, dataset_id: UUID) -> DatasetRow:
        """Return a row that no other transaction changes until this one ends. Raises NotFound."""
        # The row is read after the wait for the lock, so it is as the last transaction left it.
        await self.db.execute(select(DatasetRow.id).where(DatasetRow.id == dataset_id).with_for_update())
        return await self.get(dataset_id)

    async def list_by_ids(self, ids: Sequence[UUID]) -> list[DatasetRow]:
        """List the existing rows of `ids` in the same order."""
        rows = (await self.db.execute(self.select_owned().where(DatasetRow.id.in_(ids)))).scalars()
        by_id = {row.id: row for row in rows}
        return [by_id[id_] for id_ in ids if id_ in by_id]

    async def column_names(self, ids: Sequence[UUID]) -> list[list[str]]:
        """List the names of the columns of each existing dataset of `ids`, without reading its profile."""
        query = self.select_owned().where(DatasetRow.id.in_(ids)).with_only_columns(DatasetRow.columns)
        return [[str(column["name"]) for column in columns] for columns in await self.db.scalars(query)]
