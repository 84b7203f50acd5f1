"""No test depends on how fast the machine is: nothing short may run out, and no elapsed time is judged.

A statement whose subject is a clock says so: `# clock: why a slow machine does not change the outcome`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.patience import HANG_GUARD_S

TESTS = Path(__file__).parents[1]
MARK = "# clock: "
EXEMPT = {
    TESTS / "patience.py": "It owns the guard.",
    **dict.fromkeys(
        (path for path in (TESTS / "chaos").glob("*.py") if not path.name.startswith("test_")),
        "`make chaos` breaks things at drawn moments; only its unit tests belong to `make test`.",
    ),
}
READINGS = {"monotonic", "perf_counter", "process_time", "monotonic_ns", "perf_counter_ns", "time", "time_ns"}
BOUNDS = {"timeout", "timeout_s", "patience_s", "time_s"}
"""Keywords whose value is seconds after which something is given up; so is any `..._timeout`."""
FIRST_ARGUMENT = {"timeout", "join", "wait"}
"""Methods and functions that take such a bound as their first argument; `wait_for` as its second."""
CLIENTS = {"AsyncClient", "Client", "get", "post", "stream", "request"}
"""Of httpx, which gives up after five seconds where it is not told otherwise."""


def unmarked_faults(source: str) -> dict[int, str]:
    """Line number -> dependence on the clock, for statements without a mark in them or just above."""
    lines, tree = source.splitlines(), ast.parse(source)
    marked = {
        line
        for first, last in _statements(tree)
        if any(MARK in text for text in lines[max(first - 2, 0) : last])
        for line in range(first, last + 1)
    }
    return {line: why for line, why in _faults(tree) if line not in marked}


def _statements(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """First and last line of each statement; of one with a body, of its head."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body, decorators = getattr(node, "body", None), getattr(node, "decorator_list", [])
            first = min([node.lineno, *(each.lineno for each in decorators)])
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno
            yield first, last or first


def _faults(tree: ast.AST) -> Iterator[tuple[int, str]]:
    in_loops = {
        id(node)
        for loop in ast.walk(tree)
        if isinstance(loop, ast.While | ast.For | ast.AsyncFor)
        for part in loop.body
        for node in ast.walk(part)
    }
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        owner, name = _name(call.func)
        if owner == "time" and name in READINGS:
            yield call.lineno, f"time.{name}() is read: count what is done instead, or inject a clock"
        if (
            name == "sleep"
            and owner in ("time", "asyncio")
            and id(call) not in in_loops
            and _seconds(call.args)
        ):
            yield (
                call.lineno,
                "a sleep outside of a polling loop: wait for the fact itself (tests.patience.until)",
            )
        yield from _bounds(call, owner, name)


def _bounds(call: ast.Call, owner: str, name: str) -> Iterator[tuple[int, str]]:
    named = [(key.arg or "", key.value) for key in call.keywords]
    bounds = [value for key, value in named if key in BOUNDS or key.endswith("_timeout")]
    if name in FIRST_ARGUMENT:
        bounds += call.args[:1]
    if name == "wait_for":
        bounds += call.args[1:2]
    for value in bounds:
        if 0 < _seconds([value]) < HANG_GUARD_S:
            yield value.lineno, "a bound below HANG_GUARD_S, which a slow machine may reach"
    keys = {key for key, _ in named}
    if owner == "httpx" and name in CLIENTS and not keys & {"timeout", "transport"}:
        yield call.lineno, "httpx gives up after 5 s by default: timeout=HANG_GUARD_S"
    if name == "connect" and "additional_headers" in keys and "open_timeout" not in keys:
        yield call.lineno, "a WebSocket gives up opening after 10 s by default: open_timeout=HANG_GUARD_S"


def _name(node: ast.expr) -> tuple[str, str]:
    """`("time", "sleep")` of `time.sleep`."""
    if isinstance(node, ast.Attribute):
        return (node.value.id if isinstance(node.value, ast.Name) else "?"), node.attr
    return "", node.id if isinstance(node, ast.Name) else ""


def _seconds(values: list[ast.expr]) -> float:
    """A number that is written there; 0 for anything else."""
    match values:
        case [ast.Constant(value=int() | float() as number), *_]:
            return float(number)
    return 0.0


def test_no_test_depends_on_the_speed_of_the_machine() -> None:
    faults = {
        f"{path.relative_to(TESTS)}:{line}": why
        for path in sorted(TESTS.rglob("*.py"))
        if path not in EXEMPT
        for line, why in unmarked_faults(path.read_text()).items()
    }
    assert not faults, "\n".join(f"tests/{place}: {why}" for place, why in faults.items())


@pytest.mark.parametrize(
    "line",
    [
        "async with asyncio.timeout(3): pass",
        "await asyncio.wait_for(event.wait(), 1)",
        "process.wait(10)",
        "process.communicate(timeout=20)",
        "thread.join(5)",
        "began = time.monotonic()",
        "assert time.perf_counter() - began < 1",
        "httpx.get(url)",
        "httpx.AsyncClient(base_url=url)",
        "connect(url, additional_headers=headers)",
        "websockets.connect(url, additional_headers=headers, open_timeout=5)",
        "Limits(time_s=2)",
        "await asyncio.sleep(0.3)",
        "Database.open(url, patience_s=10)",
    ],
)
def test_a_bound_by_the_clock_is_seen_and_a_mark_with_its_reason_allows_it(line: str) -> None:
    source = f"async def test() -> None:\n    {line}"
    assert list(unmarked_faults(source)) == [2]
    assert not unmarked_faults(f"{source}  {MARK}its expiry is what is tested")


@pytest.mark.parametrize(
    "line",
    [
        "async with hang_guard(): pass",
        "httpx.AsyncClient(transport=transport)",
        "httpx.get(url, timeout=HANG_GUARD_S)",
        "while not done(): await asyncio.sleep(0.01)",
        "await asyncio.sleep(0)",
        "process.wait()",
        "Limits(time_s=HANG_GUARD_S)",
    ],
)
def test_what_only_a_hang_can_run_into_passes(line: str) -> None:
    assert not unmarked_faults(f"async def test() -> None:\n    {line}")
