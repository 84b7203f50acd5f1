"""Checks of `labcrew doctor` on the machine itself. A failed check raises an error that says what to do."""

import http.client
import platform
import shutil
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from app.cli.connection.addresses import reachable
from app.cli.connection.service_file import running_service
from app.errors import Unavailable
from app.sandbox.kernel import landlock
from app.sandbox.provider.process_config import ProcessConfig
from app.settings import MIB, Settings

LIBRARIES = ("pandas", "scikit-learn", "duckdb", "langgraph")
MIN_FREE_BYTES = 2 << 30
"""Free disk in bytes below which `doctor` warns: a session stores uploads, frames and models."""
_SECCOMP_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")
_USER_NAMESPACES = {
    Path("/proc/sys/user/max_user_namespaces"): "0",
    Path("/proc/sys/kernel/unprivileged_userns_clone"): "0",
    Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"): "1",
}
"""Switches of kernels, and the value with which each keeps ordinary users from making namespaces."""


async def _versions(settings: Settings) -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"Labcrew {version('labcrew')}, Python {platform.python_version()}, {libraries}"


async def _kernel(settings: Settings) -> str:
    """Landlock and seccomp; namespaces are welcome, not needed."""
    if sys.platform != "linux":
        raise Unavailable("no_linux", "Cells need Linux: run the container image here (docker compose up).")
    release = platform.release()
    if not (abi := landlock.abi()):
        raise Unavailable(
            "no_landlock",
            f"Linux {release} has no Landlock: programs are refused. Use Linux 5.13 or newer, and where it has "
            "`lsm=` on its command line, add landlock there.",
        )
    if not _SECCOMP_ACTIONS.exists():  # noqa: ASYNC240 (nothing else runs here)
        raise Unavailable(
            "no_seccomp",
            f"Linux {release} has no seccomp filters: programs are refused. "
            "Use a kernel with CONFIG_SECCOMP_FILTER.",
        )
    shut = [path.name for path, value in _USER_NAMESPACES.items() if _reads(path, value)]
    namespaces = f"namespaces for root only ({', '.join(shut)})" if shut else "namespaces"
    return f"Linux {release} {platform.machine()}: Landlock ABI {abi}, seccomp, {namespaces}"


def _reads(path: Path, value: str) -> bool:
    return path.exists() and path.read_text().strip() == value


async def _disk(settings: Settings) -> str:
    """Room for data and for the largest cells' output, on the disk that holds both."""
    home = settings.home
    # The home may not exist yet; its disk is that of the nearest folder that does.
    folder_on_disk = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(folder_on_disk).free
    needed = max(MIN_FREE_BYTES, settings.artifact_max_size_mb * MIB)
    if free < needed:
        raise Unavailable(
            "disk_full",
            f"{home} has {free >> 20} MiB free and wants {needed >> 20}: "
            "free some, or set LABCREW_HOME to a folder on another disk.",
        )
    return f"{free >> 30} GiB free at {home}"


async def _port(settings: Settings) -> str:
    """The API's port is free, or the service of this folder answers where it listens."""
    if addresses := running_service(settings.home):
        address = urlsplit(addresses.api)
        api = _fetch_state(address.hostname or "", address.port or 80)
        if api is None:
            raise Unavailable(
                "api_silent", f"The service of {settings.home} does not answer at {addresses.api}."
            )
        if api.status != "ready":
            problems = " ".join({**api.unavailable, **api.degraded}.values())
            state = api.status.replace("_", " ")
            raise Unavailable("api_not_ready", f"The service at {address.netloc} is {state}: {problems}")
        return f"{address.netloc} is this service's, which is ready"
    host, port = settings.api_host, settings.api_port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        # An API without a service file here, such as one in a container, is what the port is for.
        if _fetch_state(reachable(host), port):
            return f"{host}:{port} is an API of Labcrew"
        raise Unavailable(
            "port_taken",
            f"{host}:{port} cannot be listened on ({error.strerror}): set API_PORT to another, or to 0.",
        ) from None
    return f"{host}:{port} is free" if port else "a free port is taken at start"


class _ApiState(BaseModel):
    """Answer of an API about itself, whether it is ready or not; another program's page is none."""

    model_config = ConfigDict(extra="ignore")

    status: Literal["ready", "limited", "not_ready"]
    unavailable: dict[str, str] = {}
    degraded: dict[str, str] = {}
    untrusted_code: dict[str, Any]


def _fetch_state(host: str, port: int) -> _ApiState | None:
    try:
        return _ApiState.model_validate_json(_fetch_text(host, port, "/readyz?strict=1"))
    except ValidationError:
        return None


def _fetch_text(host: str, port: int, path: str) -> str:
    """Fetch a page over HTTP, error pages too; empty if nothing answers."""
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().read(1 << 16).decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        connection.close()


def elsewhere(cells: ProcessConfig, home: Path) -> ProcessConfig:
    """The same kind of cells, with a zygote and folders of their own."""
    cells = replace(cells, home=home, socket=None)
    container = cells.container and replace(cells.container, scratch=cells.scratch)
    return replace(cells, container=container)


MACHINE: dict[str, Callable[[Settings], Awaitable[str]]] = {
    "versions": _versions,
    "kernel": _kernel,
    "disk": _disk,
    "port": _port,
}
