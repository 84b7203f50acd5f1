"""A watcher hears of events through Redis, and waits for it no longer than it may."""

import asyncio
from uuid import uuid4

from tests.patience import hang_guard

from app.sessions.events.subscriber import EventSubscriber


async def _say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


async def test_nobody_waits_long_for_a_redis_that_takes_commands_and_says_nothing() -> None:
    server = await asyncio.start_server(_say_nothing, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    ear = EventSubscriber(f"redis://127.0.0.1:{port}/0", lambda session_id, seen: None)
    session_id = uuid4()
    async with hang_guard():
        await asyncio.gather(ear.subscribe(session_id), ear.subscribe(uuid4()))
        await ear.resubscribe()
        await ear.unsubscribe(session_id)
        await ear.close()
    server.close()
    await server.wait_closed()
