"""What a session with a chat model leaves behind: everything for its owner, nothing of it in logs and spans."""

import io
import json
import logging
import random
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from fastapi import FastAPI
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.scripted_chat import ScriptedChat, by_policy, output_of, serving

from app.observability.logging import configure_logging
from app.observability.otlp_exporter import provider
from app.observability.tracing import use_tracer
from app.settings import Settings

from .chatting import REAL, SESSIONS, Json, begin_session, chatting, trail, until_the_end
from .conftest import User

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(REAL), reason="what is planted is scripted")]

PERSON = "grace.hopper@example.net"
TOKEN = "planted-token-in-a-cell"
KEY = "planted-key-of-the-provider"
FIRST, SECOND = "openai:first", "openai:second"


def members(rows: int = 160) -> bytes:
    chance = random.Random(3)
    lines = ["member,token,age,visits,left"]
    for row in range(rows):
        age, visits = chance.randint(18, 80), chance.randint(0, 30)
        left = "yes" if age + chance.gauss(0, 9) > 48 else "no"
        lines.append(f"{row}.{PERSON},{TOKEN}-{row},{age},{visits},{left}")
    return "\n".join(lines).encode()


def gossiping(asked: Json, place: int) -> AIMessage:
    """The policy's calls, and everything that was read said aloud and put into a call that is refused."""
    message = by_policy(asked, place)
    said = [one for one in asked["messages"] if one["role"] == "assistant"]
    if output_of(asked) != "Analysis" or said:
        return message
    told = tool_call(name=f"send {PERSON}", args={"to": PERSON, "token": TOKEN}, id=None)
    return AIMessage(f"{PERSON} has {TOKEN}.", tool_calls=[told, *message.tool_calls])


@pytest.fixture
def chat() -> Iterator[ScriptedChat]:
    with serving(ScriptedChat(gossiping, faults={2: "500"})) as chat:
        yield chat


@pytest.fixture
def settings(settings: Settings, chat: ScriptedChat, tmp_path: Path) -> Settings:
    return chatting(
        settings,
        chat,
        tmp_path,
        llm_model=FIRST,
        llm_fallback_models=[SECOND],
        openai_api_key=KEY,
        agent_max_retries=0,
    )


@pytest.fixture
def said(app: FastAPI) -> Iterator[io.StringIO]:
    """Every log line of the test, as the service writes it."""
    root = logging.getLogger()
    before, stream = (root.handlers, root.level), io.StringIO()
    configure_logging("INFO", "json", stream)
    yield stream
    root.handlers, root.level = before


ID_OR_NAME = re.compile(r"[\w.:+-]{1,64}")
FIELDS = {
    "chat_answered": {"agent", "model", "call", "tool_calls", "seconds"},
    "tool_called": {"agent", "tool", "call", "outcome", "seconds"},
    "question_asked": {"question", "question_kind", "agent"},
    "question_answered": {"question"},
}
"""Lines of a session in the log -> what each says, besides where it was."""
PLACE = {"event", "level", "logger", "timestamp", "request_id", "session_id", "step", "node", "attempt"}


def check_lines(text: str) -> None:
    """Each kind of line was written, and holds ids, names and numbers only: no words of a user or a model."""
    lines = [json.loads(line) for line in text.splitlines()]
    for event, fields in FIELDS.items():
        of_kind = [line for line in lines if line["event"] == event]
        assert of_kind, event
        for line in of_kind:
            assert fields <= line.keys() <= fields | PLACE, line
            assert all(ID_OR_NAME.fullmatch(str(value)) for value in line.values()), line
            assert UUID(line["session_id"])


async def test_only_the_owner_reads_what_was_said_and_done(
    app: FastAPI, ada: User, eve: User, chat: ScriptedChat, said: io.StringIO
) -> None:
    exporter = InMemorySpanExporter()
    made = provider("", 1.0, exporter)
    with use_tracer(made.get_tracer("test")):
        goal = f"Predict who left. Ask {PERSON} if unsure."
        session = await begin_session(
            ada, "members.csv", members(), goal, deterministic=True, target="left", review_plan=True
        )
        view, _ = await until_the_end(app, ada, session, lambda question: question["default"])
    made.force_flush()
    assert view["status"] == "completed", view["error"]

    spans = [one for one in exporter.get_finished_spans() if one.name.startswith("chat ")]
    facts = [(one.attributes or {}) for one in spans]
    assert {one["gen_ai.request.model"] for one in facts} == {FIRST}
    assert [one["gen_ai.response.model"] for one in facts].count(SECOND) == 1
    rows = await trail(ada, session)
    answered = [row["detail"]["answered_by"] for row in rows if row["action"] == "chat_model_called"]
    assert answered.count(SECOND) == 1
    assert set(answered) == {FIRST, SECOND}
    tools = [row["detail"] for row in rows if row["action"] == "tool_called"]
    assert all(len(one["result_digest"]) == 64 and isinstance(one["arguments"], dict) for one in tools)
    assert {"to": PERSON, "token": TOKEN} in [one["arguments"] for one in tools]

    seen, lines = " ".join(one.to_json() for one in exporter.get_finished_spans()), said.getvalue()
    assert "/lab/agent/sessions" in lines
    check_lines(lines)
    for secret in (PERSON, TOKEN, KEY, ada.email, ada.tokens["access_token"]):
        assert secret not in lines
        assert secret not in seen
    shown = ""
    for place in ("", "/messages", "/steps", "/audit?limit=200", "/results", "/artifacts", "/allowances"):
        path = f"{SESSIONS}/{session}{place}"
        shown += (await ada.http.get(path)).raise_for_status().text
        assert (await eve.http.get(path)).status_code == 404
    assert PERSON in shown
    assert KEY not in shown
    events = await app.state.resources.database.rows(
        "select body::text as body from events where session_id = $1", session
    )
    assert not any(KEY in row["body"] for row in events)
