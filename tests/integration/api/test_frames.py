"""Frames that are not messages of ours, through a real server: a close code or a problem, never a traceback."""

import json
import logging
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from app.api.server.protocols import MAX_PARTS
from app.api.streams import socket_protocol as sockets

from .conftest import User
from .test_sessions import ask
from .test_size_limits import give
from .test_stream import FastAPI, Server, Stage, closed, heard, server, session, stage

__all__ = ["server", "session", "stage"]

PROTOCOL_ERROR, INVALID_TEXT, TOO_MANY, TOO_LARGE = 1002, 1007, 1008, 1009


class Errors(logging.Handler):
    """Records of the log that are errors or carry a traceback."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR or record.exc_info:
            self.records.append(record)


@pytest.fixture(autouse=True)
def _no_errors_in_the_log() -> Iterator[None]:
    errors, names = Errors(), (None, "uvicorn", "uvicorn.error", "app.api.streams.socket_protocol")
    for name in names:
        logging.getLogger(name).addHandler(errors)
    yield
    for name in names:
        logging.getLogger(name).removeHandler(errors)
    assert [record.getMessage() for record in errors.records] == []


def raw(opcode: Opcode, data: bytes, *, fin: bool = True) -> bytes:
    return bytes(Frame(opcode, data, fin=fin).serialize(mask=True))


MALFORMED: dict[str, tuple[bytes, int]] = {
    "a binary frame": (raw(Opcode.BINARY, b'{"type": "cancel"}'), PROTOCOL_ERROR),
    "an empty binary frame": (raw(Opcode.BINARY, b""), PROTOCOL_ERROR),
    "binary fragments": (raw(Opcode.BINARY, b"a", fin=False) + raw(Opcode.CONT, b"b"), PROTOCOL_ERROR),
    "a continuation of nothing": (raw(Opcode.CONT, b"a"), PROTOCOL_ERROR),
    "a message within another": (raw(Opcode.TEXT, b"a", fin=False) + raw(Opcode.TEXT, b"b"), PROTOCOL_ERROR),
    "a reserved opcode": (b"\x83\x80\x00\x00\x00\x00", PROTOCOL_ERROR),
    "reserved bits": (b"\xf1\x80\x00\x00\x00\x00", PROTOCOL_ERROR),
    "no mask": (b"\x81\x02{}", PROTOCOL_ERROR),
    "a ping over 125 bytes": (b"\x89\xfe\x00\x7e" + bytes(4 + 126), PROTOCOL_ERROR),
    "bytes that are no UTF-8": (raw(Opcode.TEXT, b"\xff\xfe"), INVALID_TEXT),
    "half a surrogate pair": (raw(Opcode.TEXT, b"\xed\xa0\x80"), INVALID_TEXT),
    "a cut character": (raw(Opcode.TEXT, b"\xe2\x82", fin=False) + raw(Opcode.CONT, b""), INVALID_TEXT),
    "two megabytes": (raw(Opcode.TEXT, b"x" * (2 << 20)), TOO_LARGE),
    "few characters of many bytes": (
        raw(Opcode.TEXT, "\U0001f600".encode() * (sockets.MAX_MESSAGE_BYTES // 4 + 1)),
        TOO_LARGE,
    ),
    "endless fragments": (
        raw(Opcode.TEXT, b"", fin=False) + 9 * raw(Opcode.CONT, b"x" * (200 << 10), fin=False),
        TOO_LARGE,
    ),
    "endless empty fragments": (
        raw(Opcode.TEXT, b"", fin=False) + MAX_PARTS * raw(Opcode.CONT, b"", fin=False),
        TOO_MANY,
    ),
    "a flood of pings": ((MAX_PARTS + 1) * raw(Opcode.PING, b"x"), TOO_MANY),
    "a flood of pongs": ((MAX_PARTS + 1) * raw(Opcode.PONG, b""), TOO_MANY),
    "a flood of pings within a message": (
        raw(Opcode.TEXT, b"{", fin=False) + MAX_PARTS * raw(Opcode.PING, b"") + raw(Opcode.CONT, b"}"),
        TOO_MANY,
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_a_frame_that_is_no_message_ends_the_socket_with_a_code(
    server: Server, ada: User, session: str, name: str
) -> None:
    frames, code = MALFORMED[name]
    async with server.open(session, ada) as client:
        client.transport.write(frames)
        assert await closed(client) == (code, [])
    status = (await ada.http.get(f"/lab/agent/sessions/{session}")).json()["status"]
    assert status != "cancelling"


async def test_pings_below_the_bound_change_nothing(server: Server, ada: User, session: str) -> None:
    async with server.open(session, ada) as client:
        client.transport.write((MAX_PARTS - 1) * raw(Opcode.PING, b"x") + raw(Opcode.TEXT, b"{}"))
        (answer,) = await heard(client, 1)
    assert answer["code"] == "invalid_message"


async def test_a_message_in_fragments_is_one_message(server: Server, ada: User, session: str) -> None:
    parts = [b'{"type"', b': "can', b'cel", "id": "\xe2', b'\x82\xac"}']
    opcodes = [Opcode.TEXT, *3 * [Opcode.CONT]]
    async with server.open(session, ada) as client:
        for i, (opcode, part) in enumerate(zip(opcodes, parts, strict=True)):
            client.transport.write(raw(opcode, part, fin=i == 3))
        (answer,) = await heard(client, 1)
    assert (answer["type"], answer["id"]) == ("done", "€")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "invalid_message"),
        ("null", "invalid_message"),
        ("[]", "invalid_message"),
        ('"cancel"', "invalid_message"),
        ("1e999", "invalid_message"),
        ("9" * 10_000, "invalid_message"),
        ('{"type": null}', "invalid_message"),
        ('{"type": ["cancel"]}', "invalid_message"),
        ('{"type": "dance"}', "invalid_message"),
        ('{"type": "cancel", "id": 7}', "invalid_message"),
        ('{"type": "cancel", "also": 1}', "invalid_message"),
        ('{"type": "cancel", "id": "\ud800"}', "invalid_message"),
        ("[" * 100_000, "json_too_deep"),
        ('{"type": "respond", "answer": ' + "[" * 60 + "]" * 60 + "}", "json_too_deep"),
        ('{"type": "respond", "answer": ' + '{"a":' * 60 + "1" + "}" * 61, "json_too_deep"),
        ('"' + '\\"' * 50_000 + "[" * 50, "invalid_message"),
    ],
)
async def test_a_text_that_is_no_message_is_answered_and_the_socket_lives_on(
    server: Server, ada: User, session: str, stage: Stage, text: str, code: str
) -> None:
    async with server.open(session, ada) as client:
        await client.send(text.encode("utf-8", "backslashreplace").decode())
        (problem,) = await heard(client, 1)
        assert (problem["type"], problem["code"]) == ("problem", code)
        await stage.say("still open")
        assert (await heard(client, 1))[0]["text"] == "still open"


@pytest.mark.parametrize("answer", ['"\\ud800"', '"a\\u0000b"', '{"\\udfff": 1}', "1e999", "NaN", "-Infinity"])
async def test_an_answer_that_cannot_be_stored_is_refused_and_the_socket_lives_on(
    app: FastAPI, server: Server, ada: User, session: str, answer: str
) -> None:
    await ask(app, session)
    async with server.open(session, ada) as client:
        await client.send(f'{{"type": "respond", "answer": {answer}}}')
        (problem,) = await heard(client, 1)
        assert problem["type"] == "problem"
        await client.send(json.dumps({"type": "cancel"}))
        assert (await heard(client, 1))[0]["type"] == "done"


async def test_the_faults_of_a_message_are_bounded(server: Server, ada: User, session: str) -> None:
    fields = {f"{i}{'x' * 1000}": 1 for i in range(200)}
    async with server.open(session, ada) as client:
        await client.send(json.dumps({"type": "cancel", **fields}))
        (problem,) = await heard(client, 1)
    assert len(json.dumps(problem)) < 32 << 10


async def test_a_client_that_leaves_in_the_middle_of_a_message_is_let_go(
    server: Server, ada: User, session: str
) -> None:
    async with server.open(session, ada) as client:
        client.transport.write(raw(Opcode.TEXT, b'{"type"', fin=False))
        client.transport.abort()
        with pytest.raises(ConnectionClosed):
            await client.recv()


async def test_commands_of_a_session_come_at_the_rate_of_requests(
    app: FastAPI, server: Server, ada: User, session: str
) -> None:
    await give(app, ada, requests="5/hour")
    async with server.open(session, ada) as client:
        for _ in range(7):
            await client.send("{}")
        answers = await heard(client, 7)
    assert [answer["code"] for answer in answers] == ["invalid_message"] * 5 + ["rate_limited"] * 2
    assert answers[-1]["of"] == "commands"


async def test_commands_of_a_browser_come_at_the_rate_of_requests(
    app: FastAPI, server: Server, ada: User, session: str
) -> None:
    await give(app, ada, requests="5/hour")
    watch = json.dumps({"type": "watch", "watch": "a", "session": session, "since": 1})
    async with server.open_many(ada) as client:
        assert await heard(client, 1) == [{"kind": "hello"}]
        for _ in range(5):
            await client.send("what?")
        assert {frame["code"] for frame in await heard(client, 5)} == {"invalid_message"}
        await client.send(watch)
        assert (await heard(client, 1))[0]["code"] == "rate_limited"
