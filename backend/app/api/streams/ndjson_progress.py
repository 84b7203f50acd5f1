"""A response with progress as JSON Lines, for work that takes long."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from app.api.exception_handlers import problem, problem_of
from app.api.openapi.streams import LINES as MEDIA_TYPE
from app.api.server.disconnects import wait_for_disconnect
from app.errors import LabError
from app.sandbox.exchange.contract import Progress
from app.tasks import cancel_and_wait

_UPDATE_S = 0.5
"""Between lines: enough for a progress bar."""
_MAX_SILENCE_S = 10.0
"""Below the 60 s after which nginx and common load balancers cut a silent connection."""

Work = Callable[[Progress], Coroutine[Any, Any, Mapping[str, Any]]]


def wants_progress(request: Request) -> bool:
    return MEDIA_TYPE in request.headers.get("accept", "")


class NdjsonProgressResponse(Response):
    """Lines `{"progress": 0.4, "text": "..."}`, then `{"result": ...}` or `{"problem": ...}` (RFC 9457).

    The status is 200 before the work begins. A disconnect of the client cancels the work. `after` always runs.
    """

    def __init__(self, work: Work, after: Callable[[], Awaitable[object]]) -> None:
        super().__init__(media_type=MEDIA_TYPE)
        # Starlette has set it to 0 for an empty body, and nobody knows the length of what comes.
        del self.headers["content-length"]
        self._work = work
        self._after = after
        self._progress: dict[str, Any] = {"progress": 0.0, "text": "Started"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await self._run(receive, send, scope.get("request_id"))
        finally:
            await self._after()

    async def _run(self, receive: Receive, send: Send, request_id: str | None) -> None:
        work = asyncio.create_task(self._work(self._set_progress))
        disconnect = asyncio.create_task(wait_for_disconnect(receive))
        try:
            await self._follow(work, disconnect, send)
            # The client has gone: nobody reads the end.
            if not work.done():
                return
            await send(_line(_ending(work, request_id), more=False))
        finally:
            await cancel_and_wait(disconnect, work)

    async def _follow(self, work: "asyncio.Task[Any]", disconnect: "asyncio.Task[None]", send: Send) -> None:
        sent_progress, silent_s = None, 0.0
        while not (work.done() or disconnect.done()):
            # By identity: each report makes a new object.
            if self._progress is not sent_progress or silent_s >= _MAX_SILENCE_S:
                sent_progress, silent_s = self._progress, 0.0
                await send(_line(sent_progress, more=True))
            await asyncio.wait({work, disconnect}, timeout=_UPDATE_S, return_when=asyncio.FIRST_COMPLETED)
            silent_s += _UPDATE_S

    def _set_progress(self, fraction: float, text: str) -> None:
        self._progress = {"progress": round(fraction, 3), "text": text}


def _ending(work: "asyncio.Task[Any]", request_id: str | None) -> dict[str, Any]:
    error = work.exception()
    if error is None:
        return {"result": work.result()}
    if isinstance(error, LabError):
        return {"problem": json.loads(bytes(problem_of(error, request_id).body))}
    failed = problem(500, "internal_error", "The service failed.", request_id)
    return {"problem": json.loads(bytes(failed.body))}


def _line(message: Mapping[str, Any], *, more: bool) -> dict[str, Any]:
    body = (json.dumps(message, default=str) + "\n").encode()
    return {"type": "http.response.body", "body": body, "more_body": more}
