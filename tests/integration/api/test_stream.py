"""Sockets and event streams, through a real server."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from prometheus_client import REGISTRY
from tests.patience import HANG_GUARD_S, hang_guard, until
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError

from app.api.server.protocols import EdgeProtocol, EdgeSocketProtocol
from app.api.server.shutdown import EdgeServer
from app.api.streams import socket_protocol as sockets
from app.api.streams.session_socket import SessionSocket
from app.sessions.events.events import MessagePosted, Progress, SessionFinished
from app.sessions.events.serialization import dump_event, make_event_message

from .conftest import PREFIX, NewUser, User
from .test_sessions import ask, create


@dataclass(frozen=True)
class Server:
    """`port` of a server that runs on the test's own loop."""

    port: int

    def url(self, session: str, query: str = "", scheme: str = "ws") -> str:
        path = "stream" if scheme == "ws" else "events"
        return f"{scheme}://127.0.0.1:{self.port}{PREFIX}/lab/agent/sessions/{session}/{path}{query}"

    def open(
        self, session: str, user: User | None = None, query: str = ""
    ) -> AbstractAsyncContextManager[ClientConnection]:
        token = user.tokens["access_token"] if user else ""
        headers = {"Authorization": f"Bearer {token}"} if user else {}
        return connect(self.url(session, query), additional_headers=headers, open_timeout=HANG_GUARD_S)

    def open_many(self, user: User) -> AbstractAsyncContextManager[ClientConnection]:
        """Open the one stream of a browser."""
        headers = {"Authorization": f"Bearer {user.tokens['access_token']}"}
        address = f"ws://127.0.0.1:{self.port}{PREFIX}/stream"
        return connect(address, additional_headers=headers, open_timeout=HANG_GUARD_S)


@asynccontextmanager
async def listening_server(config: uvicorn.Config, leaving: asyncio.Event | None = None) -> AsyncIterator[int]:
    """Its port; it runs on the test's own loop."""
    running = EdgeServer(config, leaving or asyncio.Event())
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        serving = asyncio.create_task(running._serve([listening]))  # `serve` would take pytest's signals
        try:
            yield listening.getsockname()[1]
        finally:
            running.should_exit = True
            await serving


@pytest.fixture
async def server(app: FastAPI) -> AsyncIterator[Server]:
    config = uvicorn.Config(
        app,
        http=EdgeProtocol,
        ws=EdgeSocketProtocol,
        lifespan="off",
        log_config=None,
        access_log=False,
        ws_max_size=1 << 20,
    )
    async with listening_server(config, app.state.leaving) as port:
        yield Server(port)


@dataclass(frozen=True)
class Stage:
    """Makes a session's events as its driver would: a row in one statement, then the tail."""

    app: FastAPI
    session: UUID

    async def say(self, text: str, shown: bool = True) -> None:
        event = MessagePosted(step=1, role="planner", text=text)
        await self._write(event.kind, dump_event(event), shown)

    async def finish(self, shown: bool = True) -> None:
        event = SessionFinished(result={"best": "ridge"})
        await self._write(event.kind, dump_event(event), shown, "completed")

    async def progress(self, text: str) -> None:
        event = Progress(step=1, attempt=1, text=text)
        self._show(make_event_message(None, datetime.now(UTC), event.kind, dump_event(event)))

    async def _write(self, kind: str, body: str, shown: bool, ended_as: str | None = None) -> None:
        row = await self.app.state.resources.database.row(
            """
            with s as (
              update sessions set event_seq = event_seq + 1, status = coalesce($4, status),
                ended_at = case when $4::text is not null then now() end
              where id = $1 returning id, event_seq)
            insert into events (session_id, n, kind, body) select id, event_seq, $2, $3::json from s
            returning n, at
            """,
            self.session,
            kind,
            body,
            ended_as,
        )
        if shown:
            self._show(make_event_message(row["n"], row["at"], kind, body))

    def _show(self, seen: object) -> None:
        self.app.state.resources.tail.publish(self.session, seen)


@pytest.fixture
async def session(ada: User) -> str:
    return await create(ada)


