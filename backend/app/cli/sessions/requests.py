"""Execution of the commands about sessions that exist already."""

import json
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from app.cli.api_client.client import MAX_PAGE_ITEMS, LabClient
from app.cli.api_client.fork_request import ForkOptions
from app.cli.api_client.received_events import QuestionEvent
from app.cli.api_client.responses import ListedSession, Predictions
from app.cli.api_client.typed_ids import LAST, find_id
from app.cli.connection.service_connection import connected
from app.cli.sessions import prompts
from app.cli.sessions.comparison import SessionComparisonDocument, show_comparison
from app.cli.sessions.run_session import (
    RunResult,
    WatchOptions,
    answer_question,
    name_at_interrupt,
    save_files,
    watch_session,
)
from app.cli.sessions.summary import document, exit_of, show
from app.cli.terminal.exit_codes import Exit
from app.cli.terminal.interrupts import hold_interrupts
from app.cli.terminal.sanitize import plain
from app.errors import InvalidInput, NotFound
from app.settings import load_settings

SHOWN_ID_LENGTH = 8
"""Characters of an id in a list: 32 random bits, enough to tell a person's sessions apart."""
PAUSED = "paused"
"""Status of a session that its user has paused."""
MAX_SHOWN_PROBLEMS = 10
"""Unreadable cells that are printed: the first ones name the fault, and the rest are counted."""
MAX_GOAL_LENGTH = 70
"""Characters of a goal in a list, so that a row fits a wide terminal."""


def list_sessions(url: str | None, key: str | None, status: str | None, limit: int, as_json: bool) -> None:
    """Print the newest sessions as a table, or as a JSON list."""
    console = _console(as_json)
    with _connection(url, key, console) as client:
        newest = client.sessions(limit, status)
    if as_json:
        typer.echo(json.dumps([session.to_json() for session in newest], indent=2))
    elif newest:
        console.print(_sessions_table(newest))
    else:
        console.print('There are no sessions. Start one: labcrew run data.csv "Predict the price"')


def show_session(session: str, url: str | None, key: str | None, as_json: bool) -> Exit:
    """Print the state or the result of a session; the exit code says which."""
    console = _console(as_json)
    with _connection(url, key, console) as client:
        stored = client.session(find_session(client, session))
        question = QuestionEvent.from_open(stored.question) if stored.question else None
        # Saved also to show it: the summary names the report, and without a file there would be none.
        files = save_files(client, stored.id, _report_folder(None) / stored.id) if stored.ended else ()
    ending = RunResult(stored, stored.elapsed_s, files, question)
    if not as_json:
        console.print(f"[bold]Goal:[/] {plain(stored.goal)}")
    if not stored.ended and not question:
        return _print_unfinished(ending, console, as_json)
    return _print_ending(ending, console, as_json)


def save_report(session: str, out: Path | None, url: str | None, key: str | None) -> Path:
    """Save the report of a session and return its path. Raises NotFound if it has none."""
    with _connection(url, key, _console(quiet=False)) as client:
        session_id = find_session(client, session)
        files = save_files(client, session_id, _report_folder(out) / session_id)
    report = next((path for path in files if path.suffix == ".html"), None)
    if report is None:
        raise NotFound("no_report", f"Session {session_id} has no report. `labcrew show` says why.")
    return report


def predict_rows(
    session: str,
    rows: Path,
    out: Path,
    is_strict: bool,
    keep_columns: bool,
    url: str | None,
    key: str | None,
) -> None:
    """Predict a file with the model of a session. Raises NotFound if it has none."""
    console = _console(quiet=False)
    with _connection(url, key, console) as client:
        stored = client.session(find_session(client, session))
        if stored.result is None or stored.result.model is None:
            raise NotFound("no_model", f"Session {stored.id} has no model. `labcrew show` says why.")
        predictions = client.predict(stored.result.model, client.upload(rows).id, is_strict, keep_columns)
        client.download(predictions.artifact_id, out)
    console.print(f"{predictions.rows:,} rows are predicted: {plain(str(out))}")
    print_row_problems(predictions, console)


