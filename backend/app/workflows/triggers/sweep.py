"""The sweep of triggers: every worker runs it, and each tick begins one run."""

import asyncio
import logging
import random
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID, uuid5

from app.db.pool import Database
from app.jobs import SendJob
from app.observability.metrics.workflows import WORKFLOW_TICKS
from app.program_runs.schemas import WorkflowOrigin
from app.sessions.admission import AdmissionQueue
from app.sessions.config import SessionsConfig
from app.sessions.events.serialization import dumps
from app.workflows.document import WorkflowDocument
from app.workflows.node_configs import Trigger
from app.workflows.runs.schemas import WorkflowRunPreferences, make_whole_run
from app.workflows.statements import TRIGGERS
from app.workflows.triggers.datasets import DatasetFirings
from app.workflows.triggers.limits import MAX_LIVE_RUNS
from app.workflows.triggers.ticks import MAX_LATE_S, choose_tick, first_tick

log = logging.getLogger(__name__)

MAX_DUE = 100
"""Triggers of one sweep; the next sweep takes further ones."""


class DueRow(NamedTuple):
    """A trigger that is due, with the current version. JSON: `config`, `document`."""

    workflow_id: UUID
    node_id: str
    owner_id: UUID
    config: str
    is_armed: bool
    next_at: datetime
    now: datetime
    version: int
    document: str


@dataclass(frozen=True)
class TriggerSweep:
    db: Database
    send_job: SendJob
    config: SessionsConfig

    async def sweep(self) -> int:
        """Begin the runs of all due ticks and of new datasets, once each. Return their number."""
        begun_runs = await DatasetFirings(self.db).begin_all()
        for row in await self.db.rows(TRIGGERS.list_due, MAX_DUE):
            try:
                begun_runs += await self._handle(DueRow(**row))
            except ValueError:
                log.warning(
                    "a trigger cannot be read",
                    extra={"workflow": str(row["workflow_id"])},
                    exc_info=True,
                )
        if begun_runs:
            await AdmissionQueue(self.db, self.send_job, self.config).admit()
        return begun_runs

    async def _handle(self, due: DueRow) -> int:
        trigger = Trigger.model_validate_json(due.config)
        if not due.is_armed:
            # Of the database's clock, so that hosts whose clocks differ agree on what is due.
            following = first_tick(trigger, due.now)
            await self.db.value(TRIGGERS.move, due.workflow_id, due.node_id, due.next_at, following)
            return 0
        tick, following = choose_tick(trigger, due.next_at, due.now)
        if tick is None:
            if await self.db.value(TRIGGERS.move, due.workflow_id, due.node_id, due.next_at, following):
                WORKFLOW_TICKS.labels("skipped").inc()
            return 0
        origin = WorkflowOrigin(id=due.workflow_id, version=due.version, node="")
        document = WorkflowDocument.model_validate_json(due.document)
        run = make_whole_run(document, WorkflowRunPreferences(workflow=origin, trigger=due.node_id, tick=tick))
        fired = await self.db.row(
            TRIGGERS.fire,
            due.workflow_id,
            due.node_id,
            due.next_at,
            following,
            tick,
            due.version,
            # By workflow, node and tick: two workers that sweep at once begin one run.
            uuid5(due.workflow_id, f"{due.node_id} {tick.isoformat()}"),
            run.goal,
            dumps(run.preferences.model_dump(mode="json", exclude_none=True), "preferences"),
            run.dataset_ids,
            secrets.randbelow(2**31),
            MAX_LIVE_RUNS,
        )
        if fired is None:
            return 0
        has_begun = fired["session_id"] is not None
        is_late = (due.now - tick).total_seconds() > MAX_LATE_S
        WORKFLOW_TICKS.labels(("late" if is_late else "begun") if has_begun else "skipped").inc()
        return int(has_begun)


async def sweep_triggers_for_ever(sweep: TriggerSweep) -> None:
    """Sweep at intervals until cancelled. A failed pass is logged."""
    while True:
        # At random times, as the sweeper of sessions.
        await asyncio.sleep(sweep.config.sweep_s * random.uniform(0.5, 1))  # noqa: S311
        try:
            await sweep.sweep()
        except Exception:
            log.warning("a sweep of triggers failed", exc_info=True)
