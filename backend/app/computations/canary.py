"""Small computations that show whether cells keep their promises; tests and `labcrew doctor` run them."""

import ctypes
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

from app.computations.bench import Bench
from app.errors import NotFound
from app.json_types import JsonValue


def echo(bench: Bench, value: JsonValue) -> JsonValue:
    """`value`, after saying so on both outputs."""
    print(f"echo {value}")  # noqa: T201 (a cell's standard output is part of its answer)
    return value


def sizes(bench: Bench) -> dict[str, JsonValue]:
    """Sizes of the inputs by name, in bytes."""
    return {name: path.stat().st_size for name, path in bench.inputs.items()}


def leave(bench: Bench, names: list[str], size_bytes: int = 1) -> None:
    """Files of those names in the output folder."""
    for name in names:
        path = bench.output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"0" * size_bytes)


def steps(bench: Bench, count: int) -> int:
    """Report `count` steps of progress."""
    for step in range(count):
        bench.report((step + 1) / count, f"step {step + 1}")
    return count


def spin(bench: Bench) -> None:
    """Compute for ever."""
    print("spinning")  # noqa: T201 (as above)
    while True:
        pass


def rest(bench: Bench, seconds: float) -> float:
    """Sleep: work that takes no processor."""
    time.sleep(seconds)
    return seconds


def allocate(bench: Bench, size_bytes: int) -> int:
    """Use that much memory."""
    return len(bytearray(size_bytes))


def remember(bench: Bench, value: JsonValue, seconds: float = 0.0, survive: bool = True) -> JsonValue:
    """The values of all requests that this cell has served; it takes its time, or ends without an answer."""
    _REMEMBERED.append(value)
    time.sleep(seconds)
    if not survive:
        os._exit(3)
    return [*_REMEMBERED]


_REMEMBERED: list[JsonValue] = []


def refuse(bench: Bench) -> None:
    raise NotFound("no_such_thing", "There is no such thing here.", nearest=["thing"])


def fail(bench: Bench) -> None:
    raise ValueError("this went wrong")


def crash(bench: Bench) -> None:
    """Read address 0: a segmentation fault."""
    ctypes.string_at(0)


def unrestricted(bench: Bench, source: str) -> JsonValue:
    """Run Python without the language policy: what it cannot do is what the walls alone stop. Never trusted."""
    variables: dict[str, object] = {"__name__": "__main__"}
    exec(compile(source, "<canary>", "exec"), variables)  # noqa: S102 (its purpose)
    return str(variables.get("result"))


def escape(bench: Bench, path: str) -> list[JsonValue]:
    """What this cell can do that untrusted work must not: names of attempts that succeeded."""
    attempts = {
        "read a file outside": lambda: Path(path).read_bytes(),
        "write a file outside": lambda: Path(path).open("ab").close(),
        "open a network socket": lambda: socket.socket(socket.AF_INET).close(),
        "open a local socket": lambda: socket.socket(socket.AF_UNIX).close(),
        "start a process": _start_a_process,
        "signal another process": lambda: os.kill(-1, 0),
    }
    return [name for name, attempt in attempts.items() if _succeeds(attempt)]


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _start_a_process() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def who(bench: Bench) -> dict[str, JsonValue]:
    """What this cell is to the kernel."""
    return {
        "environment": [*sorted(os.environ)],
        "descriptors": [number for number in range(100) if _is_open(number)],
        "threads_allowed": bench.threads,
    }


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
