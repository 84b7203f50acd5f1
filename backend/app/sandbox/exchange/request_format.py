"""Requests on their way from a worker to a cell: lines of JSON in a memory file or a pipe, never pickle."""

import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from app.sandbox.exchange.contract import CellRequest, Code, Computation, Limits
from app.sandbox.exchange.program_variables import ProgramVariables

# Descriptors of a cell: the three of every process, then its request to read and its report to write.
STDIN, STDOUT, STDERR, REQUEST, REPORT = range(5)

# Its own filesystem, until it is isolated; the socket on which its zygote sends it these descriptors.
_FOLDER, CELL_SOCKET = 5, 6

_PARKED_DESCRIPTOR = 1_000
"""Number that no descriptor of a zygote has: it is taken while the lower ones are replaced."""
_MAX_DESCRIPTOR = 4_096
"""Above any descriptor of a zygote, which holds about three for each cell that runs."""

MAX_CONTROL_BYTES = 64 << 10
"""Longest control message. Inputs and parameters are not in it: a request travels in a descriptor."""

MAX_PROGRESS_CHARACTERS = 500
"""Characters of a progress message, which is one line on a screen."""


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
    """Write the request to a memory file. Returns its descriptor, at the beginning of the file."""
    # Not a pipe: a request may be longer than a pipe holds, and nobody reads it yet.
    descriptor = os.memfd_create("request")
    # A copy, since closing the file closes its descriptor.
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(encode_request(request))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def read_requests(descriptor: int) -> Iterator[CellRequest]:
    """Yield the requests, one a line, as they come, until the descriptor's end."""
    with os.fdopen(descriptor, "rb") as file:
        yield from map(_read_request, file)


def _read_request(line: bytes) -> CellRequest:
    body = json.loads(line)
    work = body["work"]
    is_code = work.pop("kind") == "code"
    return CellRequest(
        work=_read_code(**work) if is_code else Computation(**work),
        inputs={name: Path(path) for name, path in body["inputs"].items()},
        output=Path(body["output"]),
        limits=Limits(**body["limits"]),
    )


def _read_code(source: str, variables: Mapping[str, Any] | None, exports: bool) -> Code:
    return Code(source, ProgramVariables(**variables) if variables is not None else None, exports)


def clear_descriptors(cell_socket: socket.socket) -> socket.socket:
    """Close the zygote's descriptors in a new cell but `cell_socket`; the null device takes numbers 0 to 5."""
    null = os.open(os.devnull, os.O_RDWR)
    saved = os.dup2(cell_socket.detach(), _PARKED_DESCRIPTOR)
    for number in range(CELL_SOCKET):
        os.dup2(null, number)
    os.dup2(saved, CELL_SOCKET)
    os.closerange(CELL_SOCKET + 1, _MAX_DESCRIPTOR)
    return socket.socket(fileno=CELL_SOCKET)


def await_request(cell_socket: socket.socket) -> int | None:
    """Wait for a request and move its descriptors to their numbers. Returns its filesystem, if it has one.

    Ends this process when no request will come.
    """
    message, descriptors, _, _ = socket.recv_fds(cell_socket, 1, REPORT + 1)
    if not message:
        os._exit(0)
    for number, descriptor in enumerate(descriptors, STDOUT):
        os.dup2(descriptor, number, inheritable=False)
        os.close(descriptor)
    if len(descriptors) > REPORT:
        return _FOLDER
    os.close(_FOLDER)
    return None


def finish() -> NoReturn:
    """Announce the answer to the zygote, which stops this process for good; exit if it does not."""
    os.write(CELL_SOCKET, b".")
    # Blocks until the zygote has stopped this process.
    os.read(CELL_SOCKET, 1)
    os._exit(0)
