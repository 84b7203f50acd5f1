"""One connection to Redis at a time, however often it is cut while sessions are watched and left."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest
from redis.asyncio import Redis
from tests.patience import hang_guard

from app.sessions.events.publisher import channel_name
from app.sessions.events.subscriber import EventSubscriber

CUTS = 5


class Proxy:
    """Passes on what a client and Redis send, counts connections that are open, and cuts them."""

    def __init__(self, redis_url: str) -> None:
        self._address = urlsplit(redis_url)
        """Of a socket's file, as the tests' Redis has it."""
        self._server: asyncio.Server | None = None
        self.writers: set[asyncio.StreamWriter] = set()
        self.is_idle = asyncio.Event()

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        database = parse_qs(self._address.query)["db"][0]
        return f"redis://127.0.0.1:{port}/{database}"

    def cut(self) -> None:
        for writer in self.writers:
            writer.transport.abort()

    async def stop(self) -> None:
        assert self._server
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_unix_connection(self._address.path)
        self.writers.add(writer)
        self.is_idle.clear()
        there_and_back = (
            asyncio.create_task(_pump(reader, there[1])),
            asyncio.create_task(_pump(there[0], writer)),
        )
        await asyncio.wait(there_and_back, return_when=asyncio.FIRST_COMPLETED)
        self.writers.discard(writer)
        if not self.writers:
            self.is_idle.set()
        for end in (writer, there[1]):
            end.transport.abort()
        await asyncio.wait(there_and_back)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(4096):
            writer.write(data)
            await writer.drain()


@pytest.fixture
async def proxy(redis_url: str) -> AsyncIterator[Proxy]:
    proxy = Proxy(redis_url)
    yield proxy
    await proxy.stop()


async def test_a_connection_that_is_cut_is_replaced_by_one(proxy: Proxy, redis_url: str) -> None:
    seen: set[UUID] = set()
    subscriber = EventSubscriber(await proxy.start(), lambda session_id, messages: seen.add(session_id))
    kept = [uuid4() for _ in range(3)]
    async with hang_guard(), Redis.from_url(redis_url) as redis:
        await asyncio.gather(*(subscriber.subscribe(session_id) for session_id in kept))
        for _ in range(CUTS):
            proxy.cut()
            passing = [uuid4() for _ in range(4)]
            # The reader finds the connection gone while these commands find the same.
            await asyncio.gather(*(subscriber.subscribe(session_id) for session_id in passing))
            proxy.cut()
            await asyncio.gather(*(subscriber.unsubscribe(session_id) for session_id in passing))
            await subscriber.resubscribe()
        seen.clear()
        while seen != set(kept):
            for session_id in kept:
                await redis.publish(channel_name(session_id), "1 step_committed {}")
            await asyncio.sleep(0.01)
        assert len(proxy.writers) == 1
        await subscriber.close()
        await proxy.is_idle.wait()
