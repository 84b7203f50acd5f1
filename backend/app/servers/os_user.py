"""OS user of the embedded servers: Postgres refuses root, initdb a user without an account entry."""

import os
import pwd
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from app.errors import Unavailable

LAUNCHER = Path(__file__).with_name("launch.py")


@dataclass(frozen=True)
class Account:
    """User of a server. `argument`: UID for the launcher; `uid`: another user's, who must own the files."""

    argument: str
    uid: int | None = None


CALLER_ACCOUNT = Account("-")


def launcher(account: Account, pid_file: Path | None, death_signal: int) -> list[str]:
    """Return the command line to put before a server's own."""
    program = [sys.executable, "-I", "-S", str(LAUNCHER)]
    return [*program, str(os.getpid()), str(int(death_signal)), account.argument, str(pid_file or "")]


def choose_account() -> Account:
    """Choose this user where that works; else this user under another id; else, as root, another user.
    Raises Unavailable when this user has no account entry and user namespaces are refused.
    """
    has_entry = _account_exists(os.geteuid())
    if os.geteuid() != 0 and has_entry:
        return CALLER_ACCOUNT
    ordinary = _ordinary_uid()
    inside = Account(f"ns:{ordinary}")
    if _works(inside):
        return inside
    if os.geteuid() == 0:
        return Account(str(ordinary), ordinary)
    raise Unavailable(
        "no_account",
        f"The embedded Postgres cannot start: user {os.geteuid()} has no account entry and user namespaces are "
        "refused. Give the user an entry in /etc/passwd, or set DATABASE_URL to a Postgres of your own.",
    )


def _account_exists(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _ordinary_uid() -> int:
    accounts = {entry.pw_name: entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid != 0}
    for name in ("postgres", "nobody"):
        if name in accounts:
            return accounts[name]
    if not accounts:
        raise Unavailable(
            "no_account",
            "The embedded Postgres cannot start: this machine has no account but root. "
            "Add one, or set DATABASE_URL to a Postgres of your own.",
        )
    return max(accounts.values())


def _works(account: Account) -> bool:
    attempt = subprocess.run(  # noqa: S603 - our own launcher
        [*launcher(account, None, 15), sys.executable, "-I", "-S", "-c", ""],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return attempt.returncode == 0
