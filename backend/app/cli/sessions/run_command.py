"""Execution of `labcrew run` and `demo` with parsed options."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.cli.connection.service_connection import connected
from app.cli.quick_imports import quick_imports
from app.cli.sessions.run_options import RunOptions
from app.cli.terminal.exit_codes import Exit
from app.cli.terminal.sanitize import harmless
from app.errors import InvalidInput
from app.llm.config import OFFLINE
from app.llm.provider_catalog import describe_use
from app.settings import Settings, load_settings

if TYPE_CHECKING:
    from app.cli.sessions.run_session import RunResult


def execute_run(options: RunOptions) -> Exit:
    """Run the session, show how it ended, and say so with an exit code."""
    settings = load_settings()
    if options.out is not None:
        _make_folder(options.out)
    if not options.as_json:
        typer.echo(f"Goal: {harmless(options.goal)}")
        if not options.url and settings.chat.model != OFFLINE:
            typer.echo(f"Chat model {harmless(describe_use(settings.chat))}")
    tell = (lambda text: None) if options.as_json else typer.echo
    try:
        with connected(settings, options.url, options.key, tell) as client:
            # After the start of a service: it starts while these are imported.
            with quick_imports():
                from rich.console import Console  # noqa: PLC0415 - here and below

                from app.cli.sessions.run_session import RunRequest, run_session  # noqa: PLC0415
                from app.cli.sessions.summary import document, exit_of, show  # noqa: PLC0415
            console = Console(quiet=options.as_json, highlight=False, soft_wrap=True)
            folder = options.out or settings.home / "reports"
            request = RunRequest(options.files, options.goal, options.preferences, folder)
            result = run_session(client, request, console)
            if options.as_json:
                typer.echo(json.dumps(document(result), indent=2))
            else:
                show(result, console)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    if not options.as_json:
        _print_next_steps(options, result, settings)
    return exit_of(result)


def _make_folder(folder: Path) -> None:
    """Make the folder for the report before any work is done for it. Raises InvalidInput `out_not_writable`."""
    reason = "permission denied"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError as error:
        is_writable, reason = False, (error.strerror or str(error)).lower()
    if not is_writable:
        raise InvalidInput(
            "out_not_writable",
            f"The report cannot be saved in {folder}: {reason}. Name another folder by --out.",
        )


def _print_next_steps(options: RunOptions, result: "RunResult", settings: Settings) -> None:
    """Print the next steps after success, and the log folder after a failure of a local service."""
    from app.cli.connection.web_sign_in import session_page_lines  # noqa: PLC0415 - seldom needed
    from app.cli.sessions.summary import exit_of  # noqa: PLC0415

    code = exit_of(result)
    if code is Exit.DONE:
        for line in options.next_steps:
            typer.echo(line)
        if options.next_steps:
            for line in session_page_lines(settings, str(result.session.id)):
                typer.echo(line)
    elif code is Exit.FAILED and not options.url:
        typer.echo(f"The service's logs: {settings.home / 'logs'}")
