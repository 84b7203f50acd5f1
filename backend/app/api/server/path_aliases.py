"""Shorter paths of operations, for clients that know them without `/api/v1`.

An alias is rewritten before anything else looks at a request, so that sign-in, scopes, limits and figures are
those of the operation itself.
"""

import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.paths import PREFIX

API_NAMES = ("chat", "threads", "turns", "worldlines", "tools", "artifacts", "datasets")
"""First parts of paths whose operations also answer under `/api`."""
ROOT_NAMES = (*API_NAMES, "generate-diff", "runs", "test")
"""First parts of paths whose operations also answer without a prefix."""

RUN_WAIT_S = 30
"""Seconds for which `POST /runs` waits for the end of the run: its clients expect the result as the answer."""

_ALIAS = re.compile(rf"(?:/api/(?:{'|'.join(API_NAMES)})|/(?:{'|'.join(ROOT_NAMES)}))(?=/|$)")
_STREAM = "text/event-stream"


def find_canonical(path: str) -> str | None:
    """Return the path of the operation that an alias names; None for any other path."""
    return f"{PREFIX}/{path.removeprefix('/api').lstrip('/')}" if _ALIAS.match(path) else None


def _wait_by_default(query: bytes) -> bytes:
    fields = query.split(b"&") if query else []
    is_given = any(field.partition(b"=")[0] == b"wait" for field in fields)
    return query if is_given else b"&".join([*fields, b"wait=%d" % RUN_WAIT_S])


class PathAliases:
    """ASGI middleware that rewrites aliases. A browser that opens a page gets its screen of that path.

    `POST /api/chat` streams its answer to a client that accepts events, `POST /runs` waits for the run.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (path := find_canonical(scope["path"])):
            accept = Headers(scope=scope).get("accept", "")
            if not (scope["method"] in ("GET", "HEAD") and "text/html" in accept):
                is_stream = scope["path"] == "/api/chat" and _STREAM in accept
                path = f"{path}/stream" if is_stream else path
                scope = {**scope, "path": path, "raw_path": path.encode()}
                if scope["method"] == "POST" and path == f"{PREFIX}/runs":
                    scope["query_string"] = _wait_by_default(scope["query_string"])
        await self.app(scope, receive, send)
