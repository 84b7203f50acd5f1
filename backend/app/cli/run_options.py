"""What `labcrew run` and `demo` do once their options are read."""

import json
from pathlib import Path

import typer
from rich.console import Console

from app.cli.connect import connected
from app.cli.errand import Errand
from app.cli.exit_codes import Exit
from app.cli.run_session import Wish, conduct
from app.cli.sanitize import plain
from app.cli.summary import document, exit_of, show
from app.settings import load_settings


def carry_out(errand: Errand) -> Exit:
    """Run the session, show how it ended, and say so with an exit code."""
    settings = load_settings()
    console = Console(quiet=errand.as_json, highlight=False, soft_wrap=True)
    console.print(f"[bold]Goal:[/] {plain(errand.goal)}")
    wish = Wish(errand.files, errand.goal, errand.preferences, errand.out or settings.home / "reports")
    try:
        with connected(settings, errand.url, errand.key, console.print) as client:
            ending = conduct(client, wish, console)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    if errand.as_json:
        typer.echo(json.dumps(document(ending), indent=2))
    else:
        show(ending, console)
        _point_on(errand, exit_of(ending), settings.home, console)
    return exit_of(ending)


def _point_on(errand: Errand, code: Exit, home: Path, console: Console) -> None:
    """What to do next: go on after success, look at the logs after a failure of a service of this machine."""
    if code is Exit.DONE:
        for line in errand.onward:
            console.print(line)
    elif code is Exit.FAILED and not errand.url:
        console.print(f"The service's logs: {home / 'logs'}")
