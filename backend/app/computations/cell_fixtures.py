"""Small computations by which tests check the guarantees of cells; the service itself asks for none of them.

They are part of the package because a cell imports from nowhere else: its zygote is started without the path of
the tests, a request names a function of `app.computations`, and a cell sees only this package and installed
ones. No request of a user can name a function.
"""

import ctypes
import os
import time

from app.computations.cell_files.workspace import CellWorkspace
from app.errors import NotFound
from app.json_types import JsonValue


def echo(workspace: CellWorkspace, value: JsonValue) -> JsonValue:
    """Print `value` and return it."""
    print(f"echo {value}")  # noqa: T201 (a cell's standard output is part of its answer)
    return value


def sizes(workspace: CellWorkspace) -> dict[str, JsonValue]:
    """Return the sizes of the inputs by name, in bytes."""
    return {name: path.stat().st_size for name, path in workspace.inputs.items()}


def leave(workspace: CellWorkspace, names: list[str], size_bytes: int = 1) -> None:
    """Write files of these names to the output folder."""
    for name in names:
        path = workspace.output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"0" * size_bytes)


def steps(workspace: CellWorkspace, count: int) -> int:
    """Report `count` steps of progress."""
    for step in range(count):
        workspace.report((step + 1) / count, f"step {step + 1}")
    return count


def spin(workspace: CellWorkspace) -> None:
    """Compute forever."""
    print("spinning")  # noqa: T201 (as above)
    while True:
        pass


def rest(workspace: CellWorkspace, seconds: float) -> float:
    """Sleep: work that needs no processor."""
    time.sleep(seconds)
    return seconds


def allocate(workspace: CellWorkspace, size_bytes: int) -> int:
    """Allocate this much memory."""
    return len(bytearray(size_bytes))


def remember(
    workspace: CellWorkspace, value: JsonValue, seconds: float = 0.0, survive: bool = True
) -> JsonValue:
    """Return the values of all requests that this cell has served, after `seconds`, or end without an
    answer."""
    _REMEMBERED.append(value)
    time.sleep(seconds)
    if not survive:
        os._exit(3)
    return [*_REMEMBERED]


_REMEMBERED: list[JsonValue] = []


def refuse(workspace: CellWorkspace) -> None:
    raise NotFound("no_such_thing", "There is no such thing here.", nearest=["thing"])


def fail(workspace: CellWorkspace) -> None:
    raise ValueError("this went wrong")


def crash(workspace: CellWorkspace) -> None:
    """Read address 0: a segmentation fault."""
    ctypes.string_at(0)


def unrestricted(workspace: CellWorkspace, source: str) -> JsonValue:
    """Run Python without the language policy, to test what the sandbox alone stops. Never trusted."""
    variables: dict[str, object] = {"__name__": "__main__"}
    exec(compile(source, "<fixture>", "exec"), variables)  # noqa: S102 (its purpose)
    return str(variables.get("result"))


def who(workspace: CellWorkspace) -> dict[str, JsonValue]:
    """Return what the kernel gives this cell: environment, open descriptors and threads."""
    return {
        "environment": [*sorted(os.environ)],
        "descriptors": [number for number in range(100) if _is_open(number)],
        "threads_allowed": workspace.threads,
    }


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
