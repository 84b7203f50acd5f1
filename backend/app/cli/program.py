"""`labcrew`: every command, and what happens when one fails."""

import sys
from typing import NoReturn

import typer

from app.cli import accounts, blobs, doctor, download, evaluate, maintenance, prices, process_commands, run, up
from app.cli.exit_codes import Exit, exit_for
from app.cli.sanitize import harmless
from app.errors import LabError

app = typer.Typer(
    name="labcrew",
    help="A data-science crew behind an API: from data and a goal to a checked report.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("up")(up.up)
app.command("run")(run.run)
app.command("demo")(run.demo)
app.command("bundle")(download.bundle)
app.command("notebook")(download.notebook)
app.command("verify")(download.verify)
app.command("eval")(evaluate.evaluate)
app.command("api")(process_commands.api)
app.command("worker")(process_commands.worker)
app.command("cells", hidden=True)(process_commands.cells)
app.command("migrate")(process_commands.migrate)
app.command("backup")(maintenance.backup)
app.command("restore")(maintenance.restore)
app.command("retention")(maintenance.retention)
app.command("doctor")(doctor.doctor)
app.add_typer(accounts.users, name="user")
app.add_typer(accounts.keys, name="key")
app.add_typer(accounts.secrets, name="secret")
app.add_typer(prices.app, name="prices")
app.add_typer(blobs.app, name="blobs")


def main() -> NoReturn:
    try:
        app()
    except LabError as error:
        print(f"labcrew: {harmless(error.detail)}", file=sys.stderr)  # noqa: T201 - the terminal is the edge here
        sys.exit(exit_for(error))
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)
    sys.exit(Exit.DONE)


if __name__ == "__main__":
    main()
