"""Workflows read the results of jobs, studies and other runs."""

import io
from typing import Any
from uuid import uuid4

import pyarrow.parquet as pq
import pytest

from app.workflows.node_configs import TABLE_MEDIA_TYPE

from .conftest import User
from .test_agent_jobs import follow as follow_job
from .test_workflow_nodes import SALES, chain, read, save, upload
from .test_workflow_runs import run


def reader(**config: Any) -> dict[str, Any]:
    return chain(
        {"id": "earlier", "type": "read_result", "config": config},
        {"id": "few", "type": "sql", "config": {"sql": "SELECT count(*) AS n FROM earlier"}},
    )


@pytest.mark.usefixtures("worker")
async def test_a_workflow_goes_on_with_the_table_of_another_run(ada: User, eve: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    total = {"id": "total", "type": "sql", "config": {"sql": "SELECT * FROM read LIMIT 4"}}
    first = await save(ada, chain(read(dataset), total))
    later = await save(ada, reader(workflow_id=first.rpartition("/")[2], node="total"))
    early = await run(ada, later)
    assert early["nodes"]["earlier"]["code"] == "result_not_found", "it has not run yet"
    made = await run(ada, first)
    ended = await run(ada, later)
    assert (ended["outcome"], ended["nodes"]["few"]["preview"]) == ("succeeded", [[4]]), ended
    named = await run(ada, await save(ada, reader(session_id=made["id"], table="total")))
    assert named["nodes"]["few"]["preview"] == [[4]]

    for config, code in (
        ({"workflow_id": first.rpartition("/")[2], "node": "totl"}, "unknown_node"),
        ({"session_id": str(uuid4())}, "result_not_found"),
        ({"result_ref": f"artifact://{uuid4()}"}, "result_not_found"),
    ):
        answer = await ada.http.post("/workflows/validate", json=without_name(reader(**config)))
        assert [fault["code"] for fault in answer.json()["faults"]] == [code], answer.text
    theirs = without_name(reader(session_id=made["id"]))
    answer = await eve.http.post("/workflows/validate", json=theirs)
    assert [fault["code"] for fault in answer.json()["faults"]] == ["result_not_found"]
    both = {"session_id": made["id"], "result_ref": f"artifact://{uuid4()}"}
    answer = await ada.http.post("/workflows/validate", json=without_name(reader(**both)))
    assert "Name one result" in answer.json()["faults"][0]["message"]


async def count_rows(user: User, artifact_id: str) -> int:
    """Count the rows of a stored table."""
    content = (await user.http.get(f"/artifacts/{artifact_id}")).content
    return pq.read_table(io.BytesIO(content)).num_rows


@pytest.mark.usefixtures("worker")
async def test_a_workflow_reads_what_a_study_found(ada: User, eve: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    keep = {"id": "keep", "type": "store", "config": {"name": "kept sales"}}
    learn = {"id": "learn", "type": "study", "config": {"goal": "mean amount by region", "time_budget_s": 5}}
    made = await run(ada, await save(ada, chain(read(dataset), keep, learn)))
    assert made["outcome"] == "succeeded", made["nodes"]
    study = made["nodes"]["learn"]["study_id"]
    stored = (await ada.http.get("/artifacts", params={"session_id": study})).json()["items"]
    tables = [
        entry for entry in stored if entry["media_type"] == TABLE_MEDIA_TYPE and entry["kind"] != "holdout"
    ]
    newest = max(tables, key=lambda entry: entry["created_at"])
    for config in (
        {"session_id": study},
        {"session_id": study, "table": newest["name"].removesuffix(".parquet")},
        {"result_ref": f"artifact://{newest['id']}"},
    ):
        ended = await run(ada, await save(ada, reader(**config)))
        assert ended["outcome"] == "succeeded", ended["nodes"]
        assert ended["nodes"]["few"]["preview"] == [[await count_rows(ada, newest["id"])]], config
        answer = await eve.http.post("/workflows/validate", json=without_name(reader(**config)))
        assert [fault["code"] for fault in answer.json()["faults"]] == ["result_not_found"]


@pytest.mark.usefixtures("worker")
async def test_a_workflow_reads_what_a_job_answered(ada: User) -> None:
    job = {"version": "1.0", "job_id": "r-1", "prompt": "SQL: select * from range(7) as t(n)"}
    assert (await ada.http.post("/agent/jobs", json=job)).is_success
    view = await follow_job(ada, "r-1")
    answer = view["answer"]
    assert answer["status"] == "completed", answer
    ended = await run(ada, await save(ada, reader(result_ref=answer["result_ref"])))
    assert ended["nodes"]["few"]["preview"] == [[7]], ended


def without_name(content: dict[str, Any]) -> dict[str, Any]:
    return {part: content[part] for part in ("nodes", "edges")}
