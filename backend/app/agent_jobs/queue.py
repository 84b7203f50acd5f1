"""The Redis queue of jobs: `agent:jobs`, and an answer at `agent:results:{job_id}`.

A message is taken into a list of its listener, becomes a row, and only then is removed. Whatever dies in
between, the message is queued again and finds its row. An answer is a row before it is delivered.
"""

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg
from redis.asyncio import Redis

from app.agent_jobs.answer import JobAnswer, make_refusal
from app.agent_jobs.config import QueueConfig
from app.agent_jobs.message import InvalidJob, JobMessage, parse_message
from app.agent_jobs.service import JobService
from app.agent_jobs.statements import JOBS
from app.db.pool import Database, is_away
from app.errors import InvalidInput, LabError
from app.jobs import REDIS_AWAY
from app.observability.metrics.agent_jobs import JOBS_RECLAIMED, JOBS_TAKEN

log = logging.getLogger(__name__)

QUEUE = "agent:jobs"
IN_PROGRESS = "agent:jobs:taken:"
"""Before the id of a listener: the messages that it has taken and not yet stored."""
DEAD = "agent:jobs:dead"
LISTENERS = "agent:listeners"
"""Ids of listeners by the Unix time at which they last showed life."""
_FORGET_S = 600.0
"""Seconds after which a dead listener is forgotten: one that was only paused has shown life again by then."""
RESULTS = "agent:results:"
MAX_DEAD = 1_000
"""Messages that are no jobs and are kept to be looked at."""
MAX_DEAD_CHARS = 10_000
"""Characters of such a message that are kept."""
_WAIT_S = 1
"""Seconds that one command waits for a message; between two of them the listener shows that it lives."""
_PAUSE_S = 0.5
"""Seconds before another attempt while Redis or Postgres is away."""
MAX_ATTEMPTS = 3
"""Attempts to take a message that ends in an error of this service: more would hold those behind it."""
_MESSAGE_ERRORS = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.ProgramLimitExceededError,
)
"""Errors of Postgres that come again with the same message; any other passes once an operator mends it."""

JobsOf = Callable[[UUID], JobService]


