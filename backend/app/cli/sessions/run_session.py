"""One session from the terminal: upload, start, watch, answer, fetch the report."""

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from app.cli.api_client.client import LabClient
from app.cli.api_client.received_events import QuestionEvent
from app.cli.api_client.responses import (
    ColumnReading,
    FileReading,
    SavedArtifact,
    SessionDocument,
    SessionResult,
)
from app.cli.sessions import prompts
from app.cli.sessions.screen import Screen
from app.cli.terminal.interrupts import hold_interrupts
from app.cli.terminal.sanitize import plain
from app.counts import describe_size
from app.errors import LabError

MAX_OPEN_READINGS = 5
"""Columns with another reading that are listed after an upload: more would push the goal off the screen."""
DOWNLOADED_KINDS = ("report", "model_card", "notebook", "table", "figure")
FIGURES = "figures"
"""Folder of the figures, beside the report that holds them too."""
FORECASTS = "forecasts.csv"
PREDICTIONS = "predictions.csv"
UNUSUAL_ROWS, ROW_GROUPS = "unusual_rows.csv", "row_groups.csv"
DOWNLOADED_TABLES = frozenset({FORECASTS, PREDICTIONS, UNUSUAL_ROWS, ROW_GROUPS})
"""Tables that are fetched with the report; others are steps on the way, and the session keeps them."""


@dataclass(frozen=True)
class WatchOptions:
    """Options of following a session to its end.

    `out`: folder in which the folder of its report is made. `uses_default_answers`: the crew answers its own
    questions at once. `cancels`: an interrupt cancels the session instead of leaving it alone.
    """

    out: Path
    can_answer: bool = field(default_factory=lambda: sys.stdin.isatty())
    uses_default_answers: bool = False
    cancels: bool = False


@dataclass(frozen=True)
class RunRequest:
    """Files, goal and preferences of a session, and the folder `out` for its report."""

    files: tuple[Path, ...]
    goal: str
    preferences: Mapping[str, object]
    out: Path
    can_answer: bool = field(default_factory=lambda: sys.stdin.isatty())

    @property
    def watch_options(self) -> WatchOptions:
        defaults = self.preferences.get("clarify") == "never"
        return WatchOptions(self.out, self.can_answer, defaults, cancels=True)


@dataclass(frozen=True)
class RunResult:
    """`status` is the session's; `waiting` when it asks and nobody can answer here."""

    session: SessionDocument
    elapsed_s: float
    files: tuple[Path, ...] = ()
    waiting: QuestionEvent | None = None

    @property
    def result(self) -> SessionResult:
        return self.session.result or SessionResult()

    @property
    def checked_claims(self) -> int:
        return (self.result.report and self.result.report.checked_claims) or 0

    @property
    def report(self) -> Path | None:
        return next((path for path in self.files if path.suffix == ".html"), None)


def run_session(client: LabClient, request: RunRequest, console: Console) -> RunResult:
    """Run a session to its end. Ctrl-C cancels it. Raises LabError for what the service refuses."""
    datasets = [_upload(client, path, console) for path in request.files]
    # No session begins that Ctrl-C does not name: between its creation and its id it would not be known.
    with hold_interrupts() as release_interrupts:
        session_id = client.create_session(request.goal, datasets, request.preferences)
        console.print(f"[dim]Session {session_id}[/]")
        return watch_session(client, session_id, request.watch_options, console, release_interrupts)


def watch_session(
    client: LabClient,
    session_id: str,
    options: WatchOptions,
    console: Console,
    on_ready: Callable[[], None] = lambda: None,
) -> RunResult:
    """Follow a session from its first event to its end, and save its report. Raises LabError.

    `on_ready` is called when an interrupt would be answered.
    """
    with Screen(console) as screen, name_at_interrupt(client, session_id, options, console):
        on_ready()
        waiting = _watch(client, session_id, screen, options, console)
        elapsed_s = screen.elapsed_s
    session = client.session(session_id)
    files = () if waiting else save_files(client, session_id, options.out / session_id)
    return RunResult(session, elapsed_s, files, waiting)


