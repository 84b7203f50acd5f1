"""Source of events: made as a driver makes them, a row in one statement and then the tail, each with its time.

Reads a line of JSON from standard input, `[rounds, events a second, session, ...]`: each round makes one event
in each session. Prints their number and the seconds that they took.
"""

import asyncio
import json
import sys
import time
from datetime import UTC, datetime
from uuid import UUID

import uvloop
from redis.asyncio import Redis

from app.db.pool import Database
from app.sessions.events.events import MessagePosted
from app.sessions.events.publisher import EventPublisher
from app.sessions.events.serialization import dump_event, make_event_message
from app.settings import load_settings

_WRITE = """
with s as (update sessions set event_seq = event_seq + 1 where id = $1 returning id, event_seq),
e as (insert into events (session_id, n, kind, body, at) select id, event_seq, $2, $3::json, $4 from s)
select event_seq from s
"""
_TEXT = "A message of a common length, as agents post them: what was found, and what is done next. " * 2


async def publish(db: Database, tail: EventPublisher, session: UUID, one_driver: asyncio.Lock) -> None:
    """Add an event, and publish it with the time at which its row was committed, in the place of its author."""
    async with one_driver:
        at, event = datetime.now(UTC), MessagePosted(step=1, role="planner", text=_TEXT)
        n = (await db.row(_WRITE, session, event.kind, dump_event(event), at) or {})["event_seq"]
        message = MessagePosted(step=1, role=str(time.monotonic_ns()), text=_TEXT)
        tail.publish(session, make_event_message(n, at, message.kind, dump_event(message)))


async def main() -> None:
    rounds, rate, *sessions = json.loads(sys.stdin.readline())
    settings = load_settings()
    db = await Database.open(settings.database_url or "")
    redis = Redis.from_url(settings.redis_address or "")
    tail = EventPublisher(redis)
    tail.start()
    began, due = time.monotonic(), 0.0
    drivers = {session: asyncio.Lock() for session in sessions}
    running: set[asyncio.Task[None]] = set()
    for _ in range(rounds):
        for session in sessions:
            if (early := began + due - time.monotonic()) > 0:
                await asyncio.sleep(early)
            due += 1 / rate
            task = asyncio.create_task(publish(db, tail, UUID(session), drivers[session]))
            running.add(task)
            task.add_done_callback(running.discard)
    await asyncio.gather(*running)
    print(json.dumps({"made": rounds * len(sessions), "seconds": time.monotonic() - began}), flush=True)
    await tail.close()
    await redis.aclose()
    await db.close()


if __name__ == "__main__":
    uvloop.run(main())
