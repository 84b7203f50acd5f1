"""An answer that says how far its work is, as JSON Lines: for what takes longer than people wait in silence."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from app.api.failures import problem, problem_of
from app.errors import LabError
from app.sandbox.contract import Progress

MEDIA_TYPE = "application/x-ndjson"
_TELL_S = 0.5
_SILENCE_S = 10.0

Work = Callable[[Progress], Awaitable[Mapping[str, Any]]]


def wants_progress(request: Request) -> bool:
    return MEDIA_TYPE in request.headers.get("accept", "")


class NdjsonProgressResponse(Response):
    """Lines `{"progress": 0.4, "text": "..."}`, then `{"result": ...}` or `{"problem": ...}` (RFC 9457).

    The status is 200 before the work begins. A client that goes away cancels it. `after` runs in any case.
    """

    def __init__(self, work: Work, after: Callable[[], Awaitable[object]]) -> None:
        super().__init__(media_type=MEDIA_TYPE)
        del self.headers["content-length"]
        self._work = work
        self._after = after
        self._now: dict[str, Any] = {"progress": 0.0, "text": "Begun"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await self._tell(receive, send, scope.get("request_id"))
        finally:
            await self._after()

    async def _tell(self, receive: Receive, send: Send, request_id: str | None) -> None:
        work = asyncio.ensure_future(self._work(self._hear))
        gone = asyncio.create_task(_gone(receive))
        try:
            await self._follow(work, gone, send)
            if not work.done():
                return
            await send(_line(_ending(work, request_id), more=False))
        finally:
            gone.cancel()
            work.cancel()
            await asyncio.wait([work])

    async def _follow(self, work: "asyncio.Future[Any]", gone: "asyncio.Task[None]", send: Send) -> None:
        told, silent_s = None, 0.0
        while not (work.done() or gone.done()):
            if self._now is not told or silent_s >= _SILENCE_S:
                told, silent_s = self._now, 0.0
                await send(_line(told, more=True))
            await asyncio.wait({work, gone}, timeout=_TELL_S, return_when=asyncio.FIRST_COMPLETED)
            silent_s += _TELL_S

    def _hear(self, fraction: float, text: str) -> None:
        self._now = {"progress": round(fraction, 3), "text": text}


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _ending(work: "asyncio.Future[Any]", request_id: str | None) -> dict[str, Any]:
    error = work.exception()
    if error is None:
        return {"result": work.result()}
    if isinstance(error, LabError):
        return {"problem": json.loads(bytes(problem_of(error, request_id).body))}
    failed = problem(500, "internal_error", "Something went wrong on our side.", request_id)
    return {"problem": json.loads(bytes(failed.body))}


def _line(said: Mapping[str, Any], *, more: bool) -> dict[str, Any]:
    body = (json.dumps(said, default=str) + "\n").encode()
    return {"type": "http.response.body", "body": body, "more_body": more}
