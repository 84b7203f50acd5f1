"""Items through the service: several at a time, each a session of its own."""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Lock
from typing import Any

from app.cli.api_client.client import LabClient
from app.cli.api_client.received_events import QuestionEvent
from app.cli.api_client.responses import SessionDocument, SessionError, SessionResult, SessionUsage
from app.cli.scoring.answer_checks import SessionOutcome, find_misses
from app.cli.scoring.conversation_runs import run_conversation
from app.cli.scoring.conversations import ConversationItem
from app.cli.scoring.score_log import Score
from app.cli.scoring.suite import Item, Suite, SuiteItem
from app.errors import LabError, Unauthorized, Unavailable
from app.llm.config import OFFLINE


class Tables:
    """Each table of a suite, uploaded once."""

    def __init__(self, client: LabClient, suite: Suite) -> None:
        self._client = client
        self._suite = suite
        self._ids: dict[str, str] = {}
        self._lock = Lock()

    def ids(self, item: SuiteItem) -> list[str]:
        # Held while uploading: sessions that need the same table wait for it instead of uploading it again.
        with self._lock:
            for name in item.tables:
                if name not in self._ids:
                    self._ids[name] = self._client.upload(self._suite.files[name]).id
            return [self._ids[name] for name in item.tables]


def run_items(client: LabClient, suite: Suite, items: Iterable[SuiteItem], jobs: int) -> Iterator[Score]:
    """Yield the scores as sessions end. Raises Unavailable or Unauthorized for a failure of the service."""
    tables = Tables(client, suite)
    with ThreadPoolExecutor(jobs, thread_name_prefix="eval") as pool:
        runs = [pool.submit(run_item, client, suite, tables, item) for item in items]
        try:
            for run in as_completed(runs):
                yield run.result()
        finally:
            # After an error no further session begins; those that run are awaited, since they use the client.
            pool.shutdown(wait=True, cancel_futures=True)


def run_item(client: LabClient, suite: Suite, tables: Tables, item: SuiteItem) -> Score:
    if isinstance(item, ConversationItem):
        return run_conversation(client, item, tables.ids(item), suite.digest(item))
    began = time.monotonic()
    session: SessionDocument | None = None
    try:
        session_id = client.create_session(item.goal, tables.ids(item), item.preferences)
        outcome, session = _follow(client, session_id, item)
    except (Unavailable, Unauthorized):
        raise
    except LabError as refusal:
        outcome = SessionOutcome("refused", error=SessionError(code=refusal.code, detail=refusal.detail))
    usage = session.usage if session else SessionUsage()
    wrong = find_misses(item.expect, outcome)
    models = _chat_models(client, session.id) if session else []
    return Score(
        item=item.id,
        kind=item.kind,
        digest=suite.digest(item),
        right=not wrong,
        misses=wrong,
        status=outcome.status,
        tokens=usage.input_tokens + usage.output_tokens,
        cost_usd=usage.cost_usd,
        unpriced_calls=usage.unpriced_calls,
        seconds=round(time.monotonic() - began, 2),
        session=session.id if session else "",
        models=sorted({*models}),
        calls=sum(model != OFFLINE for model in models),
        prompt_tokens=usage.input_tokens,
    )


def _follow(client: LabClient, session_id: str, item: Item) -> tuple[SessionOutcome, SessionDocument]:
    """Answer the questions that the item has answers to; any other question cancels the session."""
    questions: list[str] = []
    stopped = False
    for event in client.events(session_id):
        if not isinstance(event, QuestionEvent) or stopped:
            continue
        questions.append(event.text)
        has_answer, answer = _answer_to(item, questions[-1])
        if has_answer:
            client.respond(session_id, event.question, answer)
        else:
            # The events are read on to their end, so that the status and usage below are final.
            stopped = True
            client.cancel(session_id)
    session = client.session(session_id)
    status = "asked" if stopped else session.status
    result, error = session.result or SessionResult(), session.error or SessionError()
    return SessionOutcome(status, result, error, questions), session


def _answer_to(item: Item, question: str) -> tuple[bool, Any]:
    for part, answer in item.answers.items():
        if part.casefold() in question.casefold():
            return True, answer
    return False, None


def _chat_models(client: LabClient, session_id: str) -> list[str]:
    """Return the name of the model of each chat call, in their order."""
    return [call.name for step in client.steps(session_id) for call in step.calls if call.kind == "chat"]
