"""Every command of `labcrew`."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from app.cli import prices
from app.cli.administration import accounts, blobs, doctor, maintenance
from app.cli.chat import command as chat
from app.cli.connection import web_sign_in
from app.cli.connection.command_process import register_runner
from app.cli.jobs import commands as job_commands
from app.cli.scoring import evaluate
from app.cli.sessions import commands as session_commands
from app.cli.sessions import download, run
from app.cli.supervisor import process_commands, up
from app.cli.terminal.exit_codes import exit_code_of
from app.cli.workflows import commands as workflow_commands

app = typer.Typer(
    name="labcrew",
    help="A data-science crew behind an API: from data and a goal to a checked report.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"labcrew {version('labcrew')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """A data-science crew behind an API: from data and a goal to a checked report."""


app.command("up")(up.up)
app.command("sign-in")(web_sign_in.sign_in)
app.command("run")(run.run)
app.command("demo")(run.demo)
app.command("chat")(chat.chat)
app.command("sessions")(session_commands.sessions)
app.command("show")(session_commands.show)
app.command("open")(session_commands.open_report)
app.command("answer")(session_commands.answer)
app.command("resume")(session_commands.resume)
app.command("pause")(session_commands.pause)
app.command("fork")(session_commands.fork)
app.command("compare")(session_commands.compare)
app.command("predict")(session_commands.predict)
app.command("cancel")(session_commands.cancel)
app.command("bundle")(download.bundle)
app.command("notebook")(download.notebook)
app.command("verify")(download.verify)
app.command("eval")(evaluate.evaluate)
app.command("api")(process_commands.api)
app.command("worker")(process_commands.worker)
app.command("cells", hidden=True)(process_commands.cells)
app.command("charts", hidden=True)(process_commands.charts)
app.command("migrate")(process_commands.migrate)
app.command("backup")(maintenance.backup)
app.command("restore")(maintenance.restore)
app.command("retention")(maintenance.retention)
app.command("doctor")(doctor.doctor)
app.add_typer(workflow_commands.app, name="workflow")
app.add_typer(job_commands.app, name="jobs")
app.add_typer(accounts.users, name="user")
app.add_typer(accounts.keys, name="key")
app.add_typer(accounts.secrets, name="secret")
app.add_typer(prices.app, name="prices")
app.add_typer(blobs.app, name="blobs")


def _run(arguments: Sequence[str]) -> int:
    return exit_code_of(lambda: app([*arguments], standalone_mode=False))


register_runner(_run)