@pytest.fixture
def stage(app: FastAPI, session: str) -> Stage:
    return Stage(app, UUID(session))


async def heard(client: ClientConnection, count: int) -> list[dict[str, object]]:
    async with hang_guard():
        return [json.loads(await client.recv()) for _ in range(count)]


async def closed(client: ClientConnection) -> tuple[int | None, list[dict[str, object]]]:
    """The close code, and what came before it."""
    before = []
    with suppress(ConnectionClosedError):  # a code of ours is an error to the client's iterator
        async with hang_guard():
            async for message in client:
                before.append(json.loads(message))
    return client.close_code, before


async def test_a_socket_tells_what_was_and_what_comes_and_closes_at_the_end(
    server: Server, ada: User, session: str, stage: Stage
) -> None:
    await stage.say("before")
    async with server.open(session, ada) as client:
        (first,) = await heard(client, 1)
        await stage.say("after")
        await stage.finish()
        code, rest = await closed(client)
    assert code == sockets.Close.ENDED
    assert [first["seq"], *(event["seq"] for event in rest)] == [1, 2, 3]
    assert [first["text"], rest[0]["text"], rest[1]["kind"]] == ["before", "after", "session_finished"]


async def test_one_socket_watches_sessions_and_lists_and_refuses_those_of_others(
    server: Server, ada: User, eve: User, session: str, stage: Stage
) -> None:
    await stage.say("one")
    await stage.say("two")
    other = await create(eve)
    async with server.open_many(ada) as client:
        assert await heard(client, 1) == [{"kind": "hello"}]
        await client.send(json.dumps({"type": "watch", "watch": "a", "session": session, "since": 1}))
        (events,) = await heard(client, 1)
        await client.send(json.dumps({"type": "watch", "watch": "b", "session": other}))
        assert await heard(client, 1) == [{"kind": "refused", "watch": "b", "code": "session_not_found"}]
        await client.send("what?")
        assert (await heard(client, 1))[0]["code"] == "invalid_message"
        await client.send(json.dumps({"type": "watch_lists", "watch": "lists"}))
        first, _ = (await heard(client, 1))[0], await stage.finish()
        ended = [frame["kind"] for frame in await heard(client, 3)]
    assert (events["watch"], [event["text"] for event in events["events"]]) == ("a", ["two"])
    assert (first["kind"], sorted(ended)) == ("lists", ["ended", "events", "lists"])


async def test_the_same_frames_come_as_server_sent_events(
    server: Server, ada: User, session: str, stage: Stage
) -> None:
    await stage.say("one")
    await stage.say("two")
    address = f"http://127.0.0.1:{server.port}{PREFIX}/events?watch=a:{session}:1"
    headers = {"Authorization": f"Bearer {ada.tokens['access_token']}"}
    frames = []
    async with (
        hang_guard(),
        httpx.AsyncClient(timeout=HANG_GUARD_S) as http,
        http.stream("GET", address, headers=headers) as answer,
    ):
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                frames.append(json.loads(line.removeprefix("data: ")))
            if len(frames) == 2:
                break
    assert [frame["kind"] for frame in frames] == ["hello", "events"]
    assert [event["text"] for event in frames[1]["events"]] == ["two"]


async def test_a_socket_comes_back_with_its_cursor_and_misses_nothing(
    server: Server, ada: User, session: str, stage: Stage
) -> None:
    async with server.open(session, ada) as client:
        await stage.say("one")
        (one,) = await heard(client, 1)
    await stage.say("two")
    await stage.say("three")
    async with server.open(session, ada, f"?since={one['seq']}") as client:
        assert [event["text"] for event in await heard(client, 2)] == ["two", "three"]


async def test_an_event_that_the_tail_lost_is_read_from_its_row(
    server: Server, ada: User, session: str, stage: Stage
) -> None:
    async with server.open(session, ada) as client:
        await stage.say("one")
        await heard(client, 1)
        await stage.say("lost", shown=False)
        await stage.say("three")
        assert [event["text"] for event in await heard(client, 2)] == ["lost", "three"]


