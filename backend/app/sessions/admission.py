"""The admission queue of sessions.

A session holds a place (`admitted_at`) from its admission until it ends or waits for its user. Studies, runs
and jobs each have a queue and places of their own, so a program or query does not wait for studies; turns have
none, and are bounded per user when they begin. The view `session_line` orders a queue: owners with fewest
places of the class first, then by waiting time. `admit_sessions` fills free places and is the only way in; it
runs one at a time, so places are never exceeded.
"""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from app.db.pool import Database
from app.jobs import SendJob, advance_job
from app.sessions.config import SessionsConfig
from app.sessions.statements import LIFECYCLE


class AdmittedRow(NamedTuple):
    id: UUID


@dataclass(frozen=True)
class AdmissionQueue:
    db: Database
    send_job: SendJob
    config: SessionsConfig

    async def admit(self) -> None:
        """Admit sessions to free places and queue them. Safe to call at any time."""
        config = self.config
        for row in await self.db.rows(LIFECYCLE.admit, config.max_running, config.max_running_per_owner):
            self.send_job(advance_job(AdmittedRow(**row).id))
