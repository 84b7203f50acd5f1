"""The whole service on a chat model, its worker killed while answers are on their way."""

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.conftest import Up, start, stop
from tests.e2e.test_service import SESSIONS, begin, watch
from tests.scripted_chat import ScriptedChat, output_of, serving

pytestmark = pytest.mark.slow

AFTER_S = {"Plan": 0.0, "Analysis": 0.02, "Reported": 0.05}
"""Part -> seconds from its first question to a kill: before the answer, or about when it is recorded."""


@pytest.fixture(scope="module")
def chat() -> Iterator[ScriptedChat]:
    with serving(ScriptedChat()) as chat:
        yield chat


@pytest.fixture(scope="module")
def up(home: Path, chat: ScriptedChat) -> Iterator[Up]:
    started = start(
        home, LLM_MODEL="openai:scripted", LLM_BASE_URL=chat.base_url, OPENAI_API_KEY="no-key-is-needed"
    )
    yield started
    stop(started)


async def test_a_session_ends_well_and_pays_no_answer_twice_that_it_had_recorded(
    api: httpx.AsyncClient, up: Up, chat: ScriptedChat
) -> None:
    doomed = dict(AFTER_S)

    def kill() -> None:
        with suppress(ProcessLookupError):
            os.kill(up.pid_of("worker-steps-1"), signal.SIGKILL)

    def hear(asked: dict[str, Any]) -> None:
        match doomed.pop(output_of(asked), None):
            case 0.0:
                kill()
            case float(after_s):
                threading.Timer(after_s, kill).start()

    chat.hear = hear
    session = await begin(api)
    kinds = [event["kind"] async for event in watch(api, session)]
    assert kinds[-1] == "session_finished"
    assert not doomed
    view = (await api.get(f"{SESSIONS}/{session}")).json()
    assert view["result"]["report"]["checked_claims"] > 0
    again = len(chat.requests) - view["usage"]["chat_calls"]
    assert 1 <= again <= len(AFTER_S)
    asked = Counter(json.dumps(one["messages"], sort_keys=True) for one in chat.requests)
    assert sum(times - 1 for times in asked.values()) == again
