"""The list of workflows says what the newest run of each came to, and when the next one begins."""

from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import FastAPI

from app.sessions.queries import SessionReader
from app.workflows.triggers.sweep import TriggerSweep

from .conftest import User
from .test_sessions import sql

GENERATED = {"source": {"kind": "generate", "rows": 3, "columns": [{"name": "n", "type": "index"}]}}
MADE = {"id": "made", "type": "plan", "config": {"plan": GENERATED}}


def trigger(node_id: str, **config: Any) -> dict[str, Any]:
    return {"id": node_id, "type": "trigger", "config": config}


async def save(user: User, name: str, *triggers: dict[str, Any]) -> str:
    saved = await user.http.post("/workflows", json={"name": name, "nodes": [MADE, *triggers]})
    assert saved.status_code == 201, saved.text
    return str(saved.json()["id"])


async def run(user: User, workflow_id: str) -> str:
    started = await user.http.post(f"/workflows/{workflow_id}/run", json={"by_node": True})
    assert started.status_code == 201, started.text
    return str(started.json()["id"])


async def read_list(user: User) -> dict[str, dict[str, Any]]:
    return {flow["name"]: flow for flow in (await user.http.get("/workflows")).json()["items"]}


async def test_a_workflow_is_listed_with_its_newest_run(app: FastAPI, ada: User, eve: User) -> None:
    ids = [await save(ada, name) for name in ("often", "once", "never")]
    first, second, third = [await run(ada, workflow_id) for workflow_id in (ids[0], ids[1], ids[0])]
    await sql(
        app,
        "update sessions set status = 'completed', ended_at = now(), result = '{\"end\": \"failed\"}'"
        " where id = any($1::uuid[])",
        [first, second],
    )
    listed = await read_list(ada)
    shown = {
        name: flow["last_run"] and (flow["last_run"]["id"], flow["last_run"]["status"])
        for name, flow in listed.items()
    }
    assert shown == {"often": (third, "queued"), "once": (second, "failed"), "never": None}
    former = (await ada.http.get(f"/workflows/{ids[0]}/runs")).json()
    assert (former[0], len(former)) == (listed["often"]["last_run"], 2)
    assert await read_list(eve) == {}


async def test_a_workflow_is_listed_with_its_next_time(app: FastAPI, ada: User) -> None:
    yearly = trigger("yearly", kind="schedule", cron="0 8 1 1 *", time_zone="Europe/Berlin")
    hourly = trigger("hourly", kind="interval", every_s=3_600)
    both = await save(ada, "both", yearly, hourly)
    rare = await save(ada, "rare", yearly)
    await save(ada, "off", trigger("off", kind="interval", every_s=3_600, enabled=False))
    await save(ada, "called", trigger("calls", kind="webhook"))

    async def next_times() -> dict[str, datetime | None]:
        listed = await read_list(ada)
        return {
            name: flow["next_run_at"] and datetime.fromisoformat(flow["next_run_at"])
            for name, flow in listed.items()
        }

    async def first_times(workflow_id: str) -> list[datetime]:
        triggers = (await ada.http.get(f"/workflows/{workflow_id}/triggers")).json()
        return [datetime.fromisoformat(one["next_ticks"][0]) for one in triggers if one["next_ticks"]]

    # Before a sweep has read them, too.
    times = await next_times()
    assert times["rare"] == (await first_times(rare))[0]
    assert times["both"] is not None
    assert times["both"] - datetime.now(UTC) <= timedelta(hours=1)
    assert (times["off"], times["called"]) == (None, None)

    resources = app.state.resources
    await TriggerSweep(resources.database, resources.send, resources.settings.sessions).sweep()
    times = await next_times()
    assert times["both"] == min(await first_times(both))
    assert times["rare"] == (await first_times(rare))[0]
    assert (times["off"], times["called"]) == (None, None)


async def test_watchers_of_lists_learn_of_each_change_of_a_workflow(app: FastAPI, ada: User, eve: User) -> None:
    reader = SessionReader(app.state.resources.database, ada.id)
    positions = [await reader.lists_position()]
    workflow = await save(ada, "hourly", trigger("hourly", kind="interval", every_s=3_600))
    positions.append(await reader.lists_position())
    operation = {"op": "add", "path": "/nodes/@hourly/config/every_s", "value": 7_200}
    change = {"operations": [operation], "message": "Run it less often.", "version": 1}
    changed = await ada.http.post(f"/workflows/{workflow}/patch", json=change)
    assert changed.status_code == 200, changed.text
    positions.append(await reader.lists_position())
    started = await run(ada, workflow)
    positions.append(await reader.lists_position())
    await ada.http.post(f"/workflow-runs/{started}/seen")
    positions.append(await reader.lists_position())
    await sql(app, "update workflow_triggers set next_at = next_at + interval '1 hour'")
    positions.append(await reader.lists_position())
    await ada.http.delete(f"/workflows/{workflow}")
    positions.append(await reader.lists_position())
    assert len(set(positions)) == len(positions)
    # What others do is no news.
    await save(eve, "other")
    assert await reader.lists_position() == positions[-1]
