"""Whole workflows from one sentence of a conversation that has no workflow and no table yet."""

import pytest

from app.settings import Settings

from .conftest import User
from .test_chat_workflows import approve, read_nodes
from .test_threads import ask
from .test_workflow_runs import Outside, outside, ready, run  # noqa: F401 - fixtures

pytestmark = pytest.mark.usefixtures("worker", "ready")


@pytest.fixture
def settings(settings: Settings, outside: Outside) -> Settings:  # noqa: F811
    return settings.model_copy(update={"http_allowed_hosts": (outside.url.removeprefix("http://"),)})


async def test_a_sentence_is_proposed_approved_and_run(ada: User, outside: Outside) -> None:  # noqa: F811
    sentence = (
        f"every monday at 9 fetch {outside.url}/prices, keep the rows where price is above 100, "
        f"and post the top 1 to {outside.url}/x"
    )
    asked = await ask(ada, sentence, preferences={"time_zone": "Europe/Berlin"})
    preview = set(asked["question"]["about"]["preview"].splitlines())
    assert {
        "+ http_request (http_request)",
        "+ http_request -> filter",
        "+ filter -> top_k",
        "+ top_k -> webhook",
    } <= preview
    assert (await ada.http.get("/workflows")).json()["items"] == []
    made = await approve(ada, asked)
    nodes = await read_nodes(ada, made)
    assert nodes["http_request"] == {"url": f"{outside.url}/prices"}
    assert nodes["top_k"] == {"k": 1, "by": "price"}
    assert nodes["webhook"] == {"channel": "webhook", "to": f"{outside.url}/x"}
    assert (nodes["trigger"]["cron"], nodes["trigger"]["time_zone"]) == ("0 9 * * 1", "Europe/Berlin")
    ended = await run(ada, f"/workflows/{made['workflow']['id']}")
    assert ended["outcome"] == "succeeded", ended
    assert outside.messages[-1]["table"]["rows"] == [["City 0", 400]]


async def test_a_sentence_for_now_is_run_and_can_come_again(ada: User, outside: Outside) -> None:  # noqa: F811
    now = await ask(
        ada, f"fetch {outside.url}/prices, keep the rows where price is below 200 and sort by price"
    )
    assert [row[-1] for row in now["table"]["rows"]] == [80, 120], now
    assert [step["type"] for step in now["steps"]] == ["http_request", "filter", "sort"]
    again = await approve(ada, await ask(ada, "do this every day at 7", thread_id=now["thread_id"]))
    assert [*await read_nodes(ada, again)] == ["http_request", "filter", "sort", "trigger"]


async def test_a_sentence_that_sends_without_a_schedule_is_proposed(ada: User, outside: Outside) -> None:  # noqa: F811
    asked = await ask(ada, f"fetch {outside.url}/prices and post the top 2 by price to {outside.url}/x")
    assert "+ top_k -> webhook" in asked["question"]["about"]["preview"].splitlines(), asked
    assert outside.messages == []


async def test_words_that_are_not_understood_are_named_and_nothing_is_saved(
    ada: User,
    outside: Outside,  # noqa: F811
) -> None:
    said = await ask(ada, f"every day fetch {outside.url}/prices, frobnicate the rows and tell ops")
    assert "'frobnicate the rows' is not understood" in said["text"], said
    top = await ask(ada, f"fetch {outside.url}/prices and post the top 5 to {outside.url}/x every day")
    assert top["text"].startswith("The top 5 by which column?"), top
    assert (await ada.http.get("/workflows")).json()["items"] == []
    assert outside.messages == outside.heads == []


async def test_what_a_sentence_asks_of_its_table_is_answered_from_it(ada: User, outside: Outside) -> None:  # noqa: F811
    asked = await ask(ada, f"fetch {outside.url}/prices and what is the average price?")
    assert asked["table"]["rows"] == [[200]], asked


async def test_a_request_without_rows_passes_no_rows_on_and_stores_nothing(ada: User, outside: Outside) -> None:  # noqa: F811
    outside.prices = []
    tests = {"kind": "compare", "op": ">", "left": {"kind": "column", "name": "price"}}
    nodes = [
        {"id": "prices", "type": "http_request", "config": {"url": f"{outside.url}/prices"}},
        {
            "id": "dear",
            "type": "filter",
            "config": {"condition": {**tests, "right": {"kind": "literal", "value": 50}}},
        },
        {"id": "best", "type": "top_k", "config": {"k": 2, "by": "price"}},
        {"id": "tell", "type": "notify", "config": {"channel": "webhook", "to": f"{outside.url}/x"}},
        {"id": "keep", "type": "store", "config": {"name": "dear prices"}},
    ]
    nodes.append({**nodes[3], "id": "always"})
    edges = [("prices", "dear"), ("dear", "best"), ("best", "tell"), ("best", "always"), ("best", "keep")]
    content = {
        "name": "Dear",
        "nodes": nodes,
        "edges": [
            {
                "from": before,
                "to": after,
                **({"condition": {"field": "rows", "op": ">", "value": 0}} if after == "tell" else {}),
            }
            for before, after in edges
        ],
    }
    saved = await ada.http.post("/workflows", json=content)
    ended = await run(ada, f"/workflows/{saved.json()['id']}")
    best = ended["nodes"]["best"]
    assert (best["status"], best["rows"]) == ("done", 0), ended
    assert "columns are not known" in best["notes"][0]
    assert ended["nodes"]["tell"]["status"] == "skipped"
    assert ended["nodes"]["always"]["status"] == "done", ended
    assert [message["table"]["row_count"] for message in outside.messages] == [0]
    assert ended["nodes"]["keep"]["code"] == "columns_unknown", ended
    assert (await ada.http.get("/datasets")).json()["items"] == []
