"""How a request travels from a worker to its cell: JSON in a memory file, never pickle."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from app.sandbox.contract import CellRequest, Code, Computation, Limits

# Descriptors of a cell: the three of every process, then its request to read and its report to write.
STDIN, STDOUT, STDERR, REQUEST, REPORT = range(5)

CONTROL_BYTES = 64 << 10
"""The longest control message; requests travel beside it, in a descriptor."""


def write_request(request: CellRequest) -> int:
    """A descriptor of a memory file that holds the request, at its beginning."""
    work = request.work
    kind = "code" if isinstance(work, Code) else "computation"
    body = {
        "work": {"kind": kind, **asdict(work)},
        "inputs": {name: str(path) for name, path in request.inputs.items()},
        "output": str(request.output),
        "limits": asdict(request.limits),
    }
    descriptor = os.memfd_create("request")
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(json.dumps(body).encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def read_request(descriptor: int) -> CellRequest:
    """The inverse of `write_request`; closes the descriptor."""
    with os.fdopen(descriptor, "rb") as file:
        body = json.load(file)
    work = body["work"]
    make = Code if work.pop("kind") == "code" else Computation
    return CellRequest(
        work=make(**work),
        inputs={name: Path(path) for name, path in body["inputs"].items()},
        output=Path(body["output"]),
        limits=Limits(**body["limits"]),
    )
