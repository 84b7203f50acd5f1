"""The sweeper: queues what a crash or a lost message left. Every worker runs it; concurrent passes are safe."""

import asyncio
import logging
import random
from typing import NamedTuple
from uuid import UUID

from app import jobs
from app.db.pool import Database
from app.jobs import SendJob
from app.observability.metrics.sessions import SWEEPER_FINDS
from app.sessions.admission import AdmissionQueue
from app.sessions.config import SessionsConfig
from app.sessions.statements import LIFECYCLE, ROUNDS
from app.sessions.workers import mark_stranded

log = logging.getLogger(__name__)


class SessionIdRow(NamedTuple):
    id: UUID


class FitKeyRow(NamedTuple):
    session_id: UUID
    round_key: str
    candidate: int


async def sweep(db: Database, send_job: SendJob, grace_s: float) -> int:
    """Queue the sessions and fits that are due but not queued, once. Return their number.

    `grace_s`: seconds that a queued job may wait before it is queued again.
    """
    await mark_stranded(db, grace_s)
    forgotten = [SessionIdRow(**row) for row in await db.rows(LIFECYCLE.wake_forgotten)]
    sessions = [SessionIdRow(**row) for row in await db.rows(LIFECYCLE.requeue, grace_s)]
    fits = [FitKeyRow(**row) for row in await db.rows(ROUNDS.requeue, grace_s)]
    for session in (*forgotten, *sessions):
        send_job(jobs.advance_job(session.id))
    for fit in fits:
        send_job(jobs.fit_job(*fit))
    counts = {"forgotten": len(forgotten), "session": len(sessions), "fit": len(fits)}
    for kind, count in counts.items():
        SWEEPER_FINDS.labels(kind).inc(count)
    return sum(counts.values())


async def sweep_for_ever(db: Database, send_job: SendJob, config: SessionsConfig) -> None:
    """Sweep and admit at intervals until cancelled. A failed pass is logged."""
    while True:
        # At random times: the processes of a service would otherwise sweep at once, for the same rows.
        await asyncio.sleep(config.sweep_s * random.uniform(0.5, 1))  # noqa: S311
        try:
            await sweep(db, send_job, config.grace_s)
            # After it: those that a sweep wakes may need a place.
            await AdmissionQueue(db, send_job, config).admit()
        except Exception:
            log.warning("a sweep failed", exc_info=True)
