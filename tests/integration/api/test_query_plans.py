"""Query plans over the real API: schema, compilation, refusals and runs in real cells."""

from typing import Any
from uuid import UUID

import pytest

from app.worker.event_loop import WorkerServices

from .conftest import User

TABLE = b"city,people\nBern,134000\nThun,43500\nBiel,55600\n"


@pytest.fixture
async def dataset(ada: User) -> str:
    answer = await ada.http.post("/datasets", files={"file": ("cities.csv", TABLE)})
    return str(answer.json()["id"])


def make_plan(column: str = "people") -> dict[str, Any]:
    above = {
        "kind": "compare",
        "op": ">",
        "left": {"kind": "column", "name": column},
        "right": {"kind": "literal", "value": 50_000},
    }
    steps = [{"kind": "filter", "condition": above}, {"kind": "top_k", "k": 1, "by": "people"}]
    return {"source": {"kind": "dataset", "table": "cities"}, "steps": steps}


async def test_a_plan_is_compiled_or_refused_with_its_place(ada: User, dataset: str) -> None:
    body = {"plan": make_plan(), "dataset_ids": [dataset]}
    answer = await ada.http.post("/query-plans/compile", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["sql"].endswith('ORDER BY t0."people" DESC, t0."city" ASC LIMIT 1')
    people = answer.json()["columns"][1]
    assert (people["name"], people["type"]) == ("people", "integer")
    refused = await ada.http.post("/query-plans/compile", json=body | {"plan": make_plan("peple")})
    assert refused.status_code == 422
    assert refused.json()["place"] == "steps[0].condition.left", refused.text
    assert "people" in refused.json()["detail"]
    assert (await ada.http.get("/query-plans/schema")).json()["$defs"]["Plan"]["properties"]


async def test_a_plan_runs_and_counts_its_rows(ada: User, services: WorkerServices, dataset: str) -> None:
    body = {"language": "plan", "plan": make_plan(), "dataset_ids": [dataset]}
    created = await ada.http.post("/runs", json=body)
    assert created.status_code == 201, created.text
    await services.runner.advance(UUID(created.json()["id"]))
    run = (await ada.http.get(f"/runs/{created.json()['id']}")).json()
    assert run["status"] == "succeeded", run
    outcome = run["outcome"]
    assert (outcome["rows"], outcome["rows_used"], outcome["rows_there"]) == ([["Bern", 134_000]], 2, 3)
    refused = await ada.http.post("/runs", json={"language": "plan", "code": "SELECT 1"})
    assert refused.status_code == 422
