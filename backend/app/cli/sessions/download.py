"""`labcrew bundle`, `notebook` and `verify`: take a session along, and check what its report says."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.sessions.argument import Session
from app.cli.sessions.run import Key, Url
from app.cli.terminal.exit_codes import Exit
from app.cli.terminal.sanitize import plain
from app.errors import NotFound
from app.settings import load_settings

if TYPE_CHECKING:
    from app.reporting.verification import ReportVerification

_MAX_SHOWN = 20
"""Mismatches printed; the first ones name the fault, and the rest are counted."""

Out = Annotated[Path | None, typer.Option(help="The file to write; by itself it is named after the session.")]


def bundle(session: Session, out: Out = None, url: Url = None, key: Key = None) -> None:
    """Save everything of an ended session as one zip: report, models, data, notebook, journal."""
    _save(session, "bundle", out, "zip", url, key)


def notebook(
    session: Session,
    script: Annotated[bool, typer.Option("--script", help="As a plain Python script.")] = False,
    out: Out = None,
    url: Url = None,
    key: Key = None,
) -> None:
    """Save the notebook that does a session again."""
    resource, suffix = ("notebook?format=script", "py") if script else ("notebook", "ipynb")
    _save(session, resource, out, suffix, url, key)


def verify(
    what: Annotated[
        str, typer.Argument(metavar="SESSION|FILE.zip", help="A session as elsewhere, or its archive.")
    ],
    url: Url = None,
    key: Key = None,
) -> None:
    """Read every number of a session's report again from its journal; of an archive, its files too.

    An archive is checked without any service. Exit code 1: something does not hold.
    """
    verdict = _of_archive(Path(what)) if Path(what).suffix == ".zip" else _of_session(what, url, key)
    for mismatch in verdict.mismatches[:_MAX_SHOWN]:
        typer.echo(f"{plain(mismatch.where)}: {plain(mismatch.problem)}")
    if len(verdict.mismatches) > _MAX_SHOWN:
        typer.echo(f"... and {len(verdict.mismatches) - _MAX_SHOWN} more")
    conclusion = "hold" if verdict.passes else "were read again, and not everything holds"
    typer.echo(f"{verdict.checked} numbers {conclusion}.")
    raise typer.Exit(Exit.DONE if verdict.passes else Exit.FAILED)


def _save(session: str, what: str, out: Path | None, suffix: str, url: str | None, key: str | None) -> None:
    from app.cli.connection.service_connection import connected  # noqa: PLC0415 - half a second that `--help` need not wait
    from app.cli.sessions.requests import find_session  # noqa: PLC0415 - see above

    with connected(load_settings(), url, key, typer.echo) as client:
        session_id = find_session(client, session)
        file = out or Path(f"labcrew-{session_id}.{suffix}")
        client.save(f"/lab/agent/sessions/{session_id}/{what}", file)
    typer.echo(f"{file} ({file.stat().st_size:,} bytes)")


def _of_session(session: str, url: str | None, key: str | None) -> "ReportVerification":
    from app.cli.connection.service_connection import connected  # noqa: PLC0415 - see above
    from app.cli.sessions.requests import find_session  # noqa: PLC0415 - see above
    from app.reporting.verification import Mismatch, ReportVerification  # noqa: PLC0415 - see above

    with connected(load_settings(), url, key, typer.echo) as client:
        verification = client.verification(find_session(client, session))
    mismatches = tuple(Mismatch(entry.location, entry.problem) for entry in verification.mismatches)
    return ReportVerification(verification.checked_claims, mismatches)


def _of_archive(path: Path) -> "ReportVerification":
    from app.cli.sessions.archive_check import check_archive  # noqa: PLC0415 - see above

    if not path.is_file():
        raise NotFound("no_such_file", f"There is no file {path}.")
    return check_archive(path)
