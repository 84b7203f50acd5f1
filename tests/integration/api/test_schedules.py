"""Two weeks of schedules, with changes of the clock on both hemispheres, in a database whose time is set.

Sweepers are killed at any moment, and at times there is none: each tick runs once, or as the rule for missed
ones says. `LABCREW_SCHEDULED_WORKFLOWS=1000` has as many of them.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from app.db.pool import Database
from app.workflows.node_configs import Trigger
from app.workflows.triggers.ticks import choose_tick, first_tick, list_ticks

from .conftest import User

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
START = datetime(2026, 3, 25, tzinfo=UTC)
END = START + timedelta(days=14)
"""Summer time begins in Berlin on March 29; on April 5 it ends in Santiago and (half an hour) Lord Howe."""
ZONES = ("Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "Asia/Kolkata")
CRONS = ("0 8 * * 1-5", "30 2 * * *", "0 */6 * * *", "15 0 * * 0", "0 0 1 * *", "*/30 9-10 * * *")
WORKFLOWS = int(os.environ.get("LABCREW_SCHEDULED_WORKFLOWS") or 40)
SWEEPERS = 3
KILL_SHARE = 0.2
"""Share of the moments at which one of the sweepers is killed."""
PAUSES = 3
PAUSED_MOMENTS = 25
"""Moments of ticks that pass while nobody sweeps: about a day."""
GENERATED = {"source": {"kind": "generate", "rows": 1, "columns": [{"name": "n", "type": "index"}]}}

SIMULATED_TIME = (
    "create schema simulated",
    f"create table simulated.clock as select timestamptz '{START.isoformat()}' as now",
    "create function simulated.now() returns timestamptz stable language sql as "
    "'select now from simulated.clock'",
    # Runs end as they begin: nobody works on them, and a workflow has a limit of live ones.
    "create function simulated.end_run() returns trigger language plpgsql as "
    "'begin new.status = ''completed''; new.ended_at = new.queued_at; return new; end'",
    "create trigger ends before insert on public.sessions for each row when (new.graph = 'workflow') "
    "execute function simulated.end_run()",
    "do 'begin execute format(''alter database %I set search_path = simulated, pg_catalog, public'', "
    "current_database()); end'",
)


@dataclass
class Sweepers:
    """Processes that sweep. `pids`: of those that live."""

    nursery: "subprocess.Popen[str]"
    pids: list[int] = field(default_factory=list)

    def begin(self) -> None:
        assert self.nursery.stdin
        assert self.nursery.stdout
        self.nursery.stdin.write("\n")
        self.nursery.stdin.flush()
        self.pids.append(int(self.nursery.stdout.readline()))

    def kill(self, place: int) -> None:
        os.kill(self.pids.pop(place), signal.SIGKILL)


@pytest.fixture
def sweepers(database_url: str) -> Iterator[Callable[[], Sweepers]]:
    """Start sweepers in a database; afterwards they end."""
    command = [sys.executable, "-m", "tests.integration.api.sweepers", database_url]
    started: list[subprocess.Popen[str]] = []

    def start() -> Sweepers:
        process = subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(process)
        return Sweepers(process)

    yield start
    for process in started:
        process.kill()
        process.communicate()


def draw_triggers(chance: random.Random) -> list[Trigger]:
    return [
        Trigger(
            kind="schedule",
            cron=chance.choice(CRONS),
            time_zone=chance.choice(ZONES),
            missed=chance.choice(["skip", "once", "all"]),
        )
        for _ in range(WORKFLOWS)
    ]


def list_moments(triggers: list[Trigger]) -> list[datetime]:
    """List when any of the triggers has a tick, in order."""
    moments: set[datetime] = set()
    for trigger in triggers:
        for tick in list_ticks(trigger, START):
            if tick > END:
                break
            moments.add(tick)
    return sorted(moments)


def expect_ticks(trigger: Trigger, swept: list[datetime]) -> Counter[datetime]:
    """Return the ticks that run where somebody sweeps at these times only."""
    ticks, next_at = Counter[datetime](), first_tick(trigger, START)
    for now in swept:
        while next_at is not None and next_at <= now:
            tick, next_at = choose_tick(trigger, next_at, now)
            ticks += Counter([tick] if tick else [])
    return ticks


async def save_workflows(ada: User, triggers: list[Trigger]) -> list[str]:
    ids = []
    for number, trigger in enumerate(triggers):
        nodes: list[dict[str, Any]] = [
            {"id": "made", "type": "plan", "config": {"plan": GENERATED}},
            {"id": "when", "type": "trigger", "config": trigger.model_dump(exclude_none=True)},
        ]
        saved = await ada.http.post("/workflows", json={"name": f"Schedule {number}", "nodes": nodes})
        assert saved.status_code == 201, saved.text
        ids.append(saved.json()["id"])
    return ids


async def set_time(database: Database, now: datetime) -> None:
    await database.rows("update simulated.clock set now = $1", now)


async def until_nothing_is_due(database: Database) -> None:
    due = "select count(*) from workflow_triggers where next_at <= (select now from simulated.clock)"
    async with hang_guard():
        while await database.value(due):  # noqa: ASYNC110 - another process sets no asyncio.Event
            await asyncio.sleep(0.005)


def choose_pauses(chance: random.Random, count: int) -> set[int]:
    """Choose moments at which nobody sweeps: some long pauses, one in each part of the time."""
    part = count // PAUSES
    starts = [part * n + chance.randrange(part - PAUSED_MOMENTS) for n in range(PAUSES)]
    return {start + n for start in starts for n in range(PAUSED_MOMENTS)}


def test_clocks_change_both_ways_within_the_two_weeks() -> None:
    moves = {
        zone: START.astimezone(ZoneInfo(zone)).utcoffset() != END.astimezone(ZoneInfo(zone)).utcoffset()
        for zone in ZONES
    }
    assert moves == {zone: zone != "Asia/Kolkata" for zone in ZONES}


async def test_every_tick_of_two_weeks_runs_once_or_by_its_rule_whatever_dies(
    app: FastAPI, ada: User, sweepers: Callable[[], Sweepers]
) -> None:
    chance = random.Random(11)
    triggers = draw_triggers(chance)
    ids = await save_workflows(ada, triggers)
    database = app.state.resources.database
    for statement in SIMULATED_TIME:
        await database.rows(statement)
    await database.rows("update workflow_triggers set next_at = $1", START)

    crew = sweepers()
    swept: list[datetime] = []
    moments = list_moments(triggers)
    pauses = choose_pauses(chance, len(moments))
    for number, moment in enumerate([START, *moments]):
        if number in pauses:
            while crew.pids:
                crew.kill(0)
            continue
        while len(crew.pids) < SWEEPERS:
            crew.begin()
        await set_time(database, moment)
        swept.append(moment)
        if chance.random() < KILL_SHARE:
            crew.kill(chance.randrange(SWEEPERS))
        await until_nothing_is_due(database)

    runs = await database.rows(
        "select preferences #>> '{workflow,id}' as workflow, (preferences ->> 'tick')::timestamptz as tick "
        "from sessions where graph = 'workflow'"
    )
    ticks = {name: Counter[datetime]() for name in ids}
    for run in runs:
        ticks[run["workflow"]][run["tick"]] += 1
    for name, trigger in zip(ids, triggers, strict=True):
        assert ticks[name] == expect_ticks(trigger, swept), trigger
    assert sum(len(expect_ticks(trigger, [START, *moments])) for trigger in triggers) > len(runs) > len(moments)
    assert await database.value("select count(*) from audit where action = 'workflow_tick_skipped'") == 0
