"""A process that is asked to stop: who has begun is served, who watches is sent away in good order."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from uuid import UUID

import httpx
import uvicorn
from fastapi import FastAPI
from tests.patience import HANG_GUARD_S
from websockets.asyncio.client import ClientConnection

from app.api.server.protocols import EdgeProtocol, EdgeSocketProtocol

from .conftest import PREFIX, User
from .test_sessions import GOAL, SESSIONS, create
from .test_stream import Server, Stage, closed, heard, listening_server


async def test_watchers_are_told_to_come_back_and_requests_end(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    stage = Stage(app, UUID(session))
    sending = asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        body = json.dumps(GOAL).encode()
        yield body[:5]
        sending.set()
        await asyncio.sleep(
            0.3
        )  # clock: the server is told to leave meanwhile; if it is told later, nothing changes
        yield body[5:]

    headers = {**ada.http.headers, "Content-Type": "application/json"}
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx.AsyncClient(headers=headers, timeout=HANG_GUARD_S))
        config = uvicorn.Config(
            app, http=EdgeProtocol, ws=EdgeSocketProtocol, lifespan="off", log_config=None, access_log=False
        )
        async with listening_server(config, app.state.leaving) as port:
            server = Server(port)
            socket: ClientConnection = await stack.enter_async_context(server.open(session, ada))
            stream = await stack.enter_async_context(http.stream("GET", server.url(session, scheme="http")))
            lines = stream.aiter_lines()
            assert await anext(lines) == "retry: 1000"
            data_lines = (line.removeprefix("data: ") async for line in lines if line.startswith("data: "))
            await stage.say("before")
            assert [event["seq"] for event in await heard(socket, 1)] == [1]
            # The two streams are separate: the second may get the event later than the first.
            told = [await anext(data_lines)]
            url = f"http://127.0.0.1:{port}{PREFIX}{SESSIONS}"
            begun = asyncio.create_task(http.post(url, content=slowly()))
            await sending.wait()

        assert await closed(socket) == (1012, [])
        told += [line async for line in data_lines]
        assert [json.loads(data)["text"] for data in told] == ["before"]
        assert (await begun).status_code == 201, (await begun).text
