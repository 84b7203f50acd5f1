"""A client with one session: it makes it, watches it over whatever breaks, answers it, perhaps cancels it."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import websockets
from tests.chaos.plan import Visit
from tests.chaos.processes import LAB_SESSIONS

TERMINAL = ("session_finished", "session_failed", "session_cancelled")
SESSIONS = "/api/v1/lab/agent/sessions"
_QUIET_S = 20.0
"""A stream says something every 15 s: one that does not is dead."""
AWAY = (httpx.TransportError, OSError, TimeoutError, websockets.WebSocketException)


@dataclass
class Api:
    """One user's way to the API, patient with outages. `answers` counts what was not a success."""

    client: httpx.AsyncClient
    token: str
    answers: "Counter[str]"
    refusals: list[str] = field(default_factory=list)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    async def call(self, method: str, path: str, good: tuple[int, ...], **more: Any) -> httpx.Response:
        """Sent again until the answer is one of `good`."""
        headers = {**self.headers, **more.pop("headers", {})}
        while True:
            try:
                answer = await self.client.request(method, path, headers=headers, **more)
                if answer.status_code in good:
                    return answer
                self._count(method, path, answer)
            except AWAY as error:
                if isinstance(error, httpx.LocalProtocolError):
                    raise  # it was never sent
                self.answers[type(error).__name__] += 1
            await asyncio.sleep(random.uniform(0.1, 0.5))

    def _count(self, method: str, path: str, answer: httpx.Response) -> None:
        code = answer.json().get("code", "") if "json" in answer.headers.get("content-type", "") else ""
        self.answers[f"{answer.status_code} {code}"] += 1
        if answer.status_code not in (429, 503):
            self.refusals.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")


@dataclass(frozen=True)
class ReceivedEvent:
    """A durable event as it arrived, at a monotonic time."""

    n: int
    body: dict[str, Any]
    at: float


@dataclass(eq=False)
class Client:
    """`reached(n)`: returns when so many faults have come."""

    visit: Visit
    api: Api
    datasets: list[str]
    wait_for_faults: Callable[[int], Awaitable[None]]
    session: str = ""
    events: list[ReceivedEvent] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    connections: int = 0
    cancelled: bool = False
    questions: dict[str, Any] = field(default_factory=dict)
    _tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    _answer_events: dict[str, asyncio.Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.visit.seed)

    @property
    def cursor(self) -> int:
        return self.events[-1].n if self.events else 0

    @property
    def has_ended(self) -> bool:
        return bool(self.events) and self.events[-1].body["kind"] in TERMINAL

    async def live(self) -> None:
        """Until the session has ended and its last event is here."""
        await self.wait_for_faults(self.visit.begins)
        self.session = await self._create()
        if self.visit.cancels is not None:
            self._run(self._cancel(self.visit.cancels))
        while not self.has_ended:
            stream = self._by_socket() if self._chance.random() < 0.5 else self._by_sse()
            self.connections += 1
            with suppress(*AWAY):
                async for body in stream:
                    self._take(body)
            await asyncio.sleep(self._chance.uniform(0.05, 0.4))
        for task in self._tasks:
            task.cancel()

    def _run(self, coroutine: Any) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _create(self) -> str:
        """Twice now and then: the key makes it one session."""
        visit = self.visit
        path = SESSIONS if visit.graph == "pipeline" else LAB_SESSIONS
        request = {
            "goal": "Predict which customers left.",
            "dataset_ids": self.datasets if visit.graph == "pipeline" else [],
            "preferences": {"seed": visit.seed, **visit.preferences},
        }
        key = {"Idempotency-Key": f"chaos-{visit.n}-{visit.seed}"}
        response = await self.api.call("POST", path, (201,), json=request, headers=key)
        if self._chance.random() < 0.3:
            again = await self.api.call("POST", path, (201,), json=request, headers=key)
            if again.json()["id"] != response.json()["id"]:
                self.wrong.append("one Idempotency-Key made two sessions")
        return str(response.json()["id"])

    async def _cancel(self, after: int) -> None:
        await self.wait_for_faults(after)
        await self.api.call("DELETE", f"{SESSIONS}/{self.session}", (202, 409))
        self.cancelled = True

    def _take(self, body: dict[str, Any]) -> None:
        n = body.get("seq")
        if n is None:
            return
        if n != self.cursor + 1:
            self.wrong.append(f"event {n} came after {self.cursor}")
        self.events.append(ReceivedEvent(n, body, time.monotonic()))
        match body["kind"]:
            case "clarification_asked":
                self.questions[body["question"]] = body
                self._answer_events[body["question"]] = asyncio.Event()
                self._run(self._answer(body))
            case "clarification_answered" if body["question"] in self._answer_events:
                self._answer_events[body["question"]].set()

    async def _answer(self, question_event: dict[str, Any]) -> None:
        """Again and again until the stream says that it was answered; only one of them may count."""
        question = question_event["question"]
        answer = {"question": question, "answer": question_event["default"]}
        answer_event = self._answer_events[question]
        await asyncio.sleep(self._chance.uniform(0.0, 1.5))
        while not answer_event.is_set() and not self.has_ended:
            await self.api.call("POST", f"{SESSIONS}/{self.session}/respond", (202, 404, 409), json=answer)
            with suppress(TimeoutError):
                await asyncio.wait_for(answer_event.wait(), self._chance.uniform(1.0, 3.0))

    async def _by_socket(self) -> AsyncIterator[dict[str, Any]]:
        address = str(self.api.client.base_url).replace("http", "ws", 1).rstrip("/")
        url = f"{address}{SESSIONS}/{self.session}/stream?since={self.cursor}"
        async with websockets.connect(
            url, additional_headers=self.api.headers, open_timeout=5, close_timeout=1, proxy=None
        ) as socket:
            while True:
                try:
                    async with asyncio.timeout(_QUIET_S):
                        text = await socket.recv()
                except websockets.ConnectionClosedOK:
                    return
                yield json.loads(text)

    async def _by_sse(self) -> AsyncIterator[dict[str, Any]]:
        path, headers = f"{SESSIONS}/{self.session}/events", self.api.headers
        if self.cursor:
            headers["Last-Event-ID"] = str(self.cursor)
        timeout = httpx.Timeout(5, read=_QUIET_S)
        async with self.api.client.stream("GET", path, headers=headers, timeout=timeout) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))
