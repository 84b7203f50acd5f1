"""Which session a command means, and how its state is printed."""

import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import UUID

import pytest
from rich.console import Console

from app.cli.api_client.client import LabClient
from app.cli.api_client.received_events import ReceivedEvent, parse_event
from app.cli.api_client.responses import ListedSession, Predictions, SessionDocument
from app.cli.sessions.requests import find_compared, find_session, print_row_problems
from app.cli.sessions.run_session import RunRequest, WatchOptions, run_session, watch_session
from app.errors import InvalidInput, NotFound

IDS = [str(UUID(int=number << 96)) for number in (0xAB00_0001, 0xAB00_0002, 0xCD00_0001)]


class _Sessions(LabClient):
    """Three sessions, the newest first."""

    def sessions(self, limit: int, status: str | None = None) -> list[ListedSession]:
        return [ListedSession(id=name, status="completed") for name in IDS][:limit]


@pytest.fixture
def client() -> Iterator[LabClient]:
    with _Sessions("http://127.0.0.1:1", "key") as client:
        yield client


@pytest.mark.parametrize(
    ("text", "meant"), [("last", IDS[0]), ("cd", IDS[2]), ("AB000002", IDS[1]), (IDS[1], IDS[1])]
)
def test_a_session_is_meant_by_its_id_a_beginning_or_its_place(client, text, meant) -> None:
    assert find_session(client, text) == meant


def test_a_beginning_of_several_is_refused_and_one_of_none_too(client) -> None:
    with pytest.raises(InvalidInput, match="2 sessions begin with ab"):
        find_session(client, "ab")
    with pytest.raises(NotFound, match="labcrew sessions"):
        find_session(client, "ee")


@pytest.mark.parametrize("text", ["last", "ab"])
def test_where_there_is_no_session_no_other_beginning_is_asked_for(client, text, monkeypatch) -> None:
    monkeypatch.setattr(client, "sessions", lambda limit: [])
    with pytest.raises(NotFound, match="There is no session yet"):
        find_session(client, text)


def test_a_goal_that_was_not_understood_is_listed_as_no_failure() -> None:
    told = [ListedSession(id="", status="failed", error_code=code) for code in ("not_understood", "no_rows")]
    assert [session.outcome for session in told] == ["not understood", "failed"]


class _Family(_Sessions):
    """The first session is a fork of the third."""

    def session(self, session_id: str) -> SessionDocument:
        source = IDS[2] if session_id == IDS[0] else None
        return SessionDocument(id=session_id, status="completed", forked_from=source)


def test_a_fork_alone_is_compared_with_its_source() -> None:
    with _Family("http://127.0.0.1:1", "key") as client:
        assert find_compared(client, ["last"]) == [IDS[2], IDS[0]]
        assert find_compared(client, ["last", "AB000002"]) == IDS[:2]
        with pytest.raises(InvalidInput, match=r"is no fork.*labcrew compare"):
            find_compared(client, ["cd"])


class _AskedBefore(LabClient):
    """A session that asked once, was answered, and has ended."""

    def events(self, session_id: str) -> Iterator[ReceivedEvent]:
        yield parse_event(
            {"kind": "clarification_asked", "question": "1.a", "text": "Which?", "options": ["a"]}
        )
        yield parse_event({"kind": "session_finished", "seq": 2})

    def session(self, session_id: str) -> SessionDocument:
        return SessionDocument(id=session_id, status="completed")

    def artifacts(self, session_id: str) -> list:
        return []


def test_a_question_of_the_past_is_not_asked_again(tmp_path: Path) -> None:
    options = WatchOptions(tmp_path, can_answer=True)
    with _AskedBefore("http://127.0.0.1:1", "key") as client:
        ending = watch_session(client, "one", options, Console(quiet=True))
    assert ending.waiting is None


class _Interrupted(_AskedBefore):
    cancelled = False

    def events(self, session_id: str) -> Iterator[ReceivedEvent]:
        raise KeyboardInterrupt
        yield

    def cancel(self, session_id: str) -> None:
        self.cancelled = True


@pytest.mark.parametrize("cancels", [False, True])
def test_an_interrupt_names_the_session_and_cancels_only_what_the_command_began(tmp_path, cancels) -> None:
    console = Console(record=True, width=200)
    with _Interrupted("http://127.0.0.1:1", "key") as client, pytest.raises(KeyboardInterrupt):
        watch_session(client, "one", WatchOptions(tmp_path, cancels=cancels), console)
    assert client.cancelled == cancels
    assert "ession one" in console.export_text()


class _PressedAtTheStart(_Interrupted):
    """Ctrl-C comes while the request for the session is under way."""

    cancelled_id = ""

    def create_session(self, goal: str, dataset_ids: list[str], preferences: Mapping[str, object]) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "one"

    def events(self, session_id: str) -> Iterator[ReceivedEvent]:
        pytest.fail("it was watched")
        yield

    def cancel(self, session_id: str) -> None:
        self.cancelled_id = session_id


def test_an_interrupt_while_a_session_is_created_names_and_cancels_it(tmp_path: Path) -> None:
    console = Console(record=True, width=200)
    request = RunRequest((), "Predict it", {}, tmp_path, can_answer=False)
    with _PressedAtTheStart("http://127.0.0.1:1", "key") as client, pytest.raises(KeyboardInterrupt):
        run_session(client, request, console)
    assert client.cancelled_id == "one"
    assert "Session one" in console.export_text()


def test_the_first_unreadable_cells_are_printed_and_the_rest_are_counted() -> None:
    problems = [{"row": row, "column": "zip", "value": "98121-3032"} for row in range(12)]
    predictions = Predictions.model_validate({"rows": 20, "artifact_id": "a", "problems": problems})
    console = Console(record=True, width=100)
    print_row_problems(predictions, console)
    lines = console.export_text().splitlines()
    assert lines[0].strip() == "row 0, zip: 98121-3032 is taken as a missing value."
    assert len(lines) == 11
    assert "2 more cells" in lines[-1]
