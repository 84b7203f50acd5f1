"""Items through the service: several at a time, each a session of its own."""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Lock
from typing import Any

from app.cli.client import LabClient
from app.cli.scoring.judging import SessionOutcome, find_misses
from app.cli.scoring.record import Score
from app.cli.scoring.suite import Item, Suite
from app.errors import LabError, Unauthorized, Unavailable

Json = dict[str, Any]


class Tables:
    """Each table of a suite, uploaded once."""

    def __init__(self, client: LabClient, suite: Suite) -> None:
        self._client = client
        self._suite = suite
        self._ids: dict[str, str] = {}
        self._lock = Lock()

    def ids(self, item: Item) -> list[str]:
        with self._lock:
            for name in item.tables:
                if name not in self._ids:
                    self._ids[name] = str(self._client.upload(self._suite.files[name])["id"])
            return [self._ids[name] for name in item.tables]


def run_items(client: LabClient, suite: Suite, items: Iterable[Item], jobs: int) -> Iterator[Score]:
    """Scores as they come. Raises Unavailable or Unauthorized when the service itself is the trouble."""
    tables = Tables(client, suite)
    with ThreadPoolExecutor(jobs, thread_name_prefix="eval") as pool:
        runs = [pool.submit(run_item, client, suite, tables, item) for item in items]
        try:
            for run in as_completed(runs):
                yield run.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def run_item(client: LabClient, suite: Suite, tables: Tables, item: Item) -> Score:
    began = time.monotonic()
    session: Json = {}
    try:
        session_id = client.create_session(item.goal, tables.ids(item), item.preferences)
        outcome, session = _follow(client, session_id, item)
    except (Unavailable, Unauthorized):
        raise
    except LabError as refusal:
        outcome = SessionOutcome("refused", error={"code": refusal.code, "detail": refusal.detail})
    usage: Json = session.get("usage") or {}
    wrong = find_misses(item.expect, outcome)
    return Score(
        item=item.id,
        kind=item.kind,
        digest=suite.digest(item),
        right=not wrong,
        misses=wrong,
        status=outcome.status,
        tokens=int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0)),
        cost_usd=float(usage.get("cost_usd", 0.0)),
        unpriced_calls=int(usage.get("unpriced_calls", 0)),
        seconds=round(time.monotonic() - began, 2),
        session=str(session.get("id", "")),
        models=_models(client, session),
    )


def _follow(client: LabClient, session_id: str, item: Item) -> tuple[SessionOutcome, Json]:
    """Answer what the item has an answer to; at any other question the session is cancelled."""
    questions: list[str] = []
    stopped = False
    for event in client.events(session_id):
        if event["kind"] != "clarification_asked" or stopped:
            continue
        questions.append(str(event["text"]))
        has_answer, answer = _answer_to(item, questions[-1])
        if has_answer:
            client.respond(session_id, event["question"], answer)
        else:
            stopped = True
            client.cancel(session_id)
    session = client.session(session_id)
    status = "asked" if stopped else str(session["status"])
    return SessionOutcome(status, session.get("result") or {}, session.get("error") or {}, questions), session


def _answer_to(item: Item, question: str) -> tuple[bool, Any]:
    for part, answer in item.answers.items():
        if part.casefold() in question.casefold():
            return True, answer
    return False, None


def _models(client: LabClient, session: Json) -> list[str]:
    if not session:
        return []
    calls = (call for step in client.steps(str(session["id"])) for call in step["calls"])
    return sorted({str(call["name"]) for call in calls if call["kind"] == "chat"})
