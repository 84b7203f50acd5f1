"""Commands about existing sessions: `labcrew sessions`, `show`, `open`, `answer`, `resume`, `fork` and more."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.api_client.typed_ids import LAST
from app.cli.sessions.argument import Session
from app.cli.sessions.named_options import check_families
from app.cli.sessions.run import AsJson, Key, Metric, Out, Url
from app.cli.terminal.exit_codes import Exit

Status = Annotated[
    Literal[
        "queued",
        "running",
        "awaiting_user",
        "awaiting_fits",
        "paused",
        "cancelling",
        "completed",
        "failed",
        "cancelled",
    ]
    | None,
    typer.Option(help="Only sessions in this status."),
]
Limit = Annotated[int, typer.Option(help="Sessions at most.", min=1, max=200)]


def sessions(
    status: Status = None, limit: Limit = 20, url: Url = None, key: Key = None, as_json: AsJson = False
) -> None:
    """List your sessions, newest first."""
    from app.cli.sessions.requests import list_sessions  # noqa: PLC0415 - half a second that `--help` need not wait

    list_sessions(url, key, status, limit, as_json)


def show(session: Session = LAST, url: Url = None, key: Key = None, as_json: AsJson = False) -> None:
    """Show how a session stands or ended: its result, its open question or its failure."""
    from app.cli.sessions.requests import show_session  # noqa: PLC0415 - see above

    raise typer.Exit(show_session(session, url, key, as_json))


def open_report(session: Session = LAST, out: Out = None, url: Url = None, key: Key = None) -> None:
    """Save the report of an ended session and open it in the browser."""
    from app.cli.sessions.requests import save_report  # noqa: PLC0415 - see above

    report = save_report(session, out, url, key)
    typer.echo(str(report))
    if typer.launch(report.resolve().as_uri()) != 0:
        typer.echo("No browser could be started here; open the file yourself.", err=True)


def answer(
    session: Session = LAST,
    text: Annotated[
        str | None, typer.Argument(metavar="ANSWER", help="The answer; without it you are asked.")
    ] = None,
    out: Out = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Answer the open question of a session, and watch it on.

    ANSWER is an option by its number or its text, or a value; an empty one takes the default. Exit codes are
    those of `labcrew run`.
    """
    from app.cli.sessions.requests import answer_session  # noqa: PLC0415 - see above

    raise typer.Exit(answer_session(session, text, out, url, key, as_json))


def resume(
    session: Session = LAST,
    out: Out = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Watch a session again, from its first event to its end; a paused one goes on. Ctrl-C leaves it running.

    Exit codes are those of `labcrew run`.
    """
    from app.cli.sessions.requests import resume_session  # noqa: PLC0415 - see above

    raise typer.Exit(resume_session(session, out, url, key, as_json))


def pause(session: Session = LAST, url: Url = None, key: Key = None) -> None:
    """Pause a session: its running step ends, and nothing else begins until `labcrew resume`."""
    from app.cli.sessions.requests import pause_session  # noqa: PLC0415 - see above

    paused_id, is_paused = pause_session(session, url, key)
    state = "paused" if is_paused else "paused once its step has ended"
    typer.echo(f"{paused_id} is {state}. Go on: labcrew resume {paused_id}")


def fork(
    session: Session = LAST,
    at: Annotated[
        str | None,
        typer.Option(help="A step (4), a stage (training) or the key of a question; left out, it lists them."),
    ] = None,
    leave_out: Annotated[list[str] | None, typer.Option(help="Column not to use; may be given again.")] = None,
    metric: Metric = None,
    family: Annotated[
        list[str] | None,
        typer.Option(help="Family of models to fit; may be given again.", callback=check_families),
    ] = None,
    budget: Annotated[float | None, typer.Option(help="Seconds of the whole session.", min=1)] = None,
    note: Annotated[str | None, typer.Option(help="A change in words, which every agent reads.")] = None,
    reply: Annotated[
        str | None, typer.Option("--answer", help="Another answer to the question that --at names.")
    ] = None,
    dry: Annotated[bool, typer.Option("--dry", help="Only say what it would copy and run again.")] = False,
    out: Out = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Go back to a step or a question of a session, and go on from there in another way.

    The session stays as it is. `labcrew fork last --at analysis --leave-out tenure` asks what its result owes
    to a column. Exit codes are those of `labcrew run`.
    """
    from app.cli.api_client.fork_request import ForkOptions  # noqa: PLC0415 - see above
    from app.cli.sessions.requests import fork_session, preview_fork  # noqa: PLC0415 - see above

    options = ForkOptions(at, leave_out or (), metric, family or (), budget, note, reply)
    if dry:
        preview_fork(session, options, url, key, as_json)
        return
    raise typer.Exit(fork_session(session, options, out, url, key, as_json))


def compare(
    sessions: Annotated[
        list[str],
        typer.Argument(
            metavar="SESSION...",
            help="Two to five sessions, by id, its beginning or `last`. One fork is compared with its source.",
        ),
    ],
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Compare a session with others: settings, steps and tables that differ, and scores on the same rows."""
    from app.cli.sessions.requests import compare_sessions  # noqa: PLC0415 - see above

    compare_sessions(sessions, url, key, as_json)


def predict(
    session: Session,
    rows: Annotated[Path, typer.Argument(metavar="FILE", help="A table of the rows to predict.", exists=True)],
    out: Annotated[Path, typer.Option(help="The CSV file to write.")] = Path("predictions.csv"),
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a cell that cannot be read; else it is a missing value.")
    ] = False,
    only_predictions: Annotated[
        bool, typer.Option("--only-predictions", help="Write the predictions without the columns of FILE.")
    ] = False,
    url: Url = None,
    key: Key = None,
) -> None:
    """Predict the rows of a file with a session's model: a row of FILE is a row of the result.

    The result has the columns of FILE, then `prediction` with its probabilities or interval. Cells that cannot
    be read are named, and the other cells of their rows are used.
    """
    from app.cli.sessions.requests import predict_rows  # noqa: PLC0415 - see above

    predict_rows(session, rows, out, strict, not only_predictions, url, key)


def cancel(session: Session, url: Url = None, key: Key = None) -> None:
    """Cancel a session that has not ended. What it has recorded stays readable."""
    from app.cli.sessions.requests import cancel_session  # noqa: PLC0415 - see above

    typer.echo(f"Session {cancel_session(session, url, key)} is being cancelled.")
    raise typer.Exit(Exit.DONE)
