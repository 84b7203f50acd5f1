"""Nodes that predict, draw, store and run for each value of a column, over the real API."""

import asyncio
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from app.sessions.admission import AdmissionQueue
from app.sessions.sweeper import sweep

from .conftest import User
from .test_models import model_id  # noqa: F401 - a fixture
from .test_workflow_runs import follow, run

pytestmark = pytest.mark.usefixtures("worker")
PEOPLE = "name,class,age,sex\nAllen,1st,29,female\nMoran,3rd,,male\nBraund,3rd,22,male\n"
SALES = "region,day,amount\n" + "".join(
    f"{region},2024-01-{day:02},{day * weight}\n"
    for region, weight in (("north", 1), ("south", 2), ("", 3))
    for day in (1, 2, 3)
)


async def upload(user: User, name: str, content: str) -> str:
    answer = await user.http.post("/datasets", files={"file": (f"{name}.csv", content)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def chain(*nodes: dict[str, Any]) -> dict[str, Any]:
    ids = [node["id"] for node in nodes]
    return {
        "name": "Nodes",
        "nodes": [*nodes],
        "edges": [{"from": a, "to": b} for a, b in pairwise(ids)],
    }


def read(dataset: str) -> dict[str, Any]:
    return {"id": "read", "type": "read_dataset", "config": {"dataset_id": dataset}}


async def save(user: User, content: dict[str, Any]) -> str:
    saved = await user.http.post("/workflows", json=content)
    assert saved.status_code == 201, saved.text
    return f"/workflows/{saved.json()['id']}"


async def test_a_table_is_predicted_drawn_and_stored(ada: User, model_id: UUID) -> None:  # noqa: F811
    dataset = await upload(ada, "people", PEOPLE)
    content = chain(
        read(dataset),
        {"id": "guess", "type": "predict", "config": {"model_id": str(model_id)}},
        {
            "id": "count",
            "type": "group_by",
            "config": {"keys": ["prediction"], "aggregations": [{"name": "people", "function": "count"}]},
        },
        {"id": "draw", "type": "chart", "config": {"kind": "bar", "title": "Guesses of {{guess.rows}}"}},
        {"id": "keep", "type": "store", "config": {"name": "guesses"}},
    )
    path = await save(ada, content)
    for number in (1, 2):
        ended = await run(ada, path)
        assert ended["outcome"] == "succeeded", ended
        guess = ended["nodes"]["guess"]
        assert [column["name"] for column in guess["columns"]][:5] == [
            "name",
            "class",
            "age",
            "sex",
            "prediction",
        ]
        assert [row[:2] for row in guess["preview"]] == [["Allen", "1st"], ["Moran", "3rd"], ["Braund", "3rd"]]
        chart = await ada.http.get(f"/charts/{ended['charts']['draw']}")
        assert chart.json()["title"] == "Guesses of 3"
        stored = (await ada.http.get(f"/datasets/{ended['nodes']['keep']['dataset_id']}")).json()
        assert (stored["name"], stored["rows"]) == ("guesses", ended["nodes"]["count"]["rows"])
        names = [one["name"] for one in (await ada.http.get("/datasets")).json()["items"]]
        assert names.count("guesses") == number


async def test_warnings_about_predictions_are_for_a_person_to_see(ada: User, model_id: UUID) -> None:  # noqa: F811
    guess = {"id": "guess", "type": "predict", "config": {"model_id": str(model_id)}}

    async def to_review() -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = (await ada.http.get("/workflow-runs?status=needs_review")).json()
        return listed

    usual = await run(ada, await save(ada, chain(read(await upload(ada, "people", PEOPLE)), guess)))
    assert (usual["nodes"]["guess"]["notes"], await to_review()) == ([], [])
    odd = await upload(ada, "odd", b"name,class,age,sex\nAllen,7th,940,female\nMoran,3rd,941,male\n")
    doubted = await run(ada, await save(ada, chain(read(odd), guess)))
    assert doubted["outcome"] == "succeeded", doubted
    assert doubted["nodes"]["guess"]["needs_review"] is True
    (listed,) = await to_review()
    assert (listed["id"], listed["status"]) == (doubted["id"], "succeeded")
    assert listed["reason"] == f"guess: {doubted['nodes']['guess']['notes'][-1]}"


async def test_each_item_has_its_chart_and_all_rows_come_together(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    inner = [
        {"id": "best", "type": "top_k", "config": {"k": 1, "by": "amount"}},
        {"id": "draw", "type": "chart", "config": {"kind": "bar", "title": "{{item.region}}: {{best.amount}}"}},
        {"id": "only", "type": "select", "config": {"columns": [{"name": "amount"}]}},
    ]
    each = {"id": "each", "type": "for_each", "config": {"column": "region", "nodes": inner}}
    content = chain(
        read(dataset), each, {"id": "all", "type": "sort", "config": {"keys": [{"column": "amount"}]}}
    )
    ended = await run(ada, await save(ada, content))
    assert ended["outcome"] == "succeeded", ended
    assert [(item["item"], item["rows"], item["status"]) for item in ended["nodes"]["each"]["items"]] == [
        ("north", 3, "done"),
        ("south", 3, "done"),
        (None, 3, "done"),
    ]
    assert ended["nodes"]["all"]["preview"] == [["north", 3], ["south", 6], [None, 9]]
    charts = [(await ada.http.get(f"/charts/{chart}")).json()["title"] for chart in ended["charts"].values()]
    assert sorted(charts) == [": 9", "north: 3", "south: 6"]

    each["config"]["max_items"] = 2
    few = await run(ada, await save(ada, content))
    assert (few["nodes"]["each"]["code"], few["nodes"]["all"]["status"]) == ("too_many_items", "skipped")
    each["config"] |= {"max_items": 3, "nodes": [{"id": "bad", "type": "python", "config": {"code": BAD}}]}
    bad = await run(ada, await save(ada, content))
    assert [item["status"] for item in bad["nodes"]["each"]["items"]] == ["done", "failed", "done"]
    assert bad["nodes"]["each"]["error"].startswith("1 of 3 items failed. south: bad:")


async def test_a_figure_is_compared_with_that_of_the_same_nodes(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    drop = {"id": "drop", "type": "condition", "config": {"op": "changes"}}
    content = chain(read(dataset), {"id": "some", "type": "limit", "config": {"rows": 3}}, drop)
    path = await save(ada, content)
    for rows, figure in ((3, 3), (2, 2), (2, 2), (3, 3)):
        change = [{"op": "replace", "path": "/nodes/@some/config/rows", "value": rows}]
        await ada.http.post(f"{path}/patch", json={"operations": change})
        node = (await run(ada, path))["nodes"]["drop"]
        # Another limit makes other rows: nothing has changed in the data.
        assert (node["figure"], node["passes"]) == (figure, False)


async def test_items_hold_each_row_once_though_numbers_are_none_and_texts_are_long(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    sql = (
        "SELECT * FROM (VALUES (1, 'nan'::DOUBLE, 'a'), (2, NULL, 'b'), (3, 'inf'::DOUBLE, repeat('c', 2000)), "
        "(4, 1.5::DOUBLE, 'd')) AS t(n, amount, label)"
    )
    keep = {"id": "keep", "type": "select", "config": {"columns": [{"name": "n"}]}}
    each = {"id": "each", "type": "for_each", "config": {"column": "amount", "nodes": [keep], "max_items": 2}}
    content = chain(read(dataset), {"id": "made", "type": "sql", "config": {"sql": sql}}, each)
    ended = await run(ada, await save(ada, content))
    assert ended["outcome"] == "succeeded", ended
    assert [(item["item"], item["rows"]) for item in ended["nodes"]["each"]["items"]] == [(1.5, 1), (None, 3)]
    assert sorted(row[1] for row in ended["nodes"]["each"]["preview"]) == [1, 2, 3, 4]
    each["config"] |= {"column": "label", "max_items": 4}
    long = await run(ada, await save(ada, content))
    assert long["nodes"]["each"]["code"] == "item_too_long", long


BAD = """
assert list(item.region) != ['south'] * 3
keep['bad'] = item
"""


async def test_a_run_waits_for_the_study_of_a_table_that_it_stored(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    goal = "mean amount by region"
    learn = {"id": "learn", "type": "study", "config": {"goal": goal, "time_budget_s": 5}}
    known = {"id": "known", "type": "filter", "config": {"condition": {"kind": "not", "operand": NO_REGION}}}
    keep = {"id": "keep", "type": "store", "config": {"name": "known sales"}}
    title = "{{learn.headline}} ({{learn.status}}{{learn.error}})"
    draw = {"id": "draw", "type": "chart", "config": {"kind": "bar", "title": title}}
    wrong = (await ada.http.post("/workflows", json=chain(read(dataset), known, learn))).json()
    assert [(fault["pointer"], fault["code"]) for fault in wrong["faults"]] == [
        ("/nodes/2", "study_needs_dataset")
    ]
    ended = await run(ada, await save(ada, chain(read(dataset), known, keep, learn, draw)))
    assert ended["outcome"] == "succeeded", ended["nodes"]
    node = ended["nodes"]["learn"]
    study = (await ada.http.get(f"/lab/agent/sessions/{node['study_id']}")).json()
    assert (study["goal"], study["dataset_ids"]) == (goal, [ended["nodes"]["keep"]["dataset_id"]])
    assert node["study"]["status"] == study["status"] == "completed"
    assert node["study"]["headline"] == study["result"]["headline"]
    chart = (await ada.http.get(f"/charts/{ended['charts']['draw']}")).json()
    assert chart["title"] == f"{node['study']['headline']} (done)"
    assert study["ended_at"] < ended["ended_at"]


@pytest.mark.parametrize("code", ["study_cancelled", "study_timed_out"])
async def test_a_run_that_waits_for_a_study_leaves_it_its_place_and_ends_without_it(
    app: FastAPI, ada: User, code: str
) -> None:
    dataset = await upload(ada, "sales", SALES)
    config = {"goal": "predict it", "ask": True}
    learn: dict[str, Any] = {"id": "learn", "type": "study", "config": config}
    begun = (await ada.http.post(f"{await save(ada, chain(read(dataset), learn))}/run", json={})).json()["id"]
    database = app.state.resources.database
    waits = (
        "select r.after_id from sessions r join sessions p on p.id = r.after_id and p.status = 'awaiting_user'"
        " where r.id = $1 and r.wait_until > now() + interval '23 hours' and r.lease_until is null"
        " and r.admitted_at is null"
    )
    async with hang_guard():
        while (study := await database.value(waits, UUID(begun))) is None:  # noqa: ASYNC110 - a row says it
            await asyncio.sleep(0.02)
        waiting = (await ada.http.get(f"/workflow-runs/{begun}")).json()
        assert (waiting["status"], waiting["waits_for"]) == ("waiting", str(study))
        listed = (await ada.http.get(f"/workflows/{waiting['workflow_id']}/runs")).json()
        assert [former["status"] for former in listed] == ["waiting"]
        if code == "study_cancelled":
            await ada.http.delete(f"/lab/agent/sessions/{study}")
        else:
            await database.rows("update sessions set wait_until = now() where id = $1", UUID(begun))
            assert await sweep(database, lambda job: None, 60) == 1
            await AdmissionQueue(database, lambda job: None, app.state.resources.settings.sessions).admit()
        view = await follow(ada, f"/workflow-runs/{begun}")
    assert (view["outcome"], view["nodes"]["learn"]["code"]) == ("failed", code)
    assert view["nodes"]["learn"]["study_id"] == str(study)


NO_REGION = {"kind": "is_null", "operand": {"kind": "column", "name": "region"}}


async def test_nodes_that_do_not_fit_are_named_with_their_place(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    inner = [
        {"id": "best", "type": "top_k", "config": {"k": 1, "by": "amuont"}},
        {"id": "ask", "type": "approve", "config": {}},
    ]
    each = {"id": "each", "type": "for_each", "config": {"column": "region", "nodes": inner}}
    trigger = {"id": "new", "type": "trigger", "config": {"kind": "dataset", "dataset_id": dataset}}

    async def faults(*nodes: dict[str, Any]) -> list[tuple[str, str]]:
        content = chain(read(dataset), *nodes)
        content["nodes"].append(trigger)
        del content["name"]
        checked = (await ada.http.post("/workflows/validate", json=content)).json()
        return [(fault["pointer"], fault["code"]) for fault in checked["faults"]]

    assert await faults(each) == [("/nodes/1/config/nodes/1/type", "wrong_inner_type")]
    inner.pop()
    assert await faults(each) == [("/nodes/1/config/nodes/0/config", "unknown_column")]
    each["config"]["column"] = "regoin"
    assert ("/nodes/1/config/column", "unknown_column") in await faults(each)
    keep = {"id": "keep", "type": "store", "config": {"name": "sales"}}
    assert await faults(keep) == [("/nodes/1/config/name", "endless_workflow")]
    draw = {"id": "draw", "type": "chart", "config": {"kind": "bar", "x": "colour"}}
    assert [pointer for pointer, _ in await faults(draw)] == ["/nodes/1/config"]
    guess: dict[str, Any] = {"id": "guess", "type": "predict", "config": {}}
    assert await faults(guess) == [("/nodes/1/config", "wrong_config")]
    guess["config"]["model_id"] = dataset
    assert await faults(guess) == [("/nodes/1/config/model_id", "model_not_found")]
