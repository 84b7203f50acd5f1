"""Zygote in a container: the same process and protocol with one more layer of isolation, by the docker command.

The container sees its own image, the scratch folder, the blobs (read-only) and the folder of its socket; it
has no network, no capability and no way to gain one. Its standard input is its lifeline: when the process that
started it ends, for any cause, the engine closes that input, and the zygote ends with all its cells.
"""

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from app.errors import Unavailable
from app.sandbox.exchange.contract import MAX_THREADS, CellRequest
from app.sandbox.kernel.calls import die_with_parent
from app.sandbox.provider.zygote_launch import RETRY_S, connect, reap

MIB = 1 << 20
_ZYGOTE_BYTES = 1 << 30
"""Memory of the container beside its cells: the zygote takes about 190 MB, and its file cache counts, too."""
_EXTRA_PROCESSES = 64
"""Processes and threads of the container beside its cells: the init process, the zygote and the spares."""
_MAX_DOCKER_S = 30
"""Seconds for one command to the engine, which answers in less than one unless it hangs."""
_SOCKET_MOUNT = Path("/run/labcrew")
"""Path of the socket's folder in the container."""
_CONTAINER_HOME = "/data"
_CONTAINER_UID = 10_001
"""User id of cells when the service runs as root: the image's own user."""

_OUTPUT_FILE = "said"
"""File in the socket's folder with the output of the docker command."""

_SCRATCH_LABEL, _SOCKET_LABEL = "labcrew.scratch", "labcrew.door"


@dataclass(frozen=True)
class Container:
    """Container of a zygote.

    `scratch` is mounted to write, `blobs` to read, at the same paths inside. `memory_bytes`: limit of one cell.
    `cells`: number that run at once. `cpus`: processors of all cells together; None is one for each cell.
    """

    image: str
    scratch: Path
    blobs: Path
    memory_bytes: int
    cells: int
    cpus: float | None = None

    @property
    def user(self) -> int:
        return os.getuid() or _CONTAINER_UID

    @property
    def group(self) -> int:
        return os.getgid() if os.getuid() else _CONTAINER_UID

    def command(self, socket_folder: Path) -> list[str]:
        """Build the docker command. `socket_folder`: private folder in which the zygote makes `socket`."""
        memory = min(self.cells * self.memory_bytes + _ZYGOTE_BYTES, _memory_of_host())
        owner = f"uid={self.user},gid={self.group}"
        options = {
            "pull": "never",
            "network": "none",
            "cap-drop": "ALL",
            "security-opt": "no-new-privileges",
            "user": f"{self.user}:{self.group}",
            "memory": memory,
            "memory-swap": memory,  # memory and swap together: no swap
            # The engine refuses more than the host has.
            "cpus": min(self.cpus or self.cells, os.cpu_count() or 1),
            "pids-limit": self.cells * (MAX_THREADS + 1) + _EXTRA_PROCESSES,
            "ipc": "private",
            "log-driver": "none",
            "sig-proxy": "false",
            "workdir": "/",
            "tmpfs": f"{_CONTAINER_HOME}:noexec,nosuid,nodev,size=64m,mode=700,{owner}",
        }
        mounts = [
            _mount(self.scratch, self.scratch),
            _mount(self.blobs, self.blobs, ",readonly"),
            _mount(socket_folder, _SOCKET_MOUNT),
        ]
        return [
            *("docker", "run", "--rm", "--interactive", "--read-only"),
            *(f"--{name}={value}" for name, value in options.items()),
            *(f"--mount={mount}" for mount in mounts),
            *(f"--label={name}={value}" for name, value in self._labels(socket_folder).items()),
            f"--env=LABCREW_HOME={_CONTAINER_HOME}",
            *(self.image, "labcrew", "cells", "--lifeline", "--socket", str(_SOCKET_MOUNT / "socket")),
        ]

    def prepare(self, socket_folder: Path) -> None:
        """Make the mounted folders, and give the socket's to the container's user."""
        self.blobs.mkdir(mode=0o711, parents=True, exist_ok=True)
        self.scratch.mkdir(mode=0o711, parents=True, exist_ok=True)
        socket_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.give_ownership(socket_folder)

    def give_ownership(self, folder: Path) -> None:
        if os.getuid() == 0:
            os.chown(folder, self.user, self.group)

    def localize(self, request: CellRequest, folder: Path) -> CellRequest:
        """Return the request with paths that the container sees: other inputs are copied into `folder`."""
        self.give_ownership(request.output)
        folder.chmod(0o711)
        inputs = {
            name: path if path.is_relative_to(self.blobs) else _copy_readable(path, folder / str(number))
            for number, (name, path) in enumerate(request.inputs.items())
        }
        return replace(request, inputs=inputs)

    def remove_leftovers(self) -> None:
        """Remove containers of this scratch folder whose socket's folder is gone."""
        columns = f'--format={{{{.ID}}}} {{{{.Label "{_SOCKET_LABEL}"}}}}'
        listing = _docker("ps", "--all", f"--filter=label={_SCRATCH_LABEL}={self.scratch}", columns)
        for line in listing.stdout.splitlines():
            container, _, socket_folder = line.partition(" ")
            if not Path(socket_folder).exists():
                _docker("rm", "--force", container)

    def remove_containers_at(self, socket_folder: Path) -> None:
        """Remove the containers of a socket's folder that is about to be used again."""
        listing = _docker("ps", "--all", "--quiet", f"--filter=label={_SOCKET_LABEL}={socket_folder}")
        for container in listing.stdout.split():
            _docker("rm", "--force", container)

    def _labels(self, socket_folder: Path) -> dict[str, str]:
        return {_SCRATCH_LABEL: str(self.scratch), _SOCKET_LABEL: str(socket_folder)}