def print_row_problems(predictions: Predictions, console: Console) -> None:
    """Print the warnings, and the first cells that could not be read."""
    for warning in predictions.warnings:
        console.print(f"  {warning.rows:,} rows: {plain(warning.text)}")
    for problem in predictions.problems[:MAX_SHOWN_PROBLEMS]:
        place = f"row {problem.row:,}, {plain(problem.column)}"
        console.print(f"  {place}: {plain(str(problem.value))} is taken as a missing value.")
    hidden = len(predictions.problems) - MAX_SHOWN_PROBLEMS
    if hidden > 0:
        console.print(f"  ... and {hidden:,} more cells")


def answer_session(
    session: str, text: str | None, out: Path | None, url: str | None, key: str | None, as_json: bool
) -> Exit:
    """Answer the open question of a session, then follow it to its end. Raises NotFound without a question."""
    console = _console(as_json)
    with _connection(url, key, console) as client:
        stored = client.session(find_session(client, session))
        if stored.question is None:
            raise NotFound("no_question", f"Session {stored.id} is {stored.status} and asks nothing.")
        question = stored.question
        options = _watch_options(out)
        if text is not None:
            value = prompts.parse_answer(
                text.strip(), list(question.options), question.default, question.answer_schema
            )
            client.respond(stored.id, question.key, value)
        elif options.can_answer:
            with name_at_interrupt(client, stored.id, options, console):
                is_answered = answer_question(client, stored.id, QuestionEvent.from_open(question), console)
            if not is_answered:
                waiting = RunResult(stored, stored.elapsed_s, (), QuestionEvent.from_open(question))
                return _print_ending(waiting, console, as_json)
        else:
            raise InvalidInput("no_answer", f'Give the answer: labcrew answer {stored.id} "..."')
        return _follow(client, stored.id, options, console, as_json)


def resume_session(session: str, out: Path | None, url: str | None, key: str | None, as_json: bool) -> Exit:
    """Let a session go on if it is paused, and follow it from its first event to its end."""
    console = _console(as_json)
    with _connection(url, key, console) as client:
        session_id = find_session(client, session)
        if client.session(session_id).status == PAUSED:
            client.resume(session_id)
        return _follow(client, session_id, _watch_options(out), console, as_json)


def pause_session(session: str, url: str | None, key: str | None) -> tuple[str, bool]:
    """Pause a session; return its id, and whether it is paused already or ends a step first."""
    with _connection(url, key, _console(quiet=False)) as client:
        session_id = find_session(client, session)
        return session_id, client.pause(session_id) == PAUSED


def fork_session(
    session: str, options: ForkOptions, out: Path | None, url: str | None, key: str | None, as_json: bool
) -> Exit:
    """Fork a session, say which part of the change has no effect, and follow the fork to its end."""
    console = _console(as_json)
    with _connection(url, key, console) as client:
        session_id = find_session(client, session)
        request = options.make_request(client.steps(session_id))
        # As in run_session: no fork begins whose id an interrupt would not tell.
        with hold_interrupts() as release_interrupts:
            fork = client.fork(session_id, request)
            console.print(f"Session {fork.id} is a fork of {fork.forked_from}.")
            for note in fork.notes:
                console.print(f"[yellow]{plain(note)}[/]")
            ending = _follow(client, fork.id, _watch_options(out), console, as_json, release_interrupts)
    if ending is Exit.DONE:
        short = (fork.forked_from[:SHOWN_ID_LENGTH], fork.id[:SHOWN_ID_LENGTH])
        console.print(f"[dim]Compare both: labcrew compare {' '.join(short)}[/]")
    return ending


def preview_fork(session: str, options: ForkOptions, url: str | None, key: str | None, as_json: bool) -> None:
    """Print what a fork would copy and run again, without making it."""
    console = _console(as_json)
    with _connection(url, key, console) as client:
        session_id = find_session(client, session)
        preview = client.preview_fork(session_id, options.make_request(client.steps(session_id)))
    if as_json:
        typer.echo(json.dumps(preview, indent=2))
        return
    for heading, name in (("Copied", "copied"), ("Run again", "rerun")):
        steps = ", ".join(f"{step['step']} {step['node'].replace('_', ' ')}" for step in preview[name])
        console.print(f"{heading}: {plain(steps) or 'nothing'}")
    if preview["estimated_s"] is not None:
        console.print(f"That took the source {preview['estimated_s']:.1f} s.")
    for note in preview["notes"]:
        console.print(f"[yellow]{plain(note)}[/]")


