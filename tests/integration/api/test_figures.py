"""Figures of the whole service: read from its rows and its queues, by who may."""

import re
from dataclasses import replace

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from app.api.status.service_metrics import ServiceMetrics
from app.db.pool import Database

from .conftest import User


async def a_worker(app: FastAPI, queues: list[str], seen_s_ago: int = 0) -> None:
    await app.state.resources.database.row(
        "insert into workers (id, graphs, queues, seen_at) "
        "values (gen_random_uuid(), '{}', $1, now() - $2 * interval '1 second')",
        queues,
        seen_s_ago,
    )


async def test_the_figures_are_of_the_rows_and_the_queues(
    app: FastAPI, ada: User, anonymous: httpx.AsyncClient
) -> None:
    run = {"language": "python", "code": "result = 1"}
    (await ada.http.post("/runs", json=run)).raise_for_status()
    await a_worker(app, ["steps"])
    await a_worker(app, ["steps", "compute"], seen_s_ago=120)
    text = (await anonymous.get("/metrics")).text
    for line in (
        'labcrew_sessions{status="queued"} 1.0',
        'labcrew_sessions{status="awaiting_user"} 0.0',
        'labcrew_queue_due{queue="steps"} 1.0',
        'labcrew_queue_due{queue="compute"} 0.0',
        'labcrew_queue_messages{queue="steps"} 1.0',
        'labcrew_workers{queue="compute"} 0.0',
        'labcrew_part_ready{part="postgres"} 1.0',
        'labcrew_part_ready{part="workers"} 0.0',
        "labcrew_admission_queue_sessions 0.0",
        'labcrew_db_pool_connections{pool="statements",state="used"} 0.0',
    ):
        assert line in text
    age = re.search(r'labcrew_queue_age_seconds\{queue="steps"\} (\S+)', text)
    assert age
    assert 0 < float(age[1]) < 60
    assert re.search(r'labcrew_disk_free_bytes\{folder="home"\} \d', text)
    said = (await anonymous.get("/readyz")).json()["degraded"]["workers"]
    assert "labcrew worker --queues compute" in said


class Away(Database):
    async def row(self, sql: str, *args: object) -> None:
        raise ConnectionRefusedError

    rows = row  # type: ignore[assignment]  # neither returns


async def test_without_postgres_they_say_so_and_leave_out_what_nobody_knows(app: FastAPI) -> None:
    resources = app.state.resources
    told = await ServiceMetrics(replace(resources, database=Away(resources.database.pool, 0.0, ""))).metrics()
    assert "labcrew_sessions" not in {metric.name for metric in told}
    parts = next(metric for metric in told if metric.name == "labcrew_part_ready")
    values = {sample.labels["part"]: sample.value for sample in parts.samples}
    assert (values["postgres"], values["redis"]) == (0.0, 1.0)
    assert not {"schema", "workers"} & set(values)


async def test_they_are_read_again_only_after_a_while(app: FastAPI) -> None:
    now = [100.0]
    facts = ServiceMetrics(app.state.resources, monotonic=lambda: now[0])

    async def workers() -> float:
        found = next(metric for metric in await facts.metrics() if metric.name == "labcrew_workers")
        return next(sample.value for sample in found.samples if sample.labels == {"queue": "steps"})

    assert await workers() == 0
    await a_worker(app, ["steps"])
    assert await workers() == 0
    now[0] += 6
    assert await workers() == 1


@pytest.mark.parametrize(
    ("environment", "token", "sent", "status"),
    [
        ("production", None, None, 401),
        ("development", "figures", None, 401),
        ("production", "figures", "wrong", 401),
        ("production", "figures", "figures", 200),
    ],
)
async def test_who_may_read_them(
    environment: str,
    token: str | None,
    sent: str | None,
    status: int,
    app: FastAPI,
    anonymous: httpx.AsyncClient,
) -> None:
    settings = app.state.resources.settings
    changed = {"labcrew_env": environment, "metrics_token": SecretStr(token) if token else None}
    app.state.resources = replace(app.state.resources, settings=settings.model_copy(update=changed))
    answer = await anonymous.get("/metrics", headers={"Authorization": f"Bearer {sent}"} if sent else {})
    assert answer.status_code == status
    assert status == 200 or answer.json()["code"] == "metrics_closed"
