"""Lists of workflows with the last and the next run of each."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from pydantic import ValidationError

from app.db.keyset import ListPage, PageRequest
from app.db.pool import Database
from app.workflows.node_configs import Trigger
from app.workflows.run_records import WorkflowRunRecord
from app.workflows.schemas import WorkflowOverview, WorkflowRunView
from app.workflows.service import WorkflowService
from app.workflows.statements import TRIGGERS, WORKFLOWS
from app.workflows.triggers.ticks import first_tick


class NextTickRecord(NamedTuple):
    """The next tick of a workflow's triggers. `new_configs`: JSON, of those that no sweep has read yet."""

    workflow_id: UUID
    next_at: datetime | None
    new_configs: str

    def find_next(self, now: datetime) -> datetime | None:
        """Return the first tick of all triggers."""
        ticks = [self.next_at, *(_first_tick(config, now) for config in json.loads(self.new_configs))]
        return min((tick for tick in ticks if tick is not None), default=None)


@dataclass(frozen=True)
class WorkflowOverviews:
    db: Database
    owner: UUID

    async def list_page(self, portion: PageRequest, tag: str | None = None) -> ListPage[WorkflowOverview]:
        """List workflows, the last changed first. `tag`: those that have it."""
        page = await WorkflowService(self.db, self.owner).list_workflows(portion, tag)
        ids = [workflow.id for workflow in page.items]
        runs, ticks = await self._list_last_runs(ids), await self._list_next_ticks(ids)
        return page.map(
            lambda workflow: WorkflowOverview(
                **workflow.model_dump(),
                last_run=runs.get(workflow.id),
                next_run_at=ticks.get(workflow.id),
            )
        )

    async def _list_last_runs(self, ids: Sequence[UUID]) -> dict[UUID, WorkflowRunView]:
        rows = [dict(row) for row in await self.db.rows(WORKFLOWS.list_last_runs, self.owner, ids)]
        return {row.pop("workflow_id"): WorkflowRunRecord(**row).make_view() for row in rows}

    async def _list_next_ticks(self, ids: Sequence[UUID]) -> dict[UUID, datetime | None]:
        rows = await self.db.rows(TRIGGERS.list_next_ticks, self.owner, ids)
        records = [NextTickRecord(**row) for row in rows]
        # In a thread: 500 new schedules of rare days take seconds.
        return await asyncio.to_thread(_find_all_next, records, datetime.now(UTC))


def _find_all_next(records: Sequence[NextTickRecord], now: datetime) -> dict[UUID, datetime | None]:
    return {record.workflow_id: record.find_next(now) for record in records}


def _first_tick(config: object, now: datetime) -> datetime | None:
    """Return the first tick of a stored trigger; None where a later version no longer reads it."""
    try:
        return first_tick(Trigger.model_validate(config), now)
    except ValidationError:
        return None