def compare_sessions(sessions: Sequence[str], url: str | None, key: str | None, as_json: bool) -> None:
    """Print sessions side by side, and what differs between the first and each of the others."""
    console = _console(as_json)
    with _connection(url, key, console) as client:
        comparison = client.compare(find_compared(client, sessions))
    if as_json:
        typer.echo(json.dumps(comparison, indent=2))
    else:
        show_comparison(SessionComparisonDocument.model_validate(comparison), console)


def find_compared(client: LabClient, sessions: Sequence[str]) -> list[str]:
    """Return the ids of the sessions to compare; beside a single fork its source. Raises InvalidInput."""
    ids = [find_session(client, session) for session in sessions]
    if len(ids) > 1:
        return ids
    source = client.session(ids[0]).forked_from
    if source is None:
        raise InvalidInput(
            "nothing_to_compare",
            f"{ids[0]} is no fork, so name the session to compare it with: labcrew compare {ids[0]} OTHER",
        )
    # The source first, so that differences read as what the fork changed.
    return [source, *ids]


def cancel_session(session: str, url: str | None, key: str | None) -> str:
    """Cancel a session and return its id. Raises LabError if it has ended."""
    with _connection(url, key, _console(quiet=False)) as client:
        session_id = find_session(client, session)
        client.cancel(session_id)
    return session_id


def find_session(client: LabClient, text: str) -> str:
    """Return the id of the session that an id, the beginning of one, or `last` means. See `find_id`."""
    page_items = 1 if text == LAST else MAX_PAGE_ITEMS
    return find_id(
        text,
        lambda: [session.id for session in client.sessions(page_items)],
        "session",
        "List them: labcrew sessions",
    )


def _follow(
    client: LabClient,
    session_id: str,
    options: WatchOptions,
    console: Console,
    as_json: bool,
    on_ready: Callable[[], None] = lambda: None,
) -> Exit:
    try:
        ending = watch_session(client, session_id, options, console, on_ready)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    return _print_ending(ending, console, as_json)


def _print_ending(ending: RunResult, console: Console, as_json: bool) -> Exit:
    if as_json:
        typer.echo(json.dumps(document(ending), indent=2))
    else:
        show(ending, console)
    return exit_of(ending)


def _print_unfinished(ending: RunResult, console: Console, as_json: bool) -> Exit:
    session = ending.session
    if as_json:
        typer.echo(json.dumps(document(ending), indent=2))
    else:
        step = f", after {session.node.replace('_', ' ')}" if session.node else ""
        console.print(f"The session is {session.status} for {ending.elapsed_s:.0f} s{step}.")
        console.print(f"Watch it: labcrew resume {session.id}")
    return Exit.DONE


def _sessions_table(sessions: list[ListedSession]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("Session", "Status", "Begun", "Goal"):
        table.add_column(heading, no_wrap=heading != "Goal")
    now = datetime.now(UTC)
    for session in sessions:
        goal = textwrap.shorten(session.goal, MAX_GOAL_LENGTH, placeholder="…")
        age = _age(now, session.created_at) if session.created_at else "-"
        table.add_row(session.id[:SHOWN_ID_LENGTH], session.outcome, age, plain(goal))
    return table


def _age(now: datetime, then: datetime) -> str:
    """Time since `then` in its largest whole unit."""
    seconds = max(int((now - then).total_seconds()), 0)
    for unit, size_s in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size_s:
            return f"{seconds // size_s} {unit} ago"
    return f"{seconds} s ago"


def _watch_options(out: Path | None) -> WatchOptions:
    return WatchOptions(_report_folder(out))


def _report_folder(out: Path | None) -> Path:
    return out or load_settings().home / "reports"


def _console(quiet: bool) -> Console:
    return Console(quiet=quiet, highlight=False, soft_wrap=True)


@contextmanager
def _connection(url: str | None, key: str | None, console: Console) -> Iterator[LabClient]:
    with connected(load_settings(), url, key, console.print) as client:
        yield client
