from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from app.cli.api_client.client import LabClient, Refused
from app.cli.api_client.received_events import ReceivedEvent, parse_event
from app.cli.api_client.responses import Json, SavedArtifact, SessionDocument
from app.cli.sessions.run_session import RunRequest, run_session, save_files


class _Refuses(LabClient):
    """A service that refuses every upload."""

    def _json(self, method: str, path: str, **request: object) -> Json:
        raise Refused("empty_file", "The file is empty.")


def test_a_refused_upload_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    wish = RunRequest((tmp_path / "empty.csv",), "Predict it.", {}, tmp_path)
    with (
        _Refuses("http://127.0.0.1:1", "key") as client,
        pytest.raises(Refused, match=r"^empty\.csv: The file is empty\.$"),
    ):
        run_session(client, wish, Console(quiet=True))


class _AsksAndAnswers(LabClient):
    """A session that takes its own answer, as the service does where nobody is to be asked."""

    def is_open(self, session_id: str, question: str) -> bool:
        return True  # at the moment of its event

    def create_session(self, *wish: object) -> str:
        return "one"

    def events(self, session_id: str) -> Iterator[ReceivedEvent]:
        asked = {"question": "1.a", "agent": "planner", "text": "How far ahead?", "options": ["1 hour"]}
        yield parse_event({"kind": "clarification_asked", **asked})
        yield parse_event({"kind": "clarification_answered", "question": "1.a", "by": "default"})

    def session(self, session_id: str) -> SessionDocument:
        return SessionDocument(id=session_id, status="completed")

    def artifacts(self, session_id: str) -> list[SavedArtifact]:
        return []


@pytest.mark.parametrize(("clarify", "waits"), [("never", False), ("ask", True)])
def test_a_question_that_the_crew_answers_itself_does_not_end_the_watch(tmp_path, clarify, waits) -> None:
    wish = RunRequest((), "Predict BTC.", {"clarify": clarify}, tmp_path, can_answer=False)
    with _AsksAndAnswers("http://127.0.0.1:1", "key") as client:
        ending = run_session(client, wish, Console(quiet=True))
    assert (ending.waiting is not None) == waits


class _AtTheEndOfInput(Console):
    """A terminal at which Ctrl-D is pressed."""

    def input(self, *prompt: object, **options: object) -> str:
        raise EOFError


def test_the_end_of_input_leaves_the_question_open(tmp_path: Path) -> None:
    wish = RunRequest((), "Predict BTC.", {"clarify": "ask"}, tmp_path, can_answer=True)
    with _AsksAndAnswers("http://127.0.0.1:1", "key") as client:
        ending = run_session(client, wish, _AtTheEndOfInput(quiet=True))
    assert ending.waiting is not None
    assert ending.waiting.question == "1.a"
    assert ending.files == ()


class _DrewTwice(_AsksAndAnswers):
    """A service whose session has a report, and two figures of one name."""

    def artifacts(self, session_id: str) -> list[SavedArtifact]:
        names = {
            "figure": ["figure-1.png", "figure-1.png"],
            "model": ["model.skops"],
            "report": ["report.html"],
            "table": ["join.parquet", "forecasts.csv"],
        }
        return [
            SavedArtifact(id=f"{kind}{n}", kind=kind, name=name)
            for kind, of_kind in names.items()
            for n, name in enumerate(of_kind)
        ]

    def download(self, artifact_id: str, path: Path) -> None:
        path.write_text(artifact_id)


def test_figures_are_saved_beside_the_report_under_names_of_their_own(tmp_path: Path) -> None:
    with _DrewTwice("http://127.0.0.1:1", "key") as client:
        saved = save_files(client, "one", tmp_path)
    assert saved[0].name == "report.html"
    assert {str(path.relative_to(tmp_path)): path.read_text() for path in saved} == {
        "report.html": "report0",
        "forecasts.csv": "table1",
        "figures/figure-1.png": "figure0",
        "figures/figure-1-2.png": "figure1",
    }
