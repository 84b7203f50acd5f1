"""Branches of workflows over the real API: edges whose condition holds are gone along, others are not."""

from typing import Any

import pytest
from fastapi import FastAPI
from prometheus_client import REGISTRY

from .conftest import User
from .test_workflow_nodes import SALES, read, save, upload
from .test_workflow_runs import follow, run
from .test_workflow_waits import run_awake

pytestmark = pytest.mark.usefixtures("worker")


def branch(source: str, target: str, field: str, op: str, value: object) -> dict[str, Any]:
    return {"from": source, "to": target, "condition": {"field": field, "op": op, "value": value}}


def store(node: str, name: str) -> dict[str, Any]:
    return {"id": node, "type": "store", "config": {"name": name}}


async def test_a_run_goes_along_the_edges_whose_conditions_hold(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    top = {"id": "top", "type": "top_k", "config": {"k": 4, "by": "amount"}}
    first = {"id": "first", "type": "limit", "config": {"rows": 2}}
    late = {"id": "late", "type": "limit", "config": {"rows": 1}}
    content = {
        "name": "Branches",
        "nodes": [read(dataset), top, first, store("many", "many {{top.rows}}"), store("few", "few"), late],
        "edges": [
            {"from": "read", "to": "top"},
            {"from": "top", "to": "first"},
            branch("first", "many", "amount", ">=", 9),
            branch("first", "few", "amount", "<", 9),
            branch("top", "late", "rows", ">", 4),
        ],
    }
    path = await save(ada, content)
    ended = await run(ada, path)
    nodes = ended["nodes"]
    assert ended["outcome"] == "succeeded", nodes
    assert {name: node["status"] for name, node in nodes.items()} == {
        "top": "done",
        "first": "done",
        "many": "done",
        "few": "skipped",
        "late": "skipped",
    }
    stored = (await ada.http.get(f"/datasets/{nodes['many']['dataset_id']}")).json()
    assert (stored["name"], stored["rows"]) == ("many 4", 2)
    assert nodes["few"]["notes"] == ["first -> few needs amount < 9, and it is 9."]
    assert nodes["late"]["notes"] == ["top -> late needs rows > 4, and it is 4."]

    # The branches that were closed run again, and are closed again.
    again = await ada.http.post(f"/workflow-runs/{ended['id']}/retry", json={"from_node": "late"})
    assert again.status_code == 201, again.text
    alone = await ada.http.post(f"{path}/run", json={"node": "late"})
    assert (alone.status_code, alone.json()["code"]) == (422, "not_a_query")


def join_branches(dataset: str, limit: int) -> dict[str, Any]:
    """Return a workflow of two branches that exclude each other, join, and are sorted and stored."""
    many = {"id": "many", "type": "top_k", "config": {"k": 2, "by": "amount"}}
    few = {"id": "few", "type": "limit", "config": {"rows": 1}}
    both = {"id": "both", "type": "union", "config": {}, "needs": "any"}
    order = {"id": "order", "type": "sort", "config": {"keys": [{"column": "amount"}]}}
    named = store("keep", "kept {{many.rows}} of {{read.rows}}")
    return {
        "name": "Joined",
        "nodes": [read(dataset), many, few, both, order, named],
        "edges": [
            branch("read", "many", "rows", ">", limit),
            branch("read", "few", "rows", "<=", limit),
            {"from": "many", "to": "both"},
            {"from": "few", "to": "both"},
            {"from": "both", "to": "order"},
            {"from": "order", "to": "keep"},
        ],
    }


async def test_branches_that_exclude_each_other_join_again(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    taken = await run(ada, await save(ada, join_branches(dataset, 8)))
    assert taken["outcome"] == "succeeded", taken["nodes"]
    assert [row[-1] for row in taken["nodes"]["order"]["preview"]] == [6, 9]
    path = await save(ada, join_branches(dataset, 9))
    other = await run(ada, path)
    nodes = other["nodes"]
    assert [row[-1] for row in nodes["order"]["preview"]] == [1]
    assert (nodes["many"]["status"], nodes["many"]["notes"]) == (
        "skipped",
        ["read -> many needs rows > 9, and it is 9."],
    )
    names = [
        (await ada.http.get(f"/datasets/{ended['nodes']['keep']['dataset_id']}")).json()["name"]
        for ended in (taken, other)
    ]
    assert names == ["kept 2 of 9", "kept of 9"]
    again = await ada.http.post(f"/workflow-runs/{other['id']}/retry", json={"from_node": "both"})
    retried = await follow(ada, f"/workflow-runs/{again.json()['id']}")
    assert {name: node["status"] for name, node in retried["nodes"].items()} == {
        name: node["status"] for name, node in nodes.items()
    }
    wrong = join_branches(dataset, 9)
    del wrong["nodes"][3]["needs"]
    refused = (await ada.http.post("/workflows", json=wrong)).json()
    assert [(fault["pointer"], fault["code"]) for fault in refused["faults"]] == [("/nodes/3", "never_runs")]


async def test_a_refused_approval_has_a_branch_of_its_own(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    content = {
        "name": "Refused",
        "nodes": [
            read(dataset),
            {"id": "ask", "type": "approve"},
            {"id": "yes", "type": "limit", "config": {"rows": 1}},
            {"id": "no", "type": "limit", "config": {"rows": 2}},
            {"id": "both", "type": "agent", "config": {"prompt": "how many rows are there?"}, "needs": "any"},
        ],
        "edges": [
            {"from": "read", "to": "ask"},
            {"from": "ask", "to": "yes"},
            branch("ask", "no", "passes", "=", False),
            {"from": "yes", "to": "both"},
            {"from": "no", "to": "both"},
        ],
    }
    path = await save(ada, content)
    for answer, count in (("approve", 1), ("reject", 2)):
        waiting = await run(ada, path, lambda view: view["question"] is not None)
        place = f"/workflow-runs/{waiting['id']}"
        await ada.http.post(f"{place}/answer", json={"answer": answer, "key": waiting["question"]["key"]})
        ended = await follow(ada, place)
        assert (ended["outcome"], ended["nodes"]["both"]["preview"]) == ("succeeded", [[count]]), ended


async def test_a_condition_is_changed_by_a_patch_and_shown_in_its_difference(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    content = {
        "name": "Branches",
        "nodes": [read(dataset), store("keep", "kept")],
        "edges": [{"from": "read", "to": "keep"}],
    }
    path = await save(ada, content)
    condition = {"field": "rows", "op": ">", "value": 0}
    wrong = {**condition, "field": "rowes"}

    async def patch(value: dict[str, Any]) -> dict[str, Any]:
        operation = {"op": "add", "path": "/edges/0/condition", "value": value}
        answer = await ada.http.post(f"{path}/patch", json={"operations": [operation]})
        return dict(answer.json())

    (fault,) = (await patch(wrong))["faults"]
    assert (fault["pointer"], fault["nearest"]) == ("/edges/0/condition/field", ["rows"])
    changed = await patch(condition)
    assert changed["difference"]["text"] == "~ read -> keep: always -> if rows > 0"
    assert changed["difference"]["edges_changed"][0]["after"] == condition
    assert changed["workflow"]["document"]["edges"] == [{"from": "read", "to": "keep", "condition": condition}]


async def test_a_condition_that_cannot_be_tested_fails_its_node_and_no_other(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    code = "keep['made'] = read.assign(size='large')"
    content = {
        "name": "Branches",
        "nodes": [read(dataset), {"id": "made", "type": "python", "config": {"code": code}}]
        + [store(name, name) for name in ("ordered", "missing", "equal")],
        "edges": [
            {"from": "read", "to": "made"},
            branch("made", "ordered", "size", ">", 3),
            branch("made", "missing", "colour", "=", "red"),
            branch("made", "equal", "size", "=", "large"),
        ],
    }
    ended = await run(ada, await save(ada, content))
    results = {name: (node["status"], node["code"]) for name, node in ended["nodes"].items()}
    assert ended["outcome"] == "failed"
    assert results["ordered"] == ("failed", "condition_wrong")
    assert results["missing"] == ("failed", "template_wrong")
    assert results["equal"] == ("done", None)


def read_counts() -> dict[str, float]:
    """Return metrics of programs, of manual runs that failed, and of versions that people saved."""
    samples = {
        "failed": ("nodes", {"type": "python", "status": "failed"}),
        "retries": ("retries", {"type": "python"}),
        "runs": ("runs", {"trigger": "manual", "outcome": "failed"}),
        "versions": ("versions", {"author": "person"}),
    }
    return {
        name: REGISTRY.get_sample_value(f"labcrew_workflow_{metric}_total", labels) or 0
        for name, (metric, labels) in samples.items()
    }


async def test_a_node_is_run_again_and_ends_in_its_time(app: FastAPI, ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    endless = {
        "id": "endless",
        "type": "python",
        "config": {"code": "while True:\n    pass"},
        "timeout_s": 1,
        "retries": 1,
    }
    wrong = {"id": "wrong", "type": "python", "config": {"code": "raise ValueError('no')"}, "retries": 1}
    content = {
        "name": "Limits",
        "nodes": [read(dataset), endless, wrong],
        "edges": [{"from": "read", "to": "endless"}, {"from": "read", "to": "wrong"}],
    }
    before = read_counts()
    nodes = (await run_awake(app, ada, await save(ada, content)))["nodes"]
    counts = {name: count - before[name] for name, count in read_counts().items()}
    assert counts == {"failed": 4, "retries": 2, "runs": 1, "versions": 1}
    assert (nodes["endless"]["code"], nodes["endless"]["attempts"]) == ("node_timed_out", 2)
    assert (nodes["wrong"]["status"], nodes["wrong"]["attempts"], len(nodes["wrong"]["notes"])) == (
        "failed",
        2,
        1,
    )

    ask = {"id": "ask", "type": "approve", "timeout_s": 3}
    content["nodes"].append(ask)
    content["edges"].append({"from": "read", "to": "ask"})
    refused = (await ada.http.post("/workflows", json=content)).json()
    assert [(fault["pointer"], fault["code"]) for fault in refused["faults"]] == [
        ("/nodes/3/timeout_s", "limit_without_effect")
    ]
