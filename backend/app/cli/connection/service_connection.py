"""Connection of a command to a service: a given one, the local one, or one started for the command."""

import importlib
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from app.cli.connection.command_process import start_command
from app.cli.connection.service_file import ServiceAddresses, running_service
from app.cli.connection.service_use import ServiceUse
from app.cli.quick_imports import quick_imports
from app.errors import InvalidInput, Unauthorized
from app.private_files import read_private, write_private
from app.servers.child_process import Daemon
from app.servers.folders import private_folder
from app.servers.os_user import CALLER_ACCOUNT
from app.settings import Settings, child_environment

if TYPE_CHECKING:
    from app.cli.api_client.client import LabClient

OWN_ACCOUNT = "terminal@labcrew.example"
_CLIENT_MODULES = ("app.cli.api_client.client", "app.cli.sessions.run_session", "app.cli.sessions.summary")
"""What commands about sessions need, imported while a service starts."""
_START_S = 900.0
"""For `up` to come up or to give up, which it says itself."""
_STILL_USED = "Another command uses this service, which stops once that has ended. Ctrl-C stops it now."


@contextmanager
def connected(
    settings: Settings, url: str | None, key: str | None, tell: Callable[[str], object]
) -> Iterator["LabClient"]:
    """A client that is signed in. Raises Unavailable when no service answers, Unauthorized for a wrong key."""
    if url:
        if not key:
            raise InvalidInput("key_missing", "--url needs an API key: set LABCREW_API_KEY or give --key.")
        with quick_imports():  # here and below: httpx, while the service starts
            from app.cli.api_client.client import LabClient  # noqa: PLC0415
        with LabClient(url, key) as client:
            client.check_key()
            yield client
        return
    with _connected_here(settings, tell) as client:
        yield client


@contextmanager
def _connected_here(settings: Settings, tell: Callable[[str], object]) -> Iterator["LabClient"]:
    """A client of the local service. One that is started for the block lasts until no command uses it."""
    private_folder(settings.home)
    with ServiceUse(private_folder(settings.home / "run")) as use, ExitStack() as resources:
        # One command at a time, for the account too: two that begin at once would both make it.
        with use.begin():
            addresses = running_service(settings.home)
            if addresses is None:
                tell("Starting the service...")
                addresses = resources.enter_context(_started_service(settings, use, tell))
            client = resources.enter_context(_sign_in_here(settings, addresses))
        yield client


@contextmanager
def _started_service(
    settings: Settings, use: ServiceUse, tell: Callable[[str], object]
) -> Iterator[ServiceAddresses]:
    daemon = Daemon(
        "The service",
        CALLER_ACCOUNT,
        private_folder(settings.home / "run") / "up.pid",
        private_folder(settings.home / "logs") / "up.log",
        signal.SIGTERM,
        child_environment({"LABCREW_HOME": str(settings.home)}),
    )
    try:
        # Any free port: the usual one may be another program's, and nobody has to type this one.
        start_command(daemon, ["up", "--quiet", "--port", "0"])
        with quick_imports():
            for module in _CLIENT_MODULES:
                importlib.import_module(module)
        daemon.wait_until(lambda: running_service(settings.home) is not None, _START_S)
        addresses = running_service(settings.home)
        if addresses is None:
            raise RuntimeError("the service wrote its addresses and removed them at once")
        yield addresses
    except KeyboardInterrupt:
        tell("Stopping the service...")
        raise
    finally:
        try:
            use.wait_until_alone(lambda: tell(_STILL_USED))
        finally:
            daemon.stop(max_wait_s=60)


def _sign_in_here(settings: Settings, addresses: ServiceAddresses) -> "LabClient":
    """A client with the key of this machine's own account, kept in the data folder.

    A key that no longer works is replaced by a new one.
    """
    with quick_imports():
        from app.cli.api_client.client import LabClient  # noqa: PLC0415

    file = settings.home / "terminal.key"
    # `exists` follows links: a dangling one has to come to read_private too, which refuses links.
    if file.is_symlink() or file.exists():
        client = LabClient(addresses.api, read_private(file).strip())
        try:
            client.check_key()
        # The key has ended, or the database is another than the one that it was made for.
        except Unauthorized:
            client.close()
            file.unlink()
        else:
            return client
    from app.cli.connection.account_admin import AccountAdmin  # noqa: PLC0415 - SQLAlchemy, needed the first time only

    key = AccountAdmin(addresses.database_url).own_key(OWN_ACCOUNT, "labcrew run")
    write_private(file, key)
    return LabClient(addresses.api, key)
