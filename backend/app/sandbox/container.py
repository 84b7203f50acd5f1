"""The zygote in a container: the same process and protocol behind one more wall, by the docker command.

The container sees its own image, the scratch folder, the blobs (read-only) and the folder of its socket; it
has no network, no capability and no way to gain one. Its standard input is its lifeline: when whoever started
it ends, for whatever cause, the engine closes that input, and the zygote ends with all its cells.
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
from app.sandbox.contract import CellRequest
from app.sandbox.kernel.calls import die_with_parent
from app.sandbox.launch import RETRY_S, connect, reap
from app.sandbox.supervision import MAX_THREADS

MIB = 1 << 20
_ZYGOTE_BYTES = 1 << 30
_SOCKET_MOUNT = Path("/run/labcrew")  # where the container finds the folder of its socket
_CONTAINER_HOME = "/data"
_CONTAINER_UID = 10_001
"""Whom cells run as when we are root ourselves: the image's own user."""

_SCRATCH_LABEL, _SOCKET_LABEL = "labcrew.scratch", "labcrew.door"


@dataclass(frozen=True)
class Container:
    """`scratch` is written, `blobs` is read, at the same paths inside. Bounds are for all cells together."""

    image: str
    scratch: Path
    blobs: Path
    memory_bytes: int
    cells: int

    @property
    def user(self) -> int:
        return os.getuid() or _CONTAINER_UID

    @property
    def group(self) -> int:
        return os.getgid() if os.getuid() else _CONTAINER_UID

    def command(self, door: Path) -> list[str]:
        """What to run; `door`: the private folder that its socket appears in, named `socket`."""
        memory = min(self.cells * self.memory_bytes + _ZYGOTE_BYTES, _memory_of_host())
        owner = f"uid={self.user},gid={self.group}"
        options = {
            "pull": "never",
            "network": "none",
            "cap-drop": "ALL",
            "security-opt": "no-new-privileges",
            "user": f"{self.user}:{self.group}",
            "memory": memory,
            "memory-swap": memory,
            "pids-limit": self.cells * (MAX_THREADS + 1) + 64,
            "ipc": "private",
            "log-driver": "none",
            "sig-proxy": "false",
            "workdir": "/",
            "tmpfs": f"{_CONTAINER_HOME}:noexec,nosuid,nodev,size=64m,mode=700,{owner}",
        }
        mounts = [
            _mount(self.scratch, self.scratch),
            _mount(self.blobs, self.blobs, ",readonly"),
            _mount(door, _SOCKET_MOUNT),
        ]
        return [
            *("docker", "run", "--rm", "--interactive", "--read-only"),
            *(f"--{name}={value}" for name, value in options.items()),
            *(f"--mount={mount}" for mount in mounts),
            *(f"--label={name}={value}" for name, value in self._labels(door).items()),
            f"--env=LABCREW_HOME={_CONTAINER_HOME}",
            *(self.image, "labcrew", "cells", "--lifeline", "--socket", str(_SOCKET_MOUNT / "socket")),
        ]

    def prepare(self, door: Path) -> None:
        """Make what is mounted, and let the container's user into its own."""
        self.blobs.mkdir(mode=0o711, parents=True, exist_ok=True)
        self.scratch.mkdir(mode=0o711, parents=True, exist_ok=True)
        door.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.give_ownership(door)

    def give_ownership(self, folder: Path) -> None:
        if os.getuid() == 0:
            os.chown(folder, self.user, self.group)

    def localize(self, request: CellRequest, folder: Path) -> CellRequest:
        """The request as the container can serve it: inputs from elsewhere are copied into `folder`."""
        self.give_ownership(request.output)
        folder.chmod(0o711)
        inputs = {
            name: path if path.is_relative_to(self.blobs) else _copy_readable(path, folder / str(number))
            for number, (name, path) in enumerate(request.inputs.items())
        }
        return replace(request, inputs=inputs)

    def remove_leftovers(self) -> None:
        """Remove containers of this scratch folder whose socket's folder is gone."""
        shown = f'--format={{{{.ID}}}} {{{{.Label "{_SOCKET_LABEL}"}}}}'
        told = _docker("ps", "--all", f"--filter=label={_SCRATCH_LABEL}={self.scratch}", shown)
        for line in told.stdout.splitlines():
            container, _, door = line.partition(" ")
            if not Path(door).exists():
                _docker("rm", "--force", container)

    def remove_containers_at(self, door: Path) -> None:
        """Remove what still stands behind a door that is about to be used again."""
        told = _docker("ps", "--all", "--quiet", f"--filter=label={_SOCKET_LABEL}={door}")
        for container in told.stdout.split():
            _docker("rm", "--force", container)

    def _labels(self, door: Path) -> dict[str, str]:
        return {_SCRATCH_LABEL: str(self.scratch), _SOCKET_LABEL: str(door)}


