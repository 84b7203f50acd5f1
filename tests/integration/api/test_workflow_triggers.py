"""Ticks in Postgres: many sweeps at once begin each run once."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import FastAPI

from app.workflows.triggers.limits import MAX_LIVE_RUNS
from app.workflows.triggers.sweep import TriggerSweep

from .conftest import User

GENERATED = {"source": {"kind": "generate", "rows": 3, "columns": [{"name": "n", "type": "index"}]}}


def nodes(missed: str, **config: Any) -> list[dict[str, Any]]:
    trigger = {"kind": "interval", "every_s": 3_600, "missed": missed, **config}
    return [
        {"id": "made", "type": "plan", "config": {"plan": GENERATED}},
        {"id": "hourly", "type": "trigger", "config": trigger},
    ]


async def test_many_sweepers_begin_each_run_once(app: FastAPI, ada: User) -> None:
    resources = app.state.resources
    database = resources.database
    sweeps = [TriggerSweep(database, resources.send, resources.settings.sessions) for _ in range(4)]

    async def sweep_at_once() -> int:
        return sum(await asyncio.gather(*(sweep.sweep() for sweep in sweeps)))

    ids = {}
    for missed in ("once", "all"):
        saved = await ada.http.post("/workflows", json={"name": missed, "nodes": nodes(missed)})
        assert saved.status_code == 201, saved.text
        ids[missed] = saved.json()["id"]
    assert await sweep_at_once() == 0
    times = await database.column("select next_at from workflow_triggers where is_armed")
    assert len(times) == 2
    assert all(time > datetime.now(UTC) + timedelta(minutes=50) for time in times)

    (trigger,) = (await ada.http.get(f"/workflows/{ids['once']}/triggers")).json()
    ticks = [datetime.fromisoformat(tick) for tick in trigger["next_ticks"]]
    assert (trigger["node"], trigger["text"], trigger["last_tick"]) == ("hourly", "every hour", None)
    assert ticks[0] in times
    assert [later - earlier for earlier, later in pairwise(ticks)] == [timedelta(hours=1)] * 4

    back = "update workflow_triggers set next_at = next_at - interval '5 hours 10 minutes'"
    await database.value(back)
    begun = [await sweep_at_once() for _ in range(6)]
    assert sum(begun) == 1 + 5, begun
    runs = await database.rows(
        "select preferences #>> '{workflow,id}' as workflow, preferences ->> 'tick' as tick, admitted_at "
        "from sessions where graph = 'workflow'"
    )
    assert len(runs) == 6
    assert all(run["admitted_at"] is not None for run in runs)
    assert len({(run["workflow"], run["tick"]) for run in runs}) == 6
    assert await sweep_at_once() == 0

    # A paused trigger has no tick, and one that changed begins anew.
    path = f"/workflows/{ids['once']}"
    paused = {"nodes": nodes("once", enabled=False)}
    assert (await ada.http.put(path, json=paused)).status_code == 200
    (trigger,) = (await ada.http.get(f"{path}/triggers")).json()
    assert (trigger["text"], trigger["next_ticks"]) == ("every hour, switched off", [])
    assert trigger["last_tick"] is not None
    state = await database.row("select * from workflow_triggers where workflow_id = $1", ids["once"])
    assert (state["next_at"], state["is_armed"]) == (None, False)
    assert (await ada.http.put(path, json={"nodes": nodes("once")[:1]})).status_code == 200
    assert await database.value("select count(*) from workflow_triggers") == 1

    # Runs that do not end do not pile up.
    for _ in range(MAX_LIVE_RUNS):
        await database.value("update workflow_triggers set next_at = next_at - interval '1 hour 1 minute'")
        await sweep_at_once()
    live = "select count(*) from sessions where preferences #>> '{workflow,id}' = $1"
    assert await database.value(live, ids["all"]) == MAX_LIVE_RUNS
    skipped = await database.value("select count(*) from audit where action = 'workflow_tick_skipped'")
    assert skipped == 5


async def test_a_schedule_is_described_with_its_next_times_before_it_is_saved(ada: User) -> None:
    schedule = {"kind": "schedule", "cron": "30 7 * * 1-5", "time_zone": "Europe/Berlin"}
    nodes = [
        {"id": "mornings", "type": "trigger", "config": schedule},
        {"id": "wrong", "type": "trigger", "config": {"kind": "schedule", "cron": "61 * * * *"}},
    ]
    checked = (await ada.http.post("/workflows/validate", json={"nodes": nodes})).json()
    assert [fault["pointer"] for fault in checked["faults"]] == ["/nodes/1/config"]
    (trigger,) = checked["triggers"]
    assert (trigger["node"], trigger["text"]) == ("mornings", "every weekday at 7:30, Europe/Berlin")
    times = [
        datetime.fromisoformat(tick).astimezone(ZoneInfo("Europe/Berlin")) for tick in trigger["next_ticks"]
    ]
    assert [f"{time:%H:%M}" for time in times] == ["07:30"] * 5
    assert times == sorted(set(times))
    assert all(time.weekday() < 5 for time in times)
