"""`labcrew user` and `labcrew key`: accounts and API keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from app.errors import InvalidInput
from app.settings import load_settings

if TYPE_CHECKING:
    from app.cli.connection.account_admin import AccountAdmin

users = typer.Typer(help="Accounts: add, list, disable, enable, delete.", no_args_is_help=True)
secrets = typer.Typer(
    help="The secret that signs tokens: rotate. Secrets of workflows: forget.",
    no_args_is_help=True,
)
keys = typer.Typer(help="API keys: create, list, revoke.", no_args_is_help=True)

Email = Annotated[str, typer.Argument(help="E-mail address of the account.")]


@users.command("add")
def add_user(
    email: Email,
    admin: Annotated[bool, typer.Option("--admin", help="May do everything.")] = False,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password's line from standard input.")
    ] = False,
) -> None:
    """Add an account."""
    if password_stdin:
        # Not an option of the command: arguments are seen in lists of processes and kept in histories.
        password = typer.get_text_stream("stdin").readline().rstrip("\n")
    else:
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    with _open_accounts() as accounts:
        user = accounts.add_user(email, password, admin=admin)
    typer.echo(f"{user.email} may sign in ({user.role}).")


@users.command("list")
def list_users() -> None:
    """List the accounts."""
    with _open_accounts() as accounts:
        for user in accounts.users():
            state = "disabled" if user.disabled_at else "enabled"
            typer.echo(f"{user.email}\t{user.role}\t{state}\t{user.created_at:%Y-%m-%d}")


@users.command("disable")
def disable_user(email: Email) -> None:
    """Take an account's access away; its data stays."""
    with _open_accounts() as accounts:
        accounts.set_disabled(email, disabled=True)
    typer.echo(f"{email} is disabled.")


@users.command("enable")
def enable_user(email: Email) -> None:
    """Give a disabled account its access back."""
    with _open_accounts() as accounts:
        accounts.set_disabled(email, disabled=False)
    typer.echo(f"{email} is enabled.")


@users.command("delete")
def delete_user(
    email: Email,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete an account with everything that it owns. Workers do it; `labcrew user disable` keeps the data."""
    if not yes:
        typer.confirm(f"Delete {email} with every dataset, session and model? There is no way back", abort=True)
    with _open_accounts() as accounts:
        accounts.delete_user(email)
    typer.echo(f"{email} cannot sign in any more; workers delete what it owned.")


@users.command("quotas")
def set_quotas(
    email: Email,
    change: Annotated[
        list[str], typer.Argument(help="NAME=VALUE, 0 for no limit, NAME= for as the settings say.")
    ],
) -> None:
    """Give an account quotas of its own: requests, uploads, compute (rates, such as 600/minute), sessions,
    running_sessions, running_turns, sockets, stored_mb."""
    pairs = (assignment.partition("=") for assignment in change)
    with _open_accounts() as accounts:
        own = accounts.set_quotas(email, {name: value or None for name, _, value in pairs})
    typer.echo(f"{email}: " + (", ".join(f"{k}={v}" for k, v in own.items()) or "as the settings say"))


@secrets.command("rotate")
def rotate_secret() -> None:
    """Put a new secret before those that LABCREW_HOME keeps: it signs once the API is started again, and who is
    signed in stays so. For SECRET_KEY of the environment see docs/security.md."""
    from app.auth.signing_secret import rotate_stored_secret  # noqa: PLC0415 - as the ledger

    settings = load_settings()
    if settings.secret_key:
        raise InvalidInput(
            "secret_configured",
            "SECRET_KEY is set: give it a new value, and move the former to SECRET_KEY_OTHERS.",
        )
    rotate_stored_secret(settings.home)
    typer.echo("A new secret signs as soon as the API is started again; the former ones go on verifying.")


@secrets.command("forget")
def forget_secrets(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete the secrets of all workflows, which no SECRET_KEY opens any more. Their owners enter
    them again."""
    if not yes:
        typer.confirm("Delete the secrets of all users?", abort=True)
    with _open_accounts() as accounts:
        typer.echo(f"Deleted {accounts.forget_secrets()} secrets.")


@keys.command("create")
def create_key(
    email: Email,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "command line",
    days: Annotated[int | None, typer.Option(help="Days that it works; without it, until revoked.")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="What it may do: read, data, sessions, runs, predict, admin; more than once for more."
        ),
    ] = None,
) -> None:
    """Create an API key and show it, this once. Without --scope it may do everything but admin."""
    with _open_accounts() as accounts:
        typer.echo(accounts.create_key(email, name, days, scope or ()))


@keys.command("list")
def list_keys(email: Email) -> None:
    """List an account's API keys."""
    with _open_accounts() as accounts:
        for key in accounts.keys(email):
            works = f"until {key.expires_at:%Y-%m-%d}" if key.expires_at else "works"
            state = "revoked" if key.revoked_at else works
            typer.echo(f"{key.id}\t{key.prefix}...\t{key.name}\t{state}\t{','.join(key.scopes)}")


@keys.command("revoke")
def revoke_key(email: Email, key_id: UUID) -> None:
    """Make an API key worthless."""
    with _open_accounts() as accounts:
        accounts.revoke_key(email, key_id)
    typer.echo("Revoked.")


@contextmanager
def _open_accounts() -> Iterator["AccountAdmin"]:
    from app.cli.connection.account_admin import open_account_admin  # noqa: PLC0415 - a second that other commands need not wait

    with open_account_admin(load_settings()) as accounts:
        yield accounts
