"""Repairs what a crash or a lost message left: in every worker process, safe to run many times at once."""

import asyncio
import logging
import random

from app import jobs
from app.db.pool import Database
from app.jobs import SendJob
from app.observability.metrics.sessions import SWEEPER_FINDS
from app.sessions.admission import AdmissionQueue
from app.sessions.config import SessionsConfig
from app.sessions.statements import LIFECYCLE, ROUNDS
from app.sessions.workers import mark_stranded

log = logging.getLogger(__name__)


async def sweep(db: Database, send: SendJob, grace_s: float) -> int:
    """One pass; how many wake-ups it sent."""
    await mark_stranded(db, grace_s)
    nudged = await db.rows(LIFECYCLE.wake_forgotten)
    sessions = await db.rows(LIFECYCLE.requeue, grace_s)
    fits = await db.rows(ROUNDS.requeue, grace_s)
    for row in (*nudged, *sessions):
        send(jobs.advance_job(row["id"]))
    for row in fits:
        send(jobs.fit_job(row["session_id"], row["round_key"], row["candidate"]))
    found = {"forgotten": len(nudged), "session": len(sessions), "fit": len(fits)}
    for what, many in found.items():
        SWEEPER_FINDS.labels(what).inc(many)
    return sum(found.values())


async def sweep_for_ever(db: Database, send: SendJob, config: SessionsConfig) -> None:
    """Until cancelled; a pass that fails is followed by the next."""
    while True:
        await asyncio.sleep(config.sweep_s * random.uniform(0.5, 1))  # noqa: S311 - spreads the processes
        try:
            await AdmissionQueue(db, send, config).admit()
            await sweep(db, send, config.grace_s)
        except Exception:
            log.warning("a sweep failed", exc_info=True)
