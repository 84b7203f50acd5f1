"""What `labcrew run` and `demo` do once their options are read."""

import json

import typer
from rich.console import Console

from app.cli.conduct import Wish, conduct
from app.cli.connect import connected
from app.cli.errand import Errand
from app.cli.exits import Exit
from app.cli.summary import document, exit_of, show
from app.settings import load_settings


def carry_out(errand: Errand) -> Exit:
    """Run the session, show how it ended, and say so with an exit code."""
    settings = load_settings()
    console = Console(quiet=errand.as_json, highlight=False, soft_wrap=True)
    console.print(f"[bold]Goal:[/] {errand.goal}")
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
        for line in errand.onward:
            console.print(line)
    return exit_of(ending)
