"""Addresses of Postgres and Redis for a command that runs beside the service."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.cli.connection.service_file import running_service
from app.errors import Unavailable
from app.servers.embedded import EmbeddedServers, FolderLock
from app.servers.folders import private_folder
from app.settings import Settings


def with_addresses(settings: Settings) -> Settings:
    """Settings whose database and Redis are known: given ones, or those of the service that runs here."""
    if settings.database_url and settings.redis_address:
        return settings
    addresses = running_service(settings.home)
    if addresses is None:
        raise Unavailable(
            "no_service",
            f"No service runs on {settings.home}. Start one with `labcrew up`, "
            "or set DATABASE_URL and REDIS_URL to servers of your own.",
        )
    return settings.model_copy(
        update={
            "database_url": settings.database_url or addresses.database_url,
            "redis_url": settings.redis_address or addresses.redis_url,
        }
    )


def needs_no_service(settings: Settings) -> bool:
    """Return True where no server is named and no service runs: commands that need one start their own."""
    is_named = settings.database_url or settings.redis_address
    return not is_named and running_service(settings.home) is None


def find_database_url(settings: Settings) -> str:
    """The URL of the given database, or of the service that runs here. Raises Unavailable without one."""
    return settings.database_url or with_addresses(settings).database_url or ""


@contextmanager
def database_address(settings: Settings) -> Iterator[str]:
    """The database's URL; the embedded Postgres runs for the block if it does not run yet."""
    addresses = None if settings.database_url else running_service(settings.home)
    if settings.database_url or addresses:
        yield settings.database_url or (addresses.database_url if addresses else "")
        return
    private_folder(settings.home)
    # The lock that the service takes, so that no two processes start Postgres on one folder.
    lock = FolderLock(settings.home / "lock")
    lock.take()
    servers = EmbeddedServers(settings.home, settings.xdg_runtime_dir)
    try:
        yield servers.start_postgres()
    finally:
        servers.stop()
        lock.release()


def reachable(host: str) -> str:
    """The host to write into an address: one that listens everywhere is reached here."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"[{host}]" if ":" in host else host