async def start_own_container(
    container: Container, door: Path
) -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
    """Start a container for this client alone, and connect. Raises Unavailable with what the engine says."""
    container.prepare(door)
    await asyncio.to_thread(container.remove_containers_at, door)
    (door / "socket").unlink(missing_ok=True)
    with (door / "said").open("wb") as said:
        try:
            process = subprocess.Popen(  # noqa: S603, ASYNC220 (a command of ours; a millisecond)
                container.command(door), stdin=subprocess.PIPE, stdout=said, stderr=said, start_new_session=True
            )
        except FileNotFoundError:
            raise Unavailable("cells_unavailable", NO_DOCKER) from None
    try:
        while process.poll() is None:
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                return connect(door / "socket"), process
            await asyncio.sleep(RETRY_S)
        raise Unavailable("cells_unavailable", _refusal(container.image, (door / "said").read_text()))
    except BaseException:
        await asyncio.to_thread(reap, process)
        raise


def become_container(container: Container, door: Path) -> NoReturn:
    """Turn this process into the docker command that runs the host's zygote; it ends with its parent."""
    die_with_parent(os.getppid())
    container.prepare(door)
    container.remove_containers_at(door)
    command = container.command(door)
    lifeline, held = os.pipe()
    os.dup2(lifeline, 0)
    os.set_inheritable(held, True)  # held open by the command itself, for as long as it lives
    try:
        os.execvp(command[0], command)  # noqa: S606 (fixed arguments)
    except FileNotFoundError:
        raise Unavailable("cells_unavailable", NO_DOCKER) from None


NO_DOCKER = (
    "SANDBOX_PROVIDER=docker needs the `docker` command: install Docker, or set SANDBOX_PROVIDER=process."
)


def engine_refusal(image: str) -> str | None:
    """Why no container can be started here and what to do; None if an engine answers and has the image."""
    if shutil.which("docker") is None:
        return NO_DOCKER
    version = _docker("version", "--format={{.Server.Version}}")
    if version.returncode:
        return f"The engine does not answer: {_last_line(version.stderr)}."
    if _docker("image", "inspect", image).returncode:
        return f"The engine has no image {image}. Build it: docker build -t {image} ."
    return None


def _refusal(image: str, said: str) -> str:
    return (
        f"The container of cells did not start: {_last_line(said)}. "
        f"Is the image of this version there? docker build -t {image} ."
    )


def _last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip() and "--help" not in line]
    return lines[-1].removesuffix(".") if lines else "it said nothing"


def _docker(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """What docker answers; a failure when it cannot be asked."""
    command = ["docker", *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def _mount(source: Path, target: Path, more: str = "") -> str:
    for path in (source, target):
        if "," in str(path) or '"' in str(path):
            raise Unavailable(
                "cells_unavailable", f"Docker cannot mount {path}: a comma or quote is in its path."
            )
    return f"type=bind,source={source},target={target}{more}"


def _copy_readable(source: Path, target: Path) -> Path:
    shutil.copyfile(source, target)
    target.chmod(0o444)
    return target


def _memory_of_host() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