def _upload(client: LabClient, path: Path, console: Console) -> str:
    dataset = client.upload(path)
    console.print(f"[dim]{plain(path.name)}: {describe_size(dataset.rows, len(dataset.columns))}[/]")
    for note in dataset.format.notes:
        console.print(f"[dim]  {plain(note)}[/]")
    for line in describe_open_readings(dataset.reading):
        console.print(f"[dim]  {plain(line)}[/]")
    return dataset.id


def describe_open_readings(reading: FileReading | None) -> list[str]:
    """A line for each column whose cells admit another reading: an example of both."""
    lines = [line for column in (reading.columns if reading else ()) if (line := _describe_alternative(column))]
    more = len(lines) - MAX_OPEN_READINGS
    return [*lines[:MAX_OPEN_READINGS], f"{more} more columns have another reading."] if more > 0 else lines


def _describe_alternative(column: ColumnReading) -> str:
    """The first example of which two readings differ; empty for a column with one reading."""
    for other in column.alternatives:
        for example, alternative in zip(column.examples, other.examples, strict=False):
            if example.value != alternative.value:
                return f"{column.column}: {example}; as {other.choice} it would be {alternative.value}."
    return ""


def _watch(
    client: LabClient, session_id: str, screen: Screen, options: WatchOptions, console: Console
) -> QuestionEvent | None:
    """Follow the session to its end; the question that nobody here can answer, if it stops at one."""
    for event in client.events(session_id):
        screen.show_event(event)
        question = screen.progress.question
        if question is None or not isinstance(event, QuestionEvent) or options.uses_default_answers:
            continue
        # Asked for each: the stream begins with the past, in which a question and its answer are two events.
        if not client.is_open(session_id, question.question):
            continue  # an event of the past, or another client was faster
        if not options.can_answer:
            return question
        screen.pause()
        if not answer_question(client, session_id, question, console):
            return question
        screen.resume()
    return None


def answer_question(client: LabClient, session_id: str, question: QuestionEvent, console: Console) -> bool:
    """Ask at the terminal until the service takes the answer; False when the input ends (Ctrl-D) before."""
    while True:
        try:
            answer: Any = prompts.put(question, console, partial(console.input, markup=False))
        except EOFError:
            return False
        try:
            client.respond(session_id, question.question, answer)
        except LabError as refusal:
            if refusal.code == "question_answered":
                return True  # another client answered first
            console.print(f"[red]{plain(refusal.detail)}[/]")
        else:
            return True


def save_files(client: LabClient, session_id: str, folder: Path) -> tuple[Path, ...]:
    """Save the report of an ended session and what belongs to it; the paths, the report's among them."""
    paths: list[Path] = []
    # The report first, which thus keeps its name where another file is named alike.
    for artifact in sorted(filter(_is_downloaded, client.artifacts(session_id)), key=_download_order):
        place = folder / FIGURES if artifact.kind == "figure" else folder
        place.mkdir(parents=True, exist_ok=True)
        # The last part of the name only: a service elsewhere must not write outside of the folder.
        path = _free_path(place / Path(artifact.name).name, paths)
        client.download(artifact.id, path)
        paths.append(path)
    return tuple(paths)


def _is_downloaded(artifact: SavedArtifact) -> bool:
    return artifact.name in DOWNLOADED_TABLES if artifact.kind == "table" else artifact.kind in DOWNLOADED_KINDS


def _download_order(artifact: SavedArtifact) -> int:
    return DOWNLOADED_KINDS.index(artifact.kind)


def _free_path(path: Path, saved: Sequence[Path]) -> Path:
    """Number a file whose name another one of the session has: programs name their figures alike."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in itertools.count(2))
    return path if path not in saved else next(other for other in numbered if other not in saved)


@contextmanager
def name_at_interrupt(
    client: LabClient, session_id: str, options: WatchOptions, console: Console
) -> Iterator[None]:
    """Cancel the session at Ctrl-C or leave it alone, and name it either way."""
    try:
        yield
    except KeyboardInterrupt:
        if options.cancels:
            console.print(f"Cancelling session {session_id}...")
            # Of a session that this command began; one that it only watches is left alone.
            client.cancel(session_id)
        else:
            console.print(
                f"Session {session_id} goes on while the service runs. "
                f"`labcrew resume {session_id}` watches it again."
            )
        raise
