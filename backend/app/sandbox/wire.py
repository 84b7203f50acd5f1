"""How requests travel from a worker to a cell: lines of JSON in a memory file or a pipe, never pickle."""

import json
import os
import socket
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from app.sandbox.contract import CellRequest, Code, Computation, Limits

# Descriptors of a cell: the three of every process, then its request to read and its report to write.
STDIN, STDOUT, STDERR, REQUEST, REPORT = range(5)

# Its own filesystem, until the walls are up; the socket that its zygote hands all this over on.
_FOLDER, CELL_SOCKET = 5, 6

MAX_CONTROL_BYTES = 64 << 10
"""The longest control message; requests travel beside it, in a descriptor."""


def encode_request(request: CellRequest) -> bytes:
    work = request.work
    kind = "code" if isinstance(work, Code) else "computation"
    body = {
        "work": {"kind": kind, **asdict(work)},
        "inputs": {name: str(path) for name, path in request.inputs.items()},
        "output": str(request.output),
        "limits": asdict(request.limits),
    }
    return json.dumps(body).encode() + b"\n"


def write_request(request: CellRequest) -> int:
    """A descriptor of a memory file that holds the request, at its beginning."""
    descriptor = os.memfd_create("request")
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(encode_request(request))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def read_requests(descriptor: int) -> Iterator[CellRequest]:
    """One a line, as they come, until the descriptor's end."""
    with os.fdopen(descriptor, "rb") as file:
        yield from map(_read_request, file)


def _read_request(line: bytes) -> CellRequest:
    body = json.loads(line)
    work = body["work"]
    make = Code if work.pop("kind") == "code" else Computation
    return CellRequest(
        work=make(**work),
        inputs={name: Path(path) for name, path in body["inputs"].items()},
        output=Path(body["output"]),
        limits=Limits(**body["limits"]),
    )


def clear_descriptors(cue: socket.socket) -> socket.socket:
    """In a new cell: keep nothing of the zygote's but `cue`, and leave the places of a request free."""
    null = os.open(os.devnull, os.O_RDWR)
    place = os.dup2(cue.detach(), 1_000)
    for number in range(CELL_SOCKET):
        os.dup2(null, number)
    os.dup2(place, CELL_SOCKET)
    os.closerange(CELL_SOCKET + 1, 4_096)
    return socket.socket(fileno=CELL_SOCKET)


def await_request(cue: socket.socket) -> int | None:
    """Wait for a request and put its descriptors into their places; its filesystem, if it has one.

    Ends this process when no request will come.
    """
    message, descriptors, _, _ = socket.recv_fds(cue, 1, REPORT + 1)
    if not message:
        os._exit(0)
    for place, descriptor in enumerate(descriptors, STDOUT):
        os.dup2(descriptor, place, inheritable=False)
        os.close(descriptor)
    if len(descriptors) > REPORT:
        return _FOLDER
    os.close(_FOLDER)
    return None


def finish() -> NoReturn:
    """Tell the zygote, which stops this process for good; end here if it does not."""
    os.write(CELL_SOCKET, b".")
    os.read(CELL_SOCKET, 1)
    os._exit(0)