async def test_live_events_have_no_number(server: Server, ada: User, session: str, stage: Stage) -> None:
    async with server.open(session, ada) as client:
        await stage.say("ready")
        await heard(client, 1)
        await stage.progress("half way")
        (live,) = await heard(client, 1)
    assert (live["kind"], live["text"], "seq" in live) == ("progress", "half way", False)


async def test_a_ticket_opens_one_socket_once(server: Server, ada: User, session: str, stage: Stage) -> None:
    await stage.say("hello")
    made = await ada.http.post(f"/lab/agent/sessions/{session}/ticket")
    query = f"?ticket={made.json()['ticket']}"
    async with server.open(session, query=query) as client:
        assert (await heard(client, 1))[0]["text"] == "hello"
    async with server.open(session, query=query) as client:
        assert await closed(client) == (sockets.Close.NOT_SIGNED_IN, [])


async def test_of_two_sockets_with_one_ticket_one_opens(
    server: Server, ada: User, session: str, stage: Stage
) -> None:
    await stage.finish()
    query = f"?ticket={(await ada.http.post(f'/lab/agent/sessions/{session}/ticket')).json()['ticket']}"

    async def attempt() -> int | None:
        async with server.open(session, query=query) as client:
            return (await closed(client))[0]

    codes = await asyncio.gather(*(attempt() for _ in range(5)))
    assert sorted(codes) == [sockets.Close.ENDED] + [sockets.Close.NOT_SIGNED_IN] * 4


async def test_a_ticket_opens_its_own_session_only(server: Server, ada: User, session: str) -> None:
    other = await create(ada)
    made = await ada.http.post(f"/lab/agent/sessions/{session}/ticket")
    async with server.open(other, query=f"?ticket={made.json()['ticket']}") as client:
        assert (await closed(client))[0] == sockets.Close.NOT_SIGNED_IN


async def test_a_ticket_lives_thirty_seconds(app: FastAPI, ada: User, session: str) -> None:
    await ada.http.post(f"/lab/agent/sessions/{session}/ticket")
    (key,) = await app.state.resources.redis.keys("ticket:*")
    assert 0 < await app.state.resources.redis.ttl(key) <= 30


async def test_nobody_and_somebody_else_are_told_by_a_code(
    server: Server, new_user: NewUser, session: str
) -> None:
    async with server.open(session) as client:
        assert (await closed(client))[0] == sockets.Close.NOT_SIGNED_IN
    async with server.open(session, await new_user()) as client:
        assert (await closed(client))[0] == sockets.Close.NOT_FOUND


async def test_an_answer_goes_in_over_the_socket(app: FastAPI, server: Server, ada: User, session: str) -> None:
    await ask(app, session)
    async with server.open(session, ada) as client:
        await client.send(json.dumps({"type": "respond", "answer": "age", "id": "a"}))
        (refused,) = await heard(client, 1)
        assert (refused["type"], refused["code"], refused["id"]) == ("problem", "answer_invalid", "a")
        await client.send(json.dumps({"type": "respond", "answer": "fare", "id": "b"}))
        answers = await heard(client, 2)
    by_type = {str(answer.get("type", "event")): answer for answer in answers}
    assert by_type["done"]["question"] == "1.ask:1"
    assert (by_type["event"]["kind"], by_type["event"]["answer"]) == ("clarification_answered", "fare")


async def test_a_cancel_goes_in_over_the_socket(server: Server, ada: User, session: str) -> None:
    async with server.open(session, ada) as client:
        await client.send(json.dumps({"type": "cancel"}))
        assert (await heard(client, 1))[0]["type"] == "done"
    assert (await ada.http.get(f"/lab/agent/sessions/{session}")).json()["status"] == "cancelling"


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"type": "dance"}', '{"type": "respond"}'])
async def test_a_strange_message_is_refused_and_the_socket_lives_on(
    server: Server, ada: User, session: str, stage: Stage, text: str
) -> None:
    async with server.open(session, ada) as client:
        await client.send(text)
        assert (await heard(client, 1))[0]["code"] == "invalid_message"
        await stage.say("still here")
        assert (await heard(client, 1))[0]["text"] == "still here"


