"""Dry runs of proposals: over the tables of the last run, without effects, beside what it came to."""

from itertools import pairwise
from typing import Any

import pytest

from app.settings import Settings

from .conftest import User
from .test_workflow_nodes import save
from .test_workflow_runs import Outside, follow, outside, run  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("worker")


@pytest.fixture
def settings(settings: Settings, outside: Outside) -> Settings:  # noqa: F811
    return settings.model_copy(update={"http_allowed_hosts": (outside.url.removeprefix("http://"),)})


@pytest.fixture
async def path(ada: User, outside: Outside) -> str:  # noqa: F811
    """The two cheapest flights of a service, after an approval a message and a dataset."""
    hosts = [outside.url.removeprefix("http://")]
    assert (await ada.http.put("/request-hosts", json={"hosts": hosts})).status_code == 200
    request = {"url": f"{outside.url}/prices", "records": "/flights"}
    nodes: list[dict[str, Any]] = [
        {"id": "flights", "type": "http_request", "config": request},
        {"id": "best", "type": "top_k", "config": {"k": 2, "by": "price", "descending": False}},
        {"id": "ask", "type": "approve", "config": {"text": "Send it?"}},
        {"id": "tell", "type": "notify", "config": {"channel": "slack", "to": f"{outside.url}/tell"}},
        {"id": "keep", "type": "store", "config": {"name": "best flights"}},
    ]
    ids = [node["id"] for node in nodes]
    edges = [{"from": x, "to": y} for x, y in pairwise(ids)]
    return await save(ada, {"name": "Flights", "nodes": nodes, "edges": edges})


async def propose(ada: User, path: str, k: int) -> str:
    operations = [{"op": "replace", "path": "/nodes/@best/config/k", "value": k}]
    answer = await ada.http.post(f"{path}/proposals", json={"operations": operations})
    assert answer.status_code == 201, answer.text
    return f"/workflow-proposals/{answer.json()['id']}/dry-runs"


async def run_dry(ada: User, place: str) -> dict[str, Any]:
    """Try a proposal, and return what differs when its run has ended."""
    started = await ada.http.post(place)
    assert started.status_code == 201, started.text
    where = started.headers["Location"].partition("/api/v1")[2]
    view: dict[str, Any] = (await ada.http.get(where)).json()
    await follow(ada, f"/workflow-runs/{view['run']['id']}")
    ended: dict[str, Any] = (await ada.http.get(where)).json()
    return ended


async def test_a_proposal_is_tried_over_the_answer_of_the_last_run(
    ada: User,
    eve: User,
    outside: Outside,  # noqa: F811
    path: str,
) -> None:
    waiting = await run(ada, path, lambda view: view["status"] == "awaiting_user")
    await ada.http.post(f"/workflow-runs/{waiting['id']}/answer", json={"answer": "approve"})
    last = await follow(ada, f"/workflow-runs/{waiting['id']}")
    assert last["outcome"] == "succeeded", last
    asked, outside.prices = len(outside.heads), [1, 1, 1]
    place = await propose(ada, path, 3)
    view = await run_dry(ada, place)
    assert view["run"]["outcome"] == "succeeded", view["run"]
    assert (view["compared_with"]["id"], view["run"]["workflow_id"]) == (last["id"], path.rpartition("/")[2])
    (change,) = view["changes"]
    assert (change["node"], change["before"]["rows"], change["after"]["rows"]) == ("best", 2, 3)
    prices = [row[-1] for row in change["after"]["preview"]]
    assert sorted(prices) == [80, 120, 400], "those of the last run, not those of now"
    left_out = {name for name, node in view["run"]["nodes"].items() if node["code"] == "dry_run"}
    assert left_out == {"ask", "tell", "keep"}
    assert len(outside.heads) == asked, "nothing is asked or sent"
    assert [entry["name"] for entry in (await ada.http.get("/datasets")).json()["items"]] == ["best flights"]

    # It is no run of the workflow, and is not run again with effects.
    assert [one["id"] for one in (await ada.http.get(f"{path}/runs")).json()] == [last["id"]]
    again = await ada.http.post(f"/workflow-runs/{view['run']['id']}/retry", json={"from_node": "tell"})
    assert (again.status_code, again.json()["code"]) == (409, "run_is_dry")
    assert (await eve.http.post(place)).status_code == 404
    assert (await eve.http.get(f"{place}/{view['run']['id']}")).status_code == 404
    other = await propose(ada, path, 1)
    assert (await ada.http.get(f"{other}/{view['run']['id']}")).json()["code"] == "run_not_found"


async def test_before_the_first_run_there_is_nothing_to_begin_with(ada: User, path: str) -> None:
    refused = await ada.http.post(await propose(ada, path, 1))
    assert (refused.status_code, refused.json()["code"]) == (409, "no_earlier_run")
