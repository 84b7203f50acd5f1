"""A client of the API, for the terminal: blocking, and patient with a service that is started again."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from app.errors import LabError, NotFound, Unauthorized, Unavailable

Json = dict[str, Any]

TERMINAL = frozenset({"session_finished", "session_failed", "session_cancelled"})
_PATIENCE_S = 60.0
_PAUSE_S = 0.3


class Refused(LabError):
    """The service said no; its own code and sentence."""


class LabClient:
    """`url` is the service's base address, without /api/v1. Use it as a context manager."""

    def __init__(self, url: str, key: str) -> None:
        self._http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1",
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(30.0, read=120.0),
        )

    def __enter__(self) -> "LabClient":
        return self

    def __exit__(self, *raised: object) -> None:
        self._http.close()

    def me(self) -> Json:
        return self._json("GET", "/auth/me")

    def upload(self, path: Path) -> Json:
        """The dataset made of a file of this machine."""
        with path.open("rb") as file:
            return self._json("POST", "/datasets", files={"file": (path.name, file)})

    def create_session(self, goal: str, dataset_ids: list[str], preferences: Mapping[str, Any]) -> str:
        """The session's id. Safe to send again: the request carries a key of its own."""
        body = {"goal": goal, "dataset_ids": dataset_ids, "preferences": dict(preferences)}
        headers = {"Idempotency-Key": str(uuid4())}
        created = self._json("POST", "/lab/agent/sessions", json=body, headers=headers)
        return str(created["id"])

    def session(self, session_id: str) -> Json:
        return self._json("GET", f"/lab/agent/sessions/{session_id}")

    def steps(self, session_id: str) -> list[Json]:
        """Every committed step with its calls and how long they took."""
        page = self._json("GET", f"/lab/agent/sessions/{session_id}/steps", params={"limit": 200})
        items: list[Json] = page["items"]
        return items

    def results(self, session_id: str) -> Json:
        return self._json("GET", f"/lab/agent/sessions/{session_id}/results")

    def respond(self, session_id: str, question: str, answer: Any) -> None:
        body = {"question": question, "answer": answer}
        self._json("POST", f"/lab/agent/sessions/{session_id}/respond", json=body)

    def cancel(self, session_id: str) -> None:
        self._json("DELETE", f"/lab/agent/sessions/{session_id}")

    def artifacts(self, session_id: str, kind: str) -> list[Json]:
        page = self._json("GET", "/artifacts", params={"session_id": session_id, "kind": kind, "limit": 200})
        items: list[Json] = page["items"]
        return items

    def download(self, artifact_id: str, path: Path) -> None:
        self.save(f"/artifacts/{artifact_id}", path)

    def save(self, resource: str, path: Path) -> None:
        """Whatever the API answers there, as a file; nothing is left of one that broke off."""
        half = path.with_name(f"{path.name}.part")
        try:
            with self._translate_transport_errors(), self._http.stream("GET", resource) as response:
                _raise_for(response)
                with half.open("wb") as file:
                    for piece in response.iter_bytes():
                        file.write(piece)
            half.replace(path)
        finally:
            half.unlink(missing_ok=True)

    def import_prices(self, path: Path, wish: Mapping[str, str], tell: Callable[[float, str], object]) -> Json:
        """Import a file of bars and return the service's result; `tell` receives the progress."""
        headers = {"Accept": "application/x-ndjson"}
        with (
            self._translate_transport_errors(),
            path.open("rb") as file,
            self._http.stream(
                "POST",
                "/prices/import",
                params=dict(wish),
                files={"file": (path.name, file)},
                headers=headers,
            ) as response,
        ):
            _raise_for(response)
            for line in response.iter_lines():
                message: Json = json.loads(line)
                if "problem" in message:
                    raise Refused(message["problem"]["code"], message["problem"]["detail"])
                if "result" in message:
                    result: Json = message["result"]
                    return result
                tell(message["progress"], message["text"])
        raise Unavailable("import_cut", "The service ended before the import did: nothing of it was kept.")

    def prices(self, what: str, wish: Mapping[str, str] | None = None) -> list[Json]:
        """`coins` or `statistics`."""
        rows: Any = self._json("GET", f"/prices/{what}", params=dict(wish or {}))
        return list(rows)

    def delete_prices(self, wish: Mapping[str, str]) -> int:
        return int(self._json("DELETE", "/prices", params=dict(wish))["bars"])

    def verification(self, session_id: str) -> Json:
        return self._json("GET", f"/lab/agent/sessions/{session_id}/report/verification")

    def events(self, session_id: str) -> Iterator[Json]:
        """Every event until the session has ended; comes back with its cursor when the connection is lost."""
        cursor, lost_at = 0, 0.0
        while True:
            try:
                for event in self._stream(session_id, cursor):
                    cursor, lost_at = event.get("seq") or cursor, 0.0
                    yield event
                    if event["kind"] in TERMINAL:
                        return
            except httpx.TransportError:
                lost_at = lost_at or time.monotonic()
                if time.monotonic() - lost_at > _PATIENCE_S:
                    raise _unreachable(self._http.base_url) from None
            time.sleep(_PAUSE_S)

    def _stream(self, session_id: str, since: int) -> Iterator[Json]:
        path = f"/lab/agent/sessions/{session_id}/events"
        with self._http.stream("GET", path, params={"since": since}) as response:
            _raise_for(response)
            for line in response.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))

    def _json(self, method: str, path: str, **request: Any) -> Json:
        with self._translate_transport_errors():
            response = self._http.request(method, path, **request)
            _raise_for(response)
            answer: Json = response.json() if response.content else {}
            return answer

    @contextmanager
    def _translate_transport_errors(self) -> Iterator[None]:
        try:
            yield
        except httpx.TransportError:
            raise _unreachable(self._http.base_url) from None


def _raise_for(response: httpx.Response) -> None:
    if response.is_success:
        return
    response.read()
    try:
        problem = response.json()
        code, detail = str(problem["code"]), str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        code, detail = (
            "not_labcrew",
            f"{response.url} answered {response.status_code}, and not as Labcrew does.",
        )
    kinds: dict[int, type[LabError]] = {401: Unauthorized, 404: NotFound, 503: Unavailable}
    raise kinds.get(response.status_code, Refused)(code, detail)


def _unreachable(url: httpx.URL) -> Unavailable:
    return Unavailable("service_unreachable", f"No service answers at {url.host}:{url.port}.")
