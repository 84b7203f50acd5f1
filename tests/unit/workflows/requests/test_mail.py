"""E-mails to a local SMTP server that answers oddly."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from app.errors import LabError
from app.workflows.requests.mail import Mail, send_mail
from app.workflows.requests.mail_config import MailConfig
from app.workflows.requests.passing import PassingFailure

MAIL = Mail("ops@example.org", "Hello", "A text", "key")


@dataclass
class MailServer:
    """Takes messages. `answers`: codes by verb, in turn, before it answers as usual."""

    answers: dict[str, list[str]] = field(default_factory=dict)
    taken: int = 0
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail\r\n")
        while line := (await reader.readline()).decode().strip():
            verb = line[:4].upper()
            if verb == "DATA":
                writer.write(b"354 go on\r\n")
                await reader.readuntil(b"\r\n.\r\n")
            code = self.answers[verb].pop(0) if self.answers.get(verb) else "250"
            self.taken += verb == "DATA" and code == "250"
            writer.write(f"{code} answer\r\n".encode())
            await writer.drain()
        writer.close()


@pytest.fixture
async def server() -> AsyncIterator[MailServer]:
    server = MailServer()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    yield server
    listener.close()


async def send(server: MailServer) -> None:
    await send_mail(MailConfig(f"smtp://127.0.0.1:{server.port}", "lab@example.org"), MAIL)


async def test_a_message_that_is_not_taken_now_may_be_sent_again(server: MailServer) -> None:
    server.answers = {"RCPT": ["450"], "DATA": ["451"]}
    for _ in range(2):
        with pytest.raises(PassingFailure):
            await send(server)
    await send(server)
    assert server.taken == 1


async def test_a_message_that_is_refused_for_good_is_not_sent_again(server: MailServer) -> None:
    server.answers = {"RCPT": ["550"]}
    with pytest.raises(LabError) as refused:
        await send(server)
    assert (refused.value.code, isinstance(refused.value, PassingFailure)) == ("mail_refused", False)


async def test_an_odd_farewell_does_not_undo_a_message_that_was_taken(server: MailServer) -> None:
    server.answers = {"QUIT": ["500"]}
    await send(server)
    assert server.taken == 1