async def test_a_huge_message_closes_the_socket(server: Server, ada: User, session: str) -> None:
    async with server.open(session, ada) as client:
        await client.send("x" * (sockets.MAX_MESSAGE_BYTES + 1))
        assert (await closed(client))[0] == sockets.Close.TOO_LARGE


async def test_a_quiet_socket_has_a_heartbeat(
    server: Server, ada: User, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SessionSocket.__init__, "__defaults__", (0.05, HANG_GUARD_S))
    async with server.open(session, ada) as client:
        assert await heard(client, 2) == [{"type": "heartbeat"}] * 2


async def test_a_slow_reader_is_closed_with_a_code_and_comes_back_with_its_cursor(
    server: Server, ada: User, session: str, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(30):
        await stage.say("x" * 400_000)
    too_slow = slow_clients()
    with monkeypatch.context() as impatient:
        impatient.setattr(SessionSocket.__init__, "__defaults__", (15.0, 0.3))
        impatient.setattr(sockets, "MAX_CLOSE_S", HANG_GUARD_S)
        async with connect(
            server.url(session),
            additional_headers={"Authorization": f"Bearer {ada.tokens['access_token']}"},
            max_queue=1,
            compression=None,
            open_timeout=HANG_GUARD_S,
        ) as client:
            await until(lambda: slow_clients() > too_slow)  # reading nothing is what is tested
            code, before = await closed(client)
    assert code == sockets.Close.TOO_SLOW
    cursor = before[-1]["seq"]
    async with server.open(session, ada, f"?since={cursor}") as client:
        assert (await heard(client, 1))[0]["seq"] == int(str(cursor)) + 1


def slow_clients() -> float:
    """Sockets that this process has closed since their clients read too slowly."""
    return REGISTRY.get_sample_value("labcrew_slow_clients_cut_total", {"where": "socket"}) or 0.0


def parsed(text: str) -> list[dict[str, str]]:
    blocks = [block.splitlines() for block in text.split("\n\n") if block]
    return [dict(line.split(": ", 1) for line in block) for block in blocks]


async def test_an_event_stream_replays_and_closes(
    server: Server, ada: User, session: str, stage: Stage
) -> None:
    await stage.say("one")
    await stage.finish()
    async with httpx.AsyncClient(headers=ada.http.headers, timeout=HANG_GUARD_S) as http:
        answer = await http.get(server.url(session, scheme="http"))
    assert answer.headers["content-type"].startswith("text/event-stream")
    retry, one, last = parsed(answer.text)
    assert retry == {"retry": "1000"}
    assert (one["id"], one["event"], json.loads(one["data"])["text"]) == ("1", "message", "one")
    assert (last["id"], last["event"]) == ("2", "session_finished")


async def test_an_event_stream_goes_on_from_the_last_event_id(
    server: Server, ada: User, session: str, stage: Stage
) -> None:
    for text in ("one", "two"):
        await stage.say(text)
    await stage.finish()
    async with httpx.AsyncClient(headers=ada.http.headers, timeout=HANG_GUARD_S) as http:
        url = server.url(session, scheme="http")
        rest = await http.get(url, headers={"Last-Event-ID": "1"})
        same = await http.get(url, params={"since": 1})
        over = await http.get(url, headers={"Last-Event-ID": "3"})
    assert rest.text == same.text
    assert [block["id"] for block in parsed(rest.text)[1:]] == ["2", "3"]
    assert over.status_code == 204


async def test_an_event_stream_pushes(server: Server, ada: User, session: str, stage: Stage) -> None:
    async with (
        httpx.AsyncClient(headers=ada.http.headers, timeout=HANG_GUARD_S) as http,
        http.stream("GET", server.url(session, scheme="http")) as answer,
    ):
        lines = answer.aiter_lines()
        assert await anext(lines) == "retry: 1000"
        await stage.say("pushed")
        async for line in lines:
            if line.startswith("data: "):
                break
    assert json.loads(line.removeprefix("data: "))["text"] == "pushed"
