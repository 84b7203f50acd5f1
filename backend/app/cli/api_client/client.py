"""Blocking client of the API for the terminal. It reconnects to a service that is restarted."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from pydantic import BaseModel, Field, ValidationError

from app.cli.api_client.fork_request import CreatedFork
from app.cli.api_client.received_events import ReceivedEvent, parse_event
from app.cli.api_client.responses import (
    CoinSeries,
    CommittedStep,
    ImportResult,
    Json,
    ListedSession,
    Predictions,
    ReportCheck,
    SavedArtifact,
    SeriesStatistics,
    SessionDocument,
    UploadedDataset,
)
from app.errors import InvalidInput, LabError, NotFound, Unauthorized, Unavailable

TERMINAL = frozenset({"session_finished", "session_failed", "session_cancelled"})
_RECONNECT_S = 60.0
"""A service that is restarted answers again within a minute."""
_RECONNECT_PAUSE_S = 0.3
MAX_PAGE_ITEMS = 200
"""Items of one page: the most that the service allows."""
_SESSIONS = "/lab/agent/sessions"


class Refused(LabError):
    """The service refused a request, with its code and sentence."""


class FaultText(BaseModel):
    """A fault of a workflow, at the place that its JSON pointer names."""

    pointer: str
    message: str


class _Problem(BaseModel):
    code: str
    detail: str
    faults: list[FaultText] = Field(default_factory=list)
    options: list[str] = Field(default_factory=list)
    """Answers to choose from, where the request was not clear."""


class _ImportMessage(BaseModel):
    """A line of the import: progress, the result, or a problem."""

    progress: float = 0.0
    text: str = ""
    result: ImportResult | None = None
    problem: _Problem | None = None


class _ItemPage(BaseModel):
    items: list[Json]
    next_cursor: str | None = None


class LabClient:
    """`url` is the service's base address, without /api/v1. Use it as a context manager."""

    def __init__(self, url: str, key: str) -> None:
        self._http = httpx.Client(
            base_url=f"{_check_address(url)}/api/v1",
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(30.0, read=120.0),
            # Certificates take 0.1 s to load, and no redirection is followed to where they would count.
            verify=not url.startswith("http://"),
        )

    def __enter__(self) -> "LabClient":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def check_key(self) -> None:
        """Raises Unauthorized."""
        self._json("GET", "/auth/me")

    def upload(self, path: Path) -> UploadedDataset:
        """Upload a file. The sentence of a refusal begins with the file's name."""
        try:
            with path.open("rb") as file:
                body = self._json("POST", "/datasets", files={"file": (path.name, file)})
        except Refused as refused:
            raise Refused(refused.code, f"{path.name}: {refused.detail}") from refused
        return UploadedDataset.model_validate(body)

    def create_session(self, goal: str, dataset_ids: list[str], preferences: Mapping[str, Any]) -> str:
        """Create a session and return its id. An idempotency key lets the request be repeated."""
        body = {"goal": goal, "dataset_ids": dataset_ids, "preferences": dict(preferences)}
        headers = {"Idempotency-Key": str(uuid4())}
        body = self._json("POST", _SESSIONS, json=body, headers=headers)
        return SessionDocument.model_validate(body).id

    def session(self, session_id: str) -> SessionDocument:
        return SessionDocument.model_validate(self._json("GET", f"{_SESSIONS}/{session_id}"))

    def sessions(self, limit: int, status: str | None = None) -> list[ListedSession]:
        """List the newest sessions, newest first, `limit` (at most 200) at most."""
        filters = {"status": status} if status else {}
        return [ListedSession.model_validate(item) for item in self._items(_SESSIONS, filters, limit)]

    def is_open(self, session_id: str, question: str) -> bool:
        """Tell whether the question with this key is the one that waits for an answer."""
        waiting = self.session(session_id).question
        return waiting is not None and waiting.key == question

    def steps(self, session_id: str) -> list[CommittedStep]:
        """List the committed steps with their calls."""
        items = self._items(f"{_SESSIONS}/{session_id}/steps", {})
        return [CommittedStep.model_validate(item) for item in items]

    def results(self, session_id: str) -> Json:
        """Return the result with every candidate that was fitted."""
        return self._json("GET", f"{_SESSIONS}/{session_id}/results")

    def respond(self, session_id: str, question: str, answer: Any) -> None:
        body = {"question": question, "answer": answer}
        self._json("POST", f"{_SESSIONS}/{session_id}/respond", json=body)

    def fork(self, session_id: str, request: Mapping[str, Any]) -> CreatedFork:
        headers = {"Idempotency-Key": str(uuid4())}
        body = self._json("POST", f"{_SESSIONS}/{session_id}/fork", json=dict(request), headers=headers)
        return CreatedFork.model_validate(body)

    def preview_fork(self, session_id: str, request: Mapping[str, Any]) -> Json:
        """Check a fork without making it."""
        return self._json("POST", f"{_SESSIONS}/{session_id}/fork", json=dict(request), params={"dry": True})

    def compare(self, session_ids: Sequence[str]) -> Json:
        """Compare the first session with each of the others."""
        return self._json("GET", "/compare", params={"sessions": ",".join(session_ids)})

    def pause(self, session_id: str) -> str:
        """Pause a session and return its status."""
        return str(self._json("POST", f"{_SESSIONS}/{session_id}/pause")["status"])

    def resume(self, session_id: str) -> None:
        """Let a session go on if it is paused."""
        self._json("POST", f"{_SESSIONS}/{session_id}/resume")

    def cancel(self, session_id: str) -> None:
        self._json("DELETE", f"{_SESSIONS}/{session_id}")

    def predict(self, model_id: str, dataset_id: str, is_strict: bool, keep_columns: bool) -> Predictions:
        """Predict a dataset to a CSV artifact, with the columns of the dataset or without them."""
        body = {
            "dataset_id": dataset_id,
            "format": "csv",
            "strict": is_strict,
            "keep_columns": keep_columns,
        }
        return Predictions.model_validate(self._json("POST", f"/models/{model_id}/predict", json=body))

    def artifacts(self, session_id: str) -> list[SavedArtifact]:
        """List all artifacts of a session, newest first."""
        items: list[Json] = []
        filters: dict[str, str | int] = {"session_id": session_id, "limit": MAX_PAGE_ITEMS}
        while True:
            page = _ItemPage.model_validate(self._json("GET", "/artifacts", params=filters))
            items += page.items
            if page.next_cursor is None:
                return [SavedArtifact.model_validate(item) for item in items]
            filters["after"] = page.next_cursor

    def download(self, artifact_id: str, path: Path) -> None:
        self.save(f"/artifacts/{artifact_id}", path)

    def save(self, resource: str, path: Path) -> None:
        """Save the response for `resource` as a file. An interrupted download leaves no file.

        Two commands may save the same file at once: each writes a file of its own first.
        """
        partial = path.with_name(f"{path.name}.{uuid4().hex}.part")
        try:
            with self._translate_transport_errors(), self._http.stream("GET", resource) as response:
                _raise_for(response)
                with partial.open("wb") as file:
                    for chunk in response.iter_bytes():
                        file.write(chunk)
            # Atomic, in the same folder: another reader sees the old file or the whole new one.
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)

    def import_prices(
        self, path: Path, options: Mapping[str, str], show_progress: Callable[[float, str], object]
    ) -> ImportResult:
        """Import a file of bars. `show_progress` receives the fraction done and a text."""
        headers = {"Accept": "application/x-ndjson"}
        with (
            self._translate_transport_errors(),
            path.open("rb") as file,
            self._http.stream(
                "POST",
                "/prices/import",
                params=dict(options),
                files={"file": (path.name, file)},
                headers=headers,
            ) as response,
        ):
            _raise_for(response)
            for line in response.iter_lines():
                message = _ImportMessage.model_validate_json(line)
                # Told within the stream: the status of the answer was sent before the rows were read.
                if message.problem:
                    raise Refused(message.problem.code, message.problem.detail)
                if message.result:
                    return message.result
                show_progress(message.progress, message.text)
        raise Unavailable("import_cut", "The service stopped during the import. Nothing was imported.")

    def coins(self) -> list[CoinSeries]:
        return [CoinSeries.model_validate(row) for row in self._list("/prices/coins", {})]

    def price_statistics(self, filters: Mapping[str, str]) -> list[SeriesStatistics]:
        return [SeriesStatistics.model_validate(row) for row in self._list("/prices/statistics", filters)]

    def delete_prices(self, filters: Mapping[str, str]) -> int:
        """Delete bars and return their number."""
        return int(self._json("DELETE", "/prices", params=dict(filters))["bars"])

    def verification(self, session_id: str) -> ReportCheck:
        body = self._json("GET", f"{_SESSIONS}/{session_id}/report/verification")
        return ReportCheck.model_validate(body)

    def events(self, session_id: str) -> Iterator[ReceivedEvent]:
        """Yield the events until the session has ended; after a lost connection, resume at the cursor."""
        cursor, lost_at = 0, 0.0
        while True:
            try:
                for event in self._stream(session_id, cursor):
                    # Live events have no number: they do not move the cursor, and do not come again.
                    cursor, lost_at = event.seq or cursor, 0.0
                    yield event
                    if event.kind in TERMINAL:
                        return
            except httpx.TransportError:
                # That of the first failure in a row: further failed attempts do not extend the wait.
                lost_at = lost_at or time.monotonic()
                if time.monotonic() - lost_at > _RECONNECT_S:
                    raise _unreachable(self._http.base_url) from None
            # Also after a stream that ended without an error, as when a service that stops closes it.
            time.sleep(_RECONNECT_PAUSE_S)

    def _stream(self, session_id: str, since: int) -> Iterator[ReceivedEvent]:
        path = f"{_SESSIONS}/{session_id}/events"
        with self._http.stream("GET", path, params={"since": since}) as response:
            _raise_for(response)
            for line in response.iter_lines():
                if line.startswith("data:"):
                    yield parse_event(json.loads(line.removeprefix("data:")))

    def chat(self, body: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
        """Send a message of a conversation, and yield the events of its turn as `(kind, document)`."""
        headers = {"Idempotency-Key": str(uuid4())}
        with (
            self._translate_transport_errors(),
            self._http.stream("POST", "/chat/stream", json=dict(body), headers=headers) as response,
        ):
            _raise_for(response)
            kind = ""
            for line in response.iter_lines():
                if line.startswith("event:"):
                    kind = line.removeprefix("event:").strip()
                elif line.startswith("data:"):
                    yield kind, json.loads(line.removeprefix("data:"))

    def turn(self, turn_id: str) -> Json:
        return self._json("GET", f"/turns/{turn_id}")

    def threads(self) -> list[Json]:
        """List the newest conversations, newest first, MAX_PAGE_ITEMS at most."""
        return self._items("/threads", {})

    def thread(self, thread_id: str) -> Json:
        return self._json("GET", f"/threads/{thread_id}")

    def create_worldline(self, body: Mapping[str, Any]) -> Json:
        """Begin a branch of a thread."""
        return self._json("POST", "/worldlines", json=dict(body))

    def compare_worldlines(self, first: str, second: str) -> Json:
        return self._json("GET", f"/worldlines/{first}/compare/{second}")

    def workspace(self, worldline_id: str) -> Json:
        """Return the tables and variables that a worldline made."""
        return self._json("GET", f"/worldlines/{worldline_id}/workspace")

    def chart(self, chart_id: str) -> Json:
        """Return the specification of a chart."""
        return self._json("GET", f"/charts/{chart_id}")

    def download_to(self, path: str, target: Path) -> None:
        """Save the bytes at a path of the API."""
        with self._translate_transport_errors():
            response = self._http.get(path)
            _raise_for(response)
            target.write_bytes(response.content)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Call an operation of the API and return its answer as JSON."""
        return self._json(method, path, **({} if body is None else {"json": body}))

    def _json(self, method: str, path: str, **request: Any) -> Json:
        with self._translate_transport_errors():
            response = self._http.request(method, path, **request)
            _raise_for(response)
            body: Json = response.json() if response.content else {}
            return body

    def _items(self, path: str, filters: Mapping[str, str], limit: int = MAX_PAGE_ITEMS) -> list[Json]:
        """Return the first page of a list."""
        return _ItemPage.model_validate(self._json("GET", path, params={**filters, "limit": limit})).items

    def _list(self, path: str, filters: Mapping[str, str]) -> list[Json]:
        rows: Any = self._json("GET", path, params=dict(filters))
        return list(rows)

    @contextmanager
    def _translate_transport_errors(self) -> Iterator[None]:
        try:
            yield
        except httpx.TransportError:
            raise _unreachable(self._http.base_url) from None


def _raise_for(response: httpx.Response) -> None:
    if response.is_success:
        return
    # A streamed response has no content until it is read.
    response.read()
    try:
        problem = _Problem.model_validate_json(response.content)
    except ValidationError:
        # A proxy or another program at that address answers in no such form.
        problem = _Problem(
            code="not_labcrew",
            detail=f"{response.url} answered {response.status_code}, but is not Labcrew.",
        )
    kinds: dict[int, type[LabError]] = {401: Unauthorized, 404: NotFound, 503: Unavailable}
    lists = {"options": problem.options, "faults": problem.faults}
    facts = {name: entries for name, entries in lists.items() if entries}
    raise kinds.get(response.status_code, Refused)(problem.code, problem.detail, **facts)


def _check_address(url: str) -> str:
    """Return the address of a service. Raises InvalidInput for what is none."""
    address = httpx.URL(url)
    if address.scheme not in ("http", "https") or not address.host:
        raise InvalidInput(
            "no_address", f"{url} is no address of a service, such as https://labcrew.example.com"
        )
    return url.rstrip("/")


def _unreachable(url: httpx.URL) -> Unavailable:
    return Unavailable("service_unreachable", f"No service answers at {url.host}:{url.port}.")
