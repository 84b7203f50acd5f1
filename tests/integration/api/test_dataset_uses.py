"""What uses a dataset, as its owner reads it before deleting it."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI

from app.db.pool import Database

from .conftest import User
from .test_deletion import a_session, add
from .test_ownership import a_dataset, an_artifact
from .test_paging import pages


async def uses_of(user: User, dataset: UUID, **query: Any) -> dict[str, Any]:
    answer = await user.http.get(f"/datasets/{dataset}/uses", params=query)
    assert answer.status_code == 200, answer.text
    listed: dict[str, Any] = answer.json()
    return listed


async def a_workflow(user: User, name: str, *datasets: UUID) -> str:
    nodes: list[dict[str, Any]] = [
        {"id": f"read_{place}", "type": "read_dataset", "config": {"dataset_id": str(dataset)}}
        for place, dataset in enumerate(datasets)
    ]
    made = await user.http.post("/workflows", json={"name": name, "nodes": nodes})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def test_each_kind_of_use_is_named_and_nothing_else(app: FastAPI, ada: User, eve: User) -> None:
    table, other, theirs = a_dataset(ada.id), a_dataset(ada.id), a_dataset(eve.id)
    await add(app, table, other, theirs)
    assert await uses_of(ada, table.id) == {
        "items": [],
        "total": 0,
        "limit": 50,
        "offset": 0,
        "next_cursor": None,
    }
    study = a_session(ada.id, dataset_ids=[other.id, table.id], goal="Predict who survived. " * 10)
    code = a_session(ada.id, ended=False, class_="run", graph="run", goal="select 1", dataset_ids=[table.id])
    apart = a_session(ada.id, dataset_ids=[other.id])
    # The database lets nobody name datasets of somebody else; here a row does, to prove that its owner counts.
    stranger = a_session(eve.id, dataset_ids=[table.id, theirs.id])
    await add(app, study, code, apart, stranger, model := an_artifact(ada.id, study.id))
    await add(app, an_artifact(ada.id, apart.id), an_artifact(ada.id, study.id, kind="figure", name="roc"))
    loose = an_artifact(ada.id, None, kind="table", name="new.csv", meta={"table_id": str(table.id)})
    await add(app, loose)
    said = await ada.http.post(
        "/chat", params={"wait": 0}, json={"message": "how many rows?", "dataset_ids": [str(table.id)]}
    )
    thread = said.json()["thread_id"]
    assert (await ada.http.post("/chat", params={"wait": 0}, json={"message": "hello"})).is_success
    workflow = await a_workflow(ada, "nightly", other.id, table.id)
    await a_workflow(ada, "another", other.id)

    listed = await uses_of(ada, table.id)
    found = {
        (use["kind"], use["id"]): (use["name"], use["is_live"], use["is_derived"]) for use in listed["items"]
    }
    assert found == {
        ("session", str(study.id)): (study.goal[:80], False, True),
        ("run", str(code.id)): ("select 1", True, True),
        ("model", str(model.id)): ("ridge", False, True),
        ("artifact", str(loose.id)): ("new.csv", False, True),
        ("thread", thread): ("how many rows?", False, False),
        ("workflow", workflow): ("nightly", False, False),
    }
    assert listed["total"] == len(listed["items"]) == 6
    times = [use["created_at"] for use in listed["items"]]
    assert times == sorted(times, reverse=True)
    for kind, id_ in found:
        only = await uses_of(ada, table.id, kind=kind)
        assert ([use["id"] for use in only["items"]], only["total"]) == ([id_], 1)
    assert [use["id"] for use in (await uses_of(eve, theirs.id))["items"]] == [str(stranger.id)]


async def test_a_run_of_a_workflow_is_named_as_its_workflow(app: FastAPI, ada: User) -> None:
    table = a_dataset(ada.id)
    await add(app, table)
    workflow = await a_workflow(ada, "nightly", table.id)
    document, gone = '{"nodes": []}', str(uuid4())
    of_run: dict[str, Any] = {"class_": "run", "graph": "workflow", "goal": document, "dataset_ids": [table.id]}
    run = a_session(ada.id, preferences={"workflow": {"id": workflow}}, **of_run)
    orphan = a_session(ada.id, preferences={"workflow": {"id": gone}}, **of_run)
    await add(app, run, orphan)
    runs = {use["id"]: use for use in (await uses_of(ada, table.id, kind="run"))["items"]}
    assert {id_: (use["name"], use["workflow_id"]) for id_, use in runs.items()} == {
        str(run.id): ("nightly", workflow),
        str(orphan.id): ("workflow", gone),
    }


async def test_what_a_refused_deletion_names_is_what_the_uses_call_derived(app: FastAPI, ada: User) -> None:
    table = a_dataset(ada.id)
    used = a_session(ada.id, dataset_ids=[table.id])
    await add(app, table, used, model := an_artifact(ada.id, used.id))
    inside = a_session(ada.id, class_="run", graph="run", parent_id=used.id)
    predicted = a_session(
        ada.id, class_="run", graph="run", preferences={"prediction": {"model_id": str(model.id)}}
    )
    loose = an_artifact(ada.id, None, kind="table", meta={"model_id": str(model.id)})
    await add(app, inside, predicted, loose)
    refused = await ada.http.delete(f"/datasets/{table.id}")
    assert refused.status_code == 409
    named = {(one["kind"], one["id"]) for one in refused.json()["derived"]}
    uses = (await uses_of(ada, table.id))["items"]
    assert {(use["kind"], use["id"]) for use in uses if use["is_derived"]} == named | {("model", str(model.id))}
    assert len(named) == refused.json()["derived_count"] == 4

    assert (await ada.http.delete(f"/datasets/{table.id}", params={"derived": True})).status_code == 204
    db: Database = app.state.resources.database
    left = await db.rows("select id from sessions union all select id from artifacts")
    assert left == []


async def test_a_conversation_that_used_a_dataset_once_still_counts_until_it_is_deleted(
    app: FastAPI, ada: User
) -> None:
    table, other = a_dataset(ada.id), a_dataset(ada.id)
    await add(app, table, other)
    said = await ada.http.post(
        "/chat", params={"wait": 0}, json={"message": "how many rows?", "dataset_ids": [str(table.id)]}
    )
    thread = said.json()["thread_id"]
    moved = await ada.http.patch(f"/threads/{thread}", json={"dataset_ids": [str(other.id)]})
    assert moved.is_success
    for dataset in (table, other):
        assert [use["id"] for use in (await uses_of(ada, dataset.id))["items"]] == [thread]
    await ada.http.delete(f"/threads/{thread}")
    for dataset in (table, other):
        assert (await uses_of(ada, dataset.id))["items"] == []


async def test_a_workflow_uses_what_its_current_version_reads_however_it_spells_it(
    app: FastAPI, ada: User
) -> None:
    table, other = a_dataset(ada.id), a_dataset(ada.id)
    await add(app, table, other)
    workflow = await a_workflow(ada, "nightly", table.id)
    for spelling in (str(other.id).upper(), other.id.hex, other.id.urn, f"{{{other.id}}}"):
        node = {"id": "read", "type": "read_dataset", "config": {"dataset_id": spelling}}
        changed = await ada.http.put(f"/workflows/{workflow}", json={"nodes": [node]})
        assert changed.status_code == 200, changed.text
        assert (await uses_of(ada, table.id))["items"] == []
        assert [use["name"] for use in (await uses_of(ada, other.id))["items"]] == ["nightly"]


async def test_uses_are_read_page_by_page_and_each_comes_once(app: FastAPI, ada: User) -> None:
    table = a_dataset(ada.id)
    await add(app, table, *(a_session(ada.id, dataset_ids=[table.id]) for _ in range(7)))
    db: Database = app.state.resources.database
    await db.rows("update sessions set created_at = now()")
    read = await pages(ada, f"/datasets/{table.id}/uses", 3)
    ids = [use["id"] for page in read for use in page]
    assert [len(page) for page in read] == [3, 3, 1]
    assert ids == sorted(set(ids))
    later = await uses_of(ada, table.id, limit=2, offset=6)
    assert ([use["id"] for use in later["items"]], later["total"]) == (ids[6:], 7)


@pytest.mark.parametrize("query", [{"kind": "dataset"}, {"after": "x"}, {"limit": 0}])
async def test_what_is_no_page_of_uses_is_refused(app: FastAPI, ada: User, query: dict[str, Any]) -> None:
    table = a_dataset(ada.id)
    await add(app, table)
    assert (await ada.http.get(f"/datasets/{table.id}/uses", params=query)).status_code == 422
    missing = await ada.http.get(f"/datasets/{uuid4()}/uses")
    assert (missing.status_code, missing.json()["code"]) == (404, "dataset_not_found")
