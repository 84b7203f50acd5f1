"""Messages of workflows by e-mail, to a local SMTP server."""

import asyncio
from collections.abc import AsyncIterator
from email import message_from_bytes, policy
from email.message import Message
from typing import Any

import pytest

from app.settings import Settings

from .conftest import User
from .test_workflow_runs import run

MADE = {"source": {"kind": "generate", "rows": 3, "columns": [{"name": "n", "type": "index"}]}}
OPS = "ops@example.org"


class MailServer:
    """Keeps what it gets. `answers`: other codes than 250, by the verbs that they answer."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, Message]] = []
        self.answers: dict[str, str] = {}
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        recipient = ""
        writer.write(b"220 mail\r\n")
        while line := (await reader.readline()).decode().strip():
            verb = line[:4].upper()
            if verb == "RCPT":
                recipient = line.partition("<")[2].partition(">")[0]
            if verb == "DATA":
                writer.write(b"354 go on\r\n")
                content = await reader.readuntil(b"\r\n.\r\n")
                self.messages.append(
                    (
                        recipient,
                        message_from_bytes(content[:-3].replace(b"\r\n..", b"\r\n."), policy=policy.default),
                    )
                )
            writer.write(f"{self.answers.get(verb, '221' if verb == 'QUIT' else '250')} answer\r\n".encode())
            await writer.drain()
        writer.close()


@pytest.fixture
async def mail() -> AsyncIterator[MailServer]:
    mail = MailServer()
    server = await asyncio.start_server(mail.serve, "127.0.0.1", 0)
    mail.port = server.sockets[0].getsockname()[1]
    yield mail
    server.close()


@pytest.fixture
def settings(settings: Settings, mail: MailServer) -> Settings:
    address = f"smtp://127.0.0.1:{mail.port}"
    changes = {"smtp_url": address, "mail_sender": "lab@example.org", "mail_recipients": (OPS, "@example.net")}
    return settings.model_copy(update=changes)


async def save(user: User, **config: Any) -> Any:
    nodes = [
        {"id": "made", "type": "plan", "config": {"plan": MADE}},
        {"id": "tell", "type": "notify", "config": {"channel": "email", **config}},
    ]
    content = {"name": "Told", "nodes": nodes, "edges": [{"from": "made", "to": "tell"}]}
    return await user.http.post("/workflows", json=content)


@pytest.mark.usefixtures("worker")
async def test_a_run_sends_an_e_mail_to_its_owner_and_to_allowed_recipients(
    ada: User, mail: MailServer
) -> None:
    subject = "{{made.rows}} rows\r\nBcc: victim@example.com"
    saved = (await save(ada, subject=subject, text="There are {{made.rows}} rows.\n.\nEnd")).json()
    ended = await run(ada, f"/workflows/{saved['id']}")
    assert ended["outcome"] == "succeeded", ended
    ((recipient, message),) = mail.messages
    assert (recipient, message["To"], message["From"]) == (ada.email, ada.email, "lab@example.org")
    assert message["Subject"] == "3 rows Bcc: victim@example.com"
    assert message["Bcc"] is None
    assert message.get_content().replace("\r\n", "\n") == "There are 3 rows.\n.\nEnd\n"
    assert message["Message-ID"] == f"<{ended['id']}.tell@example.org>"

    for to in (OPS, "any.body@Example.NET"):
        assert (await save(ada, to=to)).status_code == 201
    for to, code in (("x@example.com", "recipient_not_allowed"), ("a@b@example.net", "recipient_invalid")):
        (fault,) = (await save(ada, to=to)).json()["faults"]
        assert (fault["pointer"], fault["code"]) == ("/nodes/1/config", code)

    await ada.http.put("/secrets/friend", json={"value": "hidden@example.com"})
    hidden = (await save(ada, to="friend")).json()
    refused = await run(ada, f"/workflows/{hidden['id']}")
    assert refused["nodes"]["tell"]["code"] == "recipient_not_allowed"
    assert "hidden@" not in f"{refused}"

    mail.answers["RCPT"] = "550"
    refused = await run(ada, f"/workflows/{saved['id']}")
    assert (refused["outcome"], refused["nodes"]["tell"]["code"]) == ("failed", "mail_refused"), refused
    assert len(mail.messages) == 1
