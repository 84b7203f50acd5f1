"""Both lanes from a conversation: what is for now is run, what is to last changes a workflow after approval."""

import re
from typing import Any

import pytest

from app.settings import Settings

from .conftest import User
from .test_chat_files import answer
from .test_threads import ask
from .test_workflow_nodes import chain, save, upload
from .test_workflow_runs import Outside, outside, ready  # noqa: F401 - fixtures

pytestmark = pytest.mark.usefixtures("worker")
CITIES = "city,country,people\nWien,AT,1900\nGraz,AT,290\nBern,CH,133\nZug,CH,30\n"


@pytest.fixture
def settings(settings: Settings, outside: Outside) -> Settings:  # noqa: F811
    more = {"http_allowed_hosts": (outside.url.removeprefix("http://"),)}
    mail = {"smtp_url": "smtp://127.0.0.1:1", "mail_sender": "lab@example.com"}
    return settings.model_copy(update={**more, **Settings(**mail).model_dump(include={*mail})})


async def approve(user: User, turn: dict[str, Any]) -> dict[str, Any]:
    assert turn["question"], turn
    ended = await answer(user, turn, "approve")
    assert ended["status"] == "succeeded", ended
    return ended


async def read_nodes(user: User, turn: dict[str, Any]) -> dict[str, Any]:
    view = (await user.http.get(f"/workflows/{turn['workflow']['id']}")).json()
    assert view["version"] == turn["workflow"]["version"]
    return {node["id"]: node["config"] for node in view["document"]["nodes"]}


@pytest.mark.usefixtures("ready")
async def test_an_answer_becomes_a_workflow_that_words_change(ada: User) -> None:
    dataset = await upload(ada, "cities", CITIES)
    first = await ask(ada, "top 2 cities by people", dataset_ids=[dataset])
    assert len(first["table"]["rows"]) == 2, first
    thread = {"thread_id": first["thread_id"]}
    asked = await ask(ada, "do this every weekday at 8", **thread)
    shown = asked["question"]["about"]["preview"]
    assert {"+ cities (read_dataset)", "+ trigger (trigger)"} <= set(shown.splitlines()), shown
    assert (await ada.http.get("/workflows")).json()["items"] == []
    refused = await answer(ada, asked, "reject")
    assert refused["text"].startswith("I did not make the workflow “"), refused
    assert (await ada.http.get("/workflows")).json()["items"] == []

    made = await approve(ada, await ask(ada, "do this every weekday at 8", **thread))
    assert re.search(r"Its next runs: 20[0-9-]+ 08:00, .* 08:00 \(UTC\)\.", made["text"]), made
    nodes = await read_nodes(ada, made)
    assert nodes["trigger"]["cron"] == "0 8 * * 1-5"
    changed = await ask(ada, "if an error occurs then alert the ops team", **thread)
    assert "+ slack_on_failure (notify)" in changed["question"]["about"]["preview"], changed
    changed = await approve(ada, changed)
    assert changed["workflow"]["version"] == 2
    assert (await read_nodes(ada, changed))["slack_on_failure"] == {
        "channel": "slack",
        "to": "ops",
        "when": "failed",
    }
    nine = "run it every weekday at 9"
    moved = await ask(ada, nine, **thread, preferences={"time_zone": "Asia/Tokyo"})
    assert "every weekday at 9:00, Asia/Tokyo" in str(moved["question"]), moved
    moved = await approve(ada, moved)
    assert re.search(r"Its next runs: 20[0-9-]+ 09:00, .* 09:00 \(Asia/Tokyo\)\.", moved["text"]), moved
    assert {time[-15:] for time in moved["workflow"]["next_runs"]} == {"T09:00:00+09:00"}
    nodes = await read_nodes(ada, moved)
    assert (nodes["trigger"]["cron"], nodes["trigger"]["time_zone"]) == ("0 9 * * 1-5", "Asia/Tokyo")
    unknown = {"message": nine, "preferences": {"time_zone": "Asia/Nowhere"}}
    assert (await ada.http.post("/chat", json=unknown)).status_code == 422
    run = await ada.http.post(f"/workflows/{made['workflow']['id']}/run", json={})
    assert run.status_code == 201, run.text
    authors = [
        version["author"]
        for version in (await ada.http.get(f"/workflows/{made['workflow']['id']}/versions")).json()
    ]
    assert {(author["email"], author["kind"]) for author in authors} == {(ada.email, "conversation")}
    assert len({author["session_id"] for author in authors}) == len(authors)

    sent = await ask(ada, "email me the top 3 cities by people every Monday", dataset_ids=[dataset])
    preview = set(sent["question"]["about"]["preview"].splitlines())
    assert {"+ cities (read_dataset)", "+ email (notify)", "+ trigger (trigger)"} <= preview, preview
    assert len([line for line in preview if line.startswith("+ ") and "->" not in line]) > 3, preview
    meanwhile = await ask(ada, "run it daily at 9", **thread)
    patch = [{"op": "replace", "path": "/nodes/@trigger/config/cron", "value": "0 7 * * *"}]
    await ada.http.post(f"/workflows/{made['workflow']['id']}/patch", json={"operations": patch})
    late = await answer(ada, meanwhile, "approve")
    assert "was changed meanwhile" in late["text"], late
    assert late["workflow"] is None


@pytest.mark.usefixtures("ready")
async def test_steps_are_added_and_requests_sent_from_chat(ada: User, outside: Outside) -> None:  # noqa: F811
    nodes = (
        {
            "id": "flights",
            "type": "http_request",
            "config": {"url": f"{outside.url}/prices", "records": "/flights"},
        },
        {
            "id": "processing",
            "type": "sql",
            "config": {"sql": 'SELECT "city.name" AS city, price FROM flights'},
        },
        {"id": "best", "type": "top_k", "config": {"k": 2, "by": "price"}},
    )
    await save(ada, chain(*nodes))
    top = await ask(ada, "show me the top 2 flights sorted by price")
    assert top["table"]["rows"][0][-1] == 400, top
    assert [row[-1] for row in top["table"]["rows"]] == [400, 120]
    fetched = await ask(ada, "fetch the latest prices", thread_id=top["thread_id"])
    assert fetched["table"]["row_count"] == 3, fetched
    assert fetched["steps"][0]["type"] == "http_request"

    added = await ask(ada, "add a notification step after processing", thread_id=top["thread_id"])
    preview = added["question"]["about"]["preview"].splitlines()
    assert {"+ processing -> email", "+ email -> best"} <= set(preview), preview
    await approve(ada, added)
    dropped = await ask(ada, "always send an email when the price drops", thread_id=top["thread_id"])
    assert "+ condition -> email_2" in dropped["question"]["about"]["preview"].splitlines(), dropped
    saved = await approve(ada, dropped)
    condition = (await read_nodes(ada, saved))["condition"]
    assert condition == {"function": "min", "column": "price", "op": "drops"}
