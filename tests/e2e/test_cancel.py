"""A session that is cancelled in the middle of whatever it does stops, all of it, though it would not end."""

import asyncio
import csv
import io
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from tests.patience import HANG_GUARD_S, hang_guard, until

from app.db.pool import Database, Record

SESSIONS = "/lab/agent/sessions"
ROWS = 20_000

RUNS = {
    "an SQL query": ("sql", "select count(*) as n from numbers a, numbers b, numbers c where a.x < b.y * c.x"),
    "a Python loop": ("python", "while True:\n    pass"),
    "a sleep": ("python", "import time\ntime.sleep(600)"),
}

_STANDING = "select status, lease_until, ended_at from sessions where id = $1"
_RUNNING_FITS = "select 1 from fits where session_id = $1 and (status = 'running' or lease_until is not null)"


def numbers() -> bytes:
    """A table on which a fit takes long, and a query over all its pairs does not end."""
    chance, text = random.Random(5), io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["x", "y", "z", "sum"])
    for _ in range(ROWS):
        drawn = [round(chance.gauss(0, 1), 4) for _ in range(3)]
        writer.writerow([*drawn, round(sum(drawn) + chance.gauss(0, 1), 4)])
    return text.getvalue().encode()


def cells(up: Any) -> set[int]:
    """Processes below the zygote, those in its namespaces too."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    found, zygote = set(), up.pid_of("cells")
    for pid in parents:
        above = pid
        while above in parents and above != zygote:
            above = parents[above]
        if above == zygote and pid != zygote:
            found.add(pid)
    return found


@pytest.fixture
def own_database_url(up) -> str:
    """The service's, which it leaves for other commands of its owner."""
    return str(up.addresses.database_url)


@pytest.fixture
async def rows(own_database_url: str) -> AsyncIterator[Database]:
    db = await Database.open(own_database_url, size=1, patience_s=HANG_GUARD_S)
    yield db
    await db.close()


@pytest.fixture
async def table(api: httpx.AsyncClient) -> str:
    upload = await api.post("/datasets", files={"file": ("numbers.csv", numbers())})
    return str(upload.raise_for_status().json()["id"])


async def computing(up: Any, idle: set[int]) -> None:
    """Wait until a cell works that was not there before."""
    async with hang_guard():
        while not cells(up) - idle:  # noqa: ASYNC110 - a process has no asyncio.Event
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.3)  # clock: it gets further into its work; wherever it is, the cancel counts


async def cancel(api: httpx.AsyncClient, session: str) -> None:
    """Return when the session is reported cancelled."""
    (await api.delete(f"{SESSIONS}/{session}")).raise_for_status()
    async with hang_guard():
        while (status := (await api.get(f"{SESSIONS}/{session}")).json()["status"]) != "cancelled":
            assert status == "cancelling"
            await asyncio.sleep(0.01)


async def assert_nothing_runs(rows: Database, session: str, up: Any, idle: int) -> None:
    standing: Record | None = await rows.row(_STANDING, UUID(session))
    assert standing
    assert standing["lease_until"] is None
    assert standing["ended_at"] is not None
    assert not await rows.rows(_RUNNING_FITS, UUID(session))
    await until(lambda: len(cells(up)) <= idle)  # a cell is forked in advance of the next computation


@pytest.mark.parametrize("what", RUNS)
async def test_a_run_that_does_not_end_is_cancelled(
    what: str, api: httpx.AsyncClient, up, rows: Database, table: str
) -> None:
    language, code = RUNS[what]
    idle = cells(up)
    wanted = {"language": language, "code": code, "dataset_ids": [table], "time_limit_s": 600}
    run = str((await api.post("/runs", json=wanted)).raise_for_status().json()["id"])
    await computing(up, idle)
    await cancel(api, run)
    await assert_nothing_runs(rows, run, up, len(idle))


async def test_a_fit_that_takes_long_is_cancelled(
    api: httpx.AsyncClient, up, rows: Database, table: str
) -> None:
    idle = cells(up)
    wish = {
        "goal": "Predict the sum.",
        "dataset_ids": [table],
        "preferences": {"time_budget_s": 600, "target": "sum", "clarify": "never"},
    }
    session = str((await api.post(SESSIONS, json=wish)).raise_for_status().json()["id"])
    async with hang_guard():
        while not await rows.rows(_RUNNING_FITS, UUID(session)):  # noqa: ASYNC110 - nor has a row
            await asyncio.sleep(0.02)
    await computing(up, idle)
    await cancel(api, session)
    await assert_nothing_runs(rows, session, up, len(idle))
