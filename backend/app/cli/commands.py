"""Every command of `labcrew`. A command is imported when it is asked for: most need little of the others."""

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from app.cli.connection.command_process import register_runner
from app.cli.terminal.exit_codes import exit_code_of

_FIRST_STEPS = {
    "demo": "app.cli.sessions.run:demo",
    "run": "app.cli.sessions.run:run",
    "chat": "app.cli.chat.command:chat",
    "up": "app.cli.supervisor.up:up",
    "sign-in": "app.cli.connection.web_sign_in:sign_in",
}
_SESSIONS = {
    "sessions": "app.cli.sessions.commands:sessions",
    "show": "app.cli.sessions.commands:show",
    "open": "app.cli.sessions.commands:open_report",
    "answer": "app.cli.sessions.commands:answer",
    "resume": "app.cli.sessions.commands:resume",
    "pause": "app.cli.sessions.commands:pause",
    "cancel": "app.cli.sessions.commands:cancel",
    "predict": "app.cli.sessions.commands:predict",
    "fork": "app.cli.sessions.commands:fork",
    "compare": "app.cli.sessions.commands:compare",
    "bundle": "app.cli.sessions.download:bundle",
    "notebook": "app.cli.sessions.download:notebook",
    "verify": "app.cli.sessions.download:verify",
}
_WORKFLOWS = {
    "eval": "app.cli.scoring.evaluate:evaluate",
    "workflow": "app.cli.workflows.commands:app",
    "jobs": "app.cli.jobs.commands:app",
    "prices": "app.cli.prices:app",
}
_OPERATION = {
    "doctor": "app.cli.administration.doctor:doctor",
    "api": "app.cli.supervisor.process_commands:api",
    "worker": "app.cli.supervisor.process_commands:worker",
    "cells": "app.cli.supervisor.process_commands:cells",
    "charts": "app.cli.supervisor.process_commands:charts",
    "migrate": "app.cli.supervisor.process_commands:migrate",
    "backup": "app.cli.administration.maintenance:backup",
    "restore": "app.cli.administration.maintenance:restore",
    "retention": "app.cli.administration.maintenance:retention",
    "user": "app.cli.administration.accounts:users",
    "key": "app.cli.administration.accounts:keys",
    "secret": "app.cli.administration.accounts:secrets",
    "blobs": "app.cli.administration.blobs:app",
}
_PANELS = {
    "First steps": _FIRST_STEPS,
    "Sessions": _SESSIONS,
    "Workflows, jobs, prices, suites": _WORKFLOWS,
    "Operation of a service": _OPERATION,
}
"""Head in the help -> its commands, each a function or a group of further commands."""
_HIDDEN = frozenset({"cells", "charts"})
"""Commands that the service runs for itself."""


def make_app(words: Sequence[str] = ()) -> typer.Typer:
    """Make the program. `words`: a command line; if it begins with a command, no other is imported."""
    first = words[0] if words and any(words[0] in commands for commands in _PANELS.values()) else None
    app = typer.Typer(
        name="labcrew",
        help="A data-science crew behind an API: from data and a goal to a checked report.",
        epilog='For example: labcrew run houses.csv "Predict the price"',
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        callback=_options,
    )
    for panel, commands in _PANELS.items():
        for name, place in commands.items():
            if first in (None, name):
                _add(app, name, _load(place), panel)
    return app


def _add(app: typer.Typer, name: str, command: Any, panel: str) -> None:
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name, rich_help_panel=panel)
    else:
        app.command(name, hidden=name in _HIDDEN, rich_help_panel=panel)(command)


def _load(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version  # noqa: PLC0415 - 20 ms that no other command needs

        typer.echo(f"labcrew {version('labcrew')}")
        raise typer.Exit


def _options(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """A data-science crew behind an API: from data and a goal to a checked report."""


def _run(arguments: Sequence[str]) -> int:
    return exit_code_of(lambda: make_app(arguments)([*arguments], standalone_mode=False))


register_runner(_run)
