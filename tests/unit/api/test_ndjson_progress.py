"""An answer that says how far its work is."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from app.api.streams.ndjson_progress import NdjsonProgressResponse, Work
from app.errors import Conflict
from app.sandbox.exchange.contract import Progress


class Listener:
    """A client of one answer; `gone` is set when it leaves."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.heard: list[Any] = []
        self.ended = False
        self.cleared = False

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.body":
            self.heard.append(json.loads(message["body"]))
            self.ended = not message["more_body"]

    async def clear(self) -> None:
        self.cleared = True

    async def listen(self, work: Work) -> None:
        await NdjsonProgressResponse(work, self.clear)({"type": "http"}, self.receive, self.send)


async def test_it_ends_with_the_result() -> None:
    async def work(report: Progress) -> Mapping[str, Any]:
        report(0.5, "Half")
        return {"bars": 3}

    listener = Listener()
    await listener.listen(work)
    assert listener.heard[-1] == {"result": {"bars": 3}}
    assert (listener.ended, listener.cleared) == (True, True)


@pytest.mark.parametrize(
    ("error", "code"), [(Conflict("busy", "Another one runs."), "busy"), (LookupError("x"), "internal_error")]
)
async def test_a_failure_is_the_last_line(error: Exception, code: str) -> None:
    async def work(report: Progress) -> Mapping[str, Any]:
        raise error

    listener = Listener()
    await listener.listen(work)
    problem = listener.heard[-1]["problem"]
    assert (problem["code"], listener.ended, listener.cleared) == (code, True, True)
    assert "LookupError" not in json.dumps(problem)


async def test_who_goes_away_cancels_the_work() -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def work(report: Progress) -> Mapping[str, Any]:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return {}

    listener = Listener()
    listening = asyncio.create_task(listener.listen(work))
    await begun.wait()
    listener.gone.set()
    await listening
    assert cancelled.is_set()
    assert (listener.ended, listener.cleared) == (False, True)