async def start_own_container(
    container: Container, socket_folder: Path
) -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
    """Start a container for this client alone, and connect. Raises Unavailable with the engine's message."""
    container.prepare(socket_folder)
    await asyncio.to_thread(container.remove_containers_at, socket_folder)
    (socket_folder / "socket").unlink(missing_ok=True)
    # A file, not a pipe: nobody reads a pipe once the container runs, and a full one would block it.
    with (socket_folder / _OUTPUT_FILE).open("wb") as output:
        try:
            process = subprocess.Popen(  # noqa: S603, ASYNC220 (a fixed command; a millisecond)
                container.command(socket_folder),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise Unavailable("cells_unavailable", NO_DOCKER) from None
    try:
        while process.poll() is None:
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                return connect(socket_folder / "socket"), process
            await asyncio.sleep(RETRY_S)
        message = (socket_folder / _OUTPUT_FILE).read_text()
        raise Unavailable("cells_unavailable", _start_refusal(container.image, message))
    # Also when cancelled: a container without a client would run on.
    except BaseException:
        await asyncio.to_thread(reap, process)
        raise


def become_container(container: Container, socket_folder: Path) -> NoReturn:
    """Turn this process into the docker command that runs the host's zygote; it ends with its parent."""
    die_with_parent(os.getppid())
    container.prepare(socket_folder)
    container.remove_containers_at(socket_folder)
    command = container.command(socket_folder)
    lifeline, write_end = os.pipe()
    os.dup2(lifeline, 0)
    os.set_inheritable(write_end, True)  # the command itself keeps it open for as long as it lives
    try:
        os.execvp(command[0], command)  # noqa: S606 (fixed arguments)
    except FileNotFoundError:
        raise Unavailable("cells_unavailable", NO_DOCKER) from None


NO_DOCKER = (
    "SANDBOX_PROVIDER=docker needs the `docker` command: install Docker, or set SANDBOX_PROVIDER=process."
)


def engine_refusal(image: str) -> str | None:
    """Return why no container can start here and what to do; None if an engine answers and has the image."""
    if shutil.which("docker") is None:
        return NO_DOCKER
    version = _docker("version", "--format={{.Server.Version}}")
    if version.returncode:
        return f"The engine does not answer: {_last_line(version.stderr)}."
    if _docker("image", "inspect", image).returncode:
        return f"The engine has no image {image}. Build it: docker build -t {image} ."
    return None


def _start_refusal(image: str, output: str) -> str:
    return (
        f"The container of cells did not start: {_last_line(output)}. "
        f"Is the image of this version there? docker build -t {image} ."
    )


def _last_line(output: str) -> str:
    # Docker ends an error with a hint to its --help, which says nothing of the cause.
    lines = [line.strip() for line in output.splitlines() if line.strip() and "--help" not in line]
    return lines[-1].removesuffix(".") if lines else "it gave no reason"


def _docker(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a docker command; return a failure where it is missing or does not answer."""
    command = ["docker", *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_MAX_DOCKER_S, check=False)  # noqa: S603
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def _mount(source: Path, target: Path, options: str = "") -> str:
    for path in (source, target):
        if "," in str(path) or '"' in str(path):
            raise Unavailable(
                "cells_unavailable", f"Docker cannot mount {path}: a comma or quote is in its path."
            )
    return f"type=bind,source={source},target={target}{options}"


def _copy_readable(source: Path, target: Path) -> Path:
    shutil.copyfile(source, target)
    target.chmod(0o444)
    return target


def _memory_of_host() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
