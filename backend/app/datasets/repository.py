"""Rows of uploaded tables, of one owner."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import defer

from app.db.keyset import ListPage, PageRequest
from app.db.repository import OwnedRepository
from app.db.tables import DatasetRow


class DatasetRepository(OwnedRepository[DatasetRow]):
    row = DatasetRow
    noun = "dataset"

    async def page(self, portion: PageRequest) -> ListPage[DatasetRow]:
        """Without their profiles, which are larger than everything else."""
        return await self.read_page(
            self.select_owned().options(defer(DatasetRow.profile, raiseload=True)), portion
        )

    async def by_idempotency_key(self, key: str) -> DatasetRow | None:
        found = await self.db.execute(self.select_owned().where(DatasetRow.idempotency_key == key))
        return found.scalar_one_or_none()

    async def list_by_ids(self, ids: Sequence[UUID]) -> list[DatasetRow]:
        """Those of `ids` that are there, in the order given."""
        found = (await self.db.execute(self.select_owned().where(DatasetRow.id.in_(ids)))).scalars()
        by_id = {row.id: row for row in found}
        return [by_id[id_] for id_ in ids if id_ in by_id]
