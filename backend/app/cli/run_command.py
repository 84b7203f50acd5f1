"""Execution of `labcrew run` and `demo` with parsed options."""

import json
from pathlib import Path

import typer
from rich.console import Console

from app.cli.exit_codes import Exit
from app.cli.run_options import RunOptions
from app.cli.run_session import RunRequest, run_session
from app.cli.sanitize import plain
from app.cli.service_connection import connected
from app.cli.session_summary import document, exit_of, show
from app.settings import load_settings


def execute_run(options: RunOptions) -> Exit:
    """Run the session, show how it ended, and say so with an exit code."""
    settings = load_settings()
    console = Console(quiet=options.as_json, highlight=False, soft_wrap=True)
    console.print(f"[bold]Goal:[/] {plain(options.goal)}")
    request = RunRequest(
        options.files, options.goal, options.preferences, options.out or settings.home / "reports"
    )
    try:
        with connected(settings, options.url, options.key, console.print) as client:
            result = run_session(client, request, console)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    if options.as_json:
        typer.echo(json.dumps(document(result), indent=2))
    else:
        show(result, console)
        _print_next_steps(options, exit_of(result), settings.home, console)
    return exit_of(result)


def _print_next_steps(options: RunOptions, code: Exit, home: Path, console: Console) -> None:
    """Print the next steps after success, and the log folder after a failure of a local service."""
    if code is Exit.DONE:
        for line in options.next_steps:
            console.print(line)
    elif code is Exit.FAILED and not options.url:
        console.print(f"The service's logs: {home / 'logs'}")
