"""The admission queue of sessions.

A session holds a place (`admitted_at`) from its admission until it ends or waits for its user or another
session. Studies, runs and jobs each have a queue and places of their own, so a program or query does not wait
for studies. The view `session_line` orders a queue: owners with fewest places of the class first, then by
waiting time. Turns have places by owner only, so each owner has a queue of them, and a turn that waits for the
turn before it is in none. `admit_sessions` fills free places, and `admit_turns` those of one owner; there is
no other way in, and they run one at a time, so places are never exceeded.
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
        rows = await self.db.rows(
            LIFECYCLE.admit,
            config.max_running,
            config.max_running_per_owner,
            config.max_running_turns_per_owner,
        )
        for row in rows:
            self.send_job(advance_job(AdmittedRow(**row).id))
