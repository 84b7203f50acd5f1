"""The line of sessions that wait for a place to run in.

A session holds a place (`admitted_at`) from when it is let in until it ends or waits for its user. Who holds
fewest places is next, and of those who waited longest: `session_line` is that order. `admit_sessions` lets in
as many as there is room for, and is the only way in; it goes one at a time, so there are never too many.
"""

from dataclasses import dataclass

from app.db.pool import Database
from app.jobs import SendJob, advance_job
from app.sessions.config import SessionsConfig
from app.sessions.statements import LIFECYCLE


@dataclass(frozen=True)
class AdmissionQueue:
    db: Database
    send: SendJob
    config: SessionsConfig

    async def admit(self) -> None:
        """Let in whoever is next, as far as there is room; safe to say at any time."""
        config = self.config
        for row in await self.db.rows(LIFECYCLE.admit, config.max_running, config.max_running_per_owner):
            self.send(advance_job(row["id"]))
