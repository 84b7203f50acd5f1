"""The web page: built files of frontend/, served at `/` beside the API."""

import base64
import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

PAGE_FOLDER = Path(__file__).parents[1] / "page"
"""Written by scripts/build_page.py; part of the wheel and of the image, never of the repository."""

_SHELL = "/index.html"
_HASHED = "/_app/immutable/"
"""Names below it hold the digest of their content."""
_OTHER_PATHS = ("/api/", "/docs", "/openapi.json", "/healthz", "/readyz", "/metrics")
_MIN_COMPRESSED_BYTES = 1024
"""Below it the answer fits one packet either way."""
_COMPRESSIBLE = ("text/", "application/json", "image/svg+xml")

# Static style attributes of the page's libraries, by digest: the announcer of SvelteKit's router.
_STYLE_ATTRIBUTES = "'unsafe-hashes' 'sha256-S8qMpvofolR8Mpjy4kQvEm7m1q8clzU4dfDH0AmvZjo='"
_TRUSTED_TYPES = "svelte-trusted-html sveltekit-trusted-url labcrew-stream"

_WORKER_POLICY = "default-src 'none'; connect-src 'self'"
_PAGE_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Labcrew</title>
<h1>The web page is not built yet</h1>
<p>The API works: its reference is at <a href="/docs">/docs</a>.</p>
<p>To build the page run <code>make page</code> in the folder of Labcrew, with access to npm.</p>
</html>
"""


@dataclass(frozen=True)
class PageFile:
    """A built file. Compressed when it is first asked for, and kept."""

    body: bytes
    media_type: str
    is_hashed: bool
    is_worker: bool = False

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:32]}"'

    @cached_property
    def compressed(self) -> bytes | None:
        if len(self.body) < _MIN_COMPRESSED_BYTES or not self.media_type.startswith(_COMPRESSIBLE):
            return None
        # No time in it: all processes answer the same bytes.
        return gzip.compress(self.body, mtime=0)

    def response(self, request: Request, headers: Mapping[str, str]) -> Response:
        caching = "public, max-age=31536000, immutable" if self.is_hashed else "no-cache"
        common = {"ETag": self.etag, "Cache-Control": caching, "Vary": "Accept-Encoding", **headers}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=common)
        body = self.body
        if self.compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            body = self.compressed
            common["Content-Encoding"] = "gzip"
        return Response(body, headers=common, media_type=self.media_type)


class WebPage(BaseRoute):
    """Serve built files, and the page itself for every other address that a browser opens.

    Paths of the API never match, so that its failures stay problem documents.
    """

    path = "/{page}"
    """Label of the route in logs and figures."""

    def __init__(self, folder: Path = PAGE_FOLDER) -> None:
        self._files = {
            f"/{file.relative_to(folder).as_posix()}": _read(file, folder) for file in _files(folder)
        }
        shell = self._files.get(_SHELL)
        self._policy = page_policy(shell.body.decode()) if shell else ""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        is_page = scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and self._serves(scope)
        return (Match.FULL, {"route": self}) if is_page else (Match.NONE, {})

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        raise NotImplementedError("the page has no named routes")

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        # An address without a file is a screen, which the page finds by itself.
        file = self._files.get(scope["path"]) or self._files.get(_SHELL)
        response = file.response(request, self._headers(file)) if file else _not_built()
        await response(scope, receive, send)

    def _serves(self, scope: Scope) -> bool:
        path: str = scope["path"]
        if path in self._files:
            return True
        # A name with a suffix is a file that is missing, and no address of the page.
        is_address = (
            "." not in path.rstrip("/").rpartition("/")[2]
            and not path.startswith(_OTHER_PATHS)
            and path != "/api"
        )
        return is_address and (path == "/" or "text/html" in Request(scope).headers.get("accept", ""))

    def _headers(self, file: PageFile) -> dict[str, str]:
        if file.media_type.startswith("text/html"):
            return {"Content-Security-Policy": self._policy, **_PAGE_HEADERS}
        # A shared worker lives by the policy of its own file, not by that of the page.
        return {"Content-Security-Policy": _WORKER_POLICY} if file.is_worker else {}


def page_policy(shell: str) -> str:
    """Build the content security policy: no inline script but the page's own start, known by its digest."""
    digests = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in _inline_scripts(shell)
    ]
    directives = {
        "default-src": "'none'",
        "script-src": " ".join(["'self'", *(f"'sha256-{digest}'" for digest in digests)]),
        "style-src": "'self'",
        "style-src-attr": _STYLE_ATTRIBUTES,
        "img-src": "'self' data: blob:",
        "font-src": "'self'",
        "connect-src": "'self'",
        "frame-src": "'self'",
        "worker-src": "'self'",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": f"{_TRUSTED_TYPES} 'allow-duplicates'",
    }
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def _inline_scripts(shell: str) -> list[str]:
    # Scripts with attributes are files, which `'self'` allows.
    return [part.partition("</script>")[0] for part in shell.split("<script>")[1:]]


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()] if folder.is_dir() else []


def _read(file: Path, folder: Path) -> PageFile:
    media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    is_hashed = f"/{file.relative_to(folder).as_posix()}".startswith(_HASHED)
    return PageFile(file.read_bytes(), media_type, is_hashed, is_worker=file.parent.name == "workers")


def _not_built() -> Response:
    return Response(_NOT_BUILT, status_code=404, media_type="text/html")