@dataclass(frozen=True)
class JobQueue:
    """A listener of the queue. `on_taken`: called when a job became a row.

    `attempts`: by message, those that ended in an error of this service.
    """

    redis: "Redis"
    db: Database
    config: QueueConfig
    jobs_of: JobsOf
    on_taken: Callable[[], object] = lambda: None
    listener_id: str = field(default_factory=lambda: uuid4().hex)
    attempts: Counter[bytes] = field(default_factory=Counter)

    @property
    def in_progress(self) -> str:
        return f"{IN_PROGRESS}{self.listener_id}"

    async def listen_for_ever(self) -> None:
        """Take messages until cancelled. While Redis or Postgres is away, it tries again."""
        while True:
            _end_if_cancelled()
            try:
                await self.show_life()
                await self.reclaim()
                # What an attempt that failed has left comes first, so that the order stays.
                await self.take_held()
                # Moved in one command: whenever this process dies, the message is in one of the two lists.
                message = await self.redis.blmove(QUEUE, self.in_progress, _WAIT_S, "RIGHT", "LEFT")
                if message is not None:
                    await self.handle(as_bytes(message))
            except REDIS_AWAY:
                await asyncio.sleep(_PAUSE_S)
            # Nobody starts a listener again: an error that no branch expects must not end it.
            except Exception:
                log.warning("a job cannot be stored now", exc_info=True)
                await asyncio.sleep(_PAUSE_S)

    async def show_life(self) -> None:
        await self.redis.zadd(LISTENERS, {self.listener_id: time.time()})

    async def take_held(self) -> None:
        """Handle the messages that this listener took before Redis or Postgres went away."""
        for message in reversed(await _wait(self.redis.lrange(self.in_progress, 0, -1))):
            await self.handle(as_bytes(message))

    async def reclaim(self) -> None:
        """Queue again what dead listeners have taken."""
        dead_since = time.time() - self.config.listener_s
        for member in await self.redis.zrangebyscore(LISTENERS, "-inf", dead_since):
            listener = as_bytes(member).decode()
            # The newest first, to the end that messages are taken from: the oldest is next again.
            while await self.redis.lmove(f"{IN_PROGRESS}{listener}", QUEUE, "LEFT", "RIGHT") is not None:
                JOBS_RECLAIMED.inc()
        await self.redis.zremrangebyscore(LISTENERS, "-inf", dead_since - _FORGET_S)

    async def handle(self, payload: bytes) -> None:
        """Make a message a row, or refuse it; then remove it from the list of this listener."""
        job_id = None
        try:
            message = parse_message(payload)
            job_id = message.job_id
            await self._take(message)
            JOBS_TAKEN.labels("taken").inc()
        except InvalidJob as error:
            JOBS_TAKEN.labels("refused").inc()
            if error.job_id is None:
                await self._bury(payload, error)
            else:
                await self._refuse(error.job_id, error)
        except LabError as error:
            if error.kind == "unavailable":
                # It stays in the list of this listener, and is handled again.
                raise
            JOBS_TAKEN.labels("refused").inc()
            await self._refuse(message.job_id, error)
        except Exception as error:
            if not self._gives_up(payload, error):
                raise
            JOBS_TAKEN.labels("refused").inc()
            log.exception("a job cannot be taken", extra={"job": job_id})
            await self._give_up(payload, job_id, error)
        self.attempts.pop(payload, None)
        await _wait(self.redis.lrem(self.in_progress, 1, payload))  # type: ignore[arg-type]  # typed as text, takes bytes

    async def _take(self, message: JobMessage) -> None:
        owner = await self._find_owner(message)
        if await self.db.value(JOBS.is_job_id_taken, message.job_id, owner):
            # Without an answer: at this key the other account would read it as that of its own job.
            raise InvalidJob(
                "job_id_taken",
                f"Another account waits for its job {message.job_id}. Send this one with another id.",
            )
        jobs = self.jobs_of(owner)
        record = await jobs.take(message, is_queued=True)
        await self.db.value(JOBS.repeat_job, record.id)
        self.on_taken()

    def _gives_up(self, payload: bytes, error: Exception) -> bool:
        """Check if a message is refused after an error that no sender can mend."""
        is_of_database = isinstance(error, asyncpg.PostgresError) and not isinstance(error, _MESSAGE_ERRORS)
        if is_away(error) or is_of_database:
            return False
        self.attempts[payload] += 1
        return self.attempts[payload] >= MAX_ATTEMPTS

    async def _give_up(self, payload: bytes, job_id: str | None, error: Exception) -> None:
        """Keep a message for the operator, and answer it if it has an id."""
        refusal = LabError(
            "job_not_taken", f"This service cannot take the job: {type(error).__name__}. Its log has the error."
        )
        await self._bury(payload, refusal)
        if job_id is not None:
            await self._refuse(job_id, refusal)

    async def _find_owner(self, message: JobMessage) -> UUID:
        """Raises InvalidInput for an owner that no account is known of."""
        name = message.workflow_owner or ""
        address = self.config.owners.get(name)
        account = await self.db.value(JOBS.find_account, address) if address else None
        if account is None:
            raise InvalidInput(
                "owner_unknown",
                f"No account is known for the workflow_owner {name!r}. An operator names it in "
                "AGENT_QUEUE_OWNERS.",
            )
        return UUID(str(account))

    async def _refuse(self, job_id: str, error: LabError) -> None:
        """Answer a message that was not taken; an answer that is there stays."""
        if not await self.redis.exists(f"{RESULTS}{job_id}"):
            await self.publish(make_refusal(job_id, error))

    async def _bury(self, payload: bytes, error: LabError) -> None:
        text = payload[: MAX_DEAD_CHARS * 4].decode("utf-8", "replace")[:MAX_DEAD_CHARS]
        record = {"reason": error.code, "detail": error.detail, "message": text, "at": f"{datetime.now(UTC)}"}
        async with self.redis.pipeline(transaction=True) as commands:
            commands.lpush(DEAD, json.dumps(record))
            commands.ltrim(DEAD, 0, MAX_DEAD - 1)
            await commands.execute()

    async def publish(self, answer: JobAnswer) -> None:
        """Deliver an answer. The list holds it once, however often this is repeated before it is read."""
        key, text = f"{RESULTS}{answer.job_id}", answer.model_dump_json()
        async with self.redis.pipeline(transaction=True) as commands:
            commands.delete(key)
            commands.lpush(key, text)
            commands.expire(key, self.config.answer_s)
            commands.publish(key, text)
            await commands.execute()


def _end_if_cancelled() -> None:
    """Raise again a cancellation that came while a command was about to end, and that the client swallowed."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def as_bytes(message: Any) -> bytes:
    return message if isinstance(message, bytes) else str(message).encode()


async def _wait(answer: Awaitable[Any] | Any) -> Any:
    """Wait for a command that redis-py types as one of a blocking client, too."""
    return await answer
