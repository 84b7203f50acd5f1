"""Nodes of workflows that ask an agent, over the real API and without a chat model."""

from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from app.settings import Settings

from .conftest import User
from .test_killed_workflow_runs import choose_places, run_killed, save_sender
from .test_workflow_nodes import SALES, chain, read, save, upload
from .test_workflow_runs import Outside, outside, run  # noqa: F401 - fixtures

MAX_PLACE = 60
"""A run that asks an agent has about 30 statements; a place is before or after one."""
SAMPLED_PLACES = 6


@pytest.fixture
def settings(settings: Settings, outside: Outside) -> Settings:  # noqa: F811
    return settings.model_copy(update={"http_allowed_hosts": (outside.url.removeprefix("http://"),)})


def ask(prompt: str, node: str = "ask", **limits: Any) -> dict[str, Any]:
    return {"id": node, "type": "agent", "config": {"prompt": prompt}, **limits}


def only(region: str, node: str) -> dict[str, Any]:
    left, right = {"kind": "column", "name": "region"}, {"kind": "literal", "value": region}
    condition = {"kind": "compare", "op": "=", "left": left, "right": right}
    return {"id": node, "type": "filter", "config": {"condition": condition}}


@pytest.mark.usefixtures("worker")
async def test_an_agent_answers_about_its_input_and_later_nodes_take_its_table_and_words(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    keep = {"id": "keep", "type": "store", "config": {"name": "{{ask.rows}} regions"}}
    draw = {"id": "draw", "type": "chart", "config": {"kind": "bar", "title": "{{ask.answer}}"}}
    best = {"id": "best", "type": "top_k", "config": {"k": 1, "by": "amount"}}
    limit = ask("total amount by region where amount is at least {{best.rows}}")
    content = chain(read(dataset), best, limit, draw, keep)
    content["edges"].append({"from": "read", "to": "ask"})
    ended = await run(ada, await save(ada, content))
    assert ended["outcome"] == "succeeded", ended["nodes"]
    answer = ended["nodes"]["ask"]
    assert sorted(answer["preview"]) == [["north", 6], ["south", 12]], answer
    assert ended["nodes"]["keep"]["rows"] == 2
    chart = (await ada.http.get(f"/charts/{ended['charts']['draw']}")).json()
    assert chart["title"].strip() == answer["answer"].strip()[: len(chart["title"])]


@pytest.mark.usefixtures("worker")
async def test_words_that_rules_do_not_understand_fail_the_node_and_are_not_tried_again(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    prompts = {
        "rhyme": "write a poem about the sea",
        "learn": "predict amount",
        "greet": "hello",
        "send": "email me the total amount every day",
        "note": "write hello into the file notes.txt",
    }
    nodes = [ask(prompt, name, retries=1) for name, prompt in prompts.items()]
    content = {
        "name": "Prompts",
        "nodes": [read(dataset), *nodes],
        "edges": [{"from": "read", "to": node} for node in prompts],
    }
    ended = await run(ada, await save(ada, content))
    codes = {name: (node["code"], node["attempts"]) for name, node in ended["nodes"].items() if name in prompts}
    assert codes == dict.fromkeys(prompts, ("agent_not_understood", None)), ended["nodes"]
    assert "Without a chat model" in ended["nodes"]["rhyme"]["error"]
    assert "conversations only" in ended["nodes"]["learn"]["error"]


@pytest.mark.usefixtures("worker")
async def test_an_agent_reads_nothing_but_its_inputs_and_draws_its_chart(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)
    secret = await upload(ada, "wages", "person,wage\nAda,1\n")
    content = chain(read(dataset), only("north", "north"), ask("draw a bar chart of amount by day"))
    content["nodes"] += [{**read(secret), "id": "wages"}, ask("total wage by person", "pay")]
    content["edges"].append({"from": "north", "to": "pay"})
    ended = await run(ada, await save(ada, content))
    drawn, refused = ended["nodes"]["ask"], ended["nodes"]["pay"]
    assert (drawn["status"], drawn["rows"]) == ("done", 3), drawn
    chart = (await ada.http.get(f"/charts/{ended['charts']['ask']}")).json()
    assert "amount" in chart["title"], chart
    assert refused["code"] == "agent_not_understood", refused


async def test_a_node_that_asks_is_checked_before_it_is_saved(ada: User) -> None:
    dataset = await upload(ada, "sales", SALES)

    async def find_faults(*nodes: dict[str, Any]) -> list[tuple[str, str]]:
        content = chain(read(dataset), *nodes)
        del content["name"]
        checked = (await ada.http.post("/workflows/validate", json=content)).json()
        return [(fault["pointer"], fault["code"]) for fault in checked["faults"]]

    assert await find_faults(ask("total amount")) == []
    assert await find_faults(ask("  a ")) == [("/nodes/1/config/prompt", "wrong_config")]
    assert await find_faults(ask("more than {{amount}}")) == [("/nodes/1/config/prompt", "template_wrong")]
    assert await find_faults(ask("more than {{read.amuont}}")) == [("/nodes/1/config/prompt", "template_wrong")]
    after = {"id": "keep", "type": "store", "config": {"name": "{{ask.answer}}"}}
    assert await find_faults(ask("total amount"), after) == []
    each = {"id": "each", "type": "for_each", "config": {"column": "region", "nodes": [ask("total amount")]}}
    assert await find_faults(each) == [("/nodes/1/config/nodes/0/type", "wrong_inner_type")]
    types = {kind["type"]: kind for kind in (await ada.http.get("/workflow-schema")).json()}
    assert (types["agent"]["min_inputs"], types["agent"]["config"]["required"]) == (1, ["prompt"])


@pytest.mark.slow
async def test_an_agent_is_asked_once_whatever_statement_its_worker_dies_at(
    app: FastAPI,
    ada: User,
    outside: Outside,  # noqa: F811
    folder: Path,
) -> None:
    dataset = await upload(ada, "sales", SALES)
    text = "{{ask.answer}}"
    tell = {
        "id": "tell",
        "type": "notify",
        "config": {"channel": "slack", "to": f"{outside.url}/x", "text": text},
    }
    path = await save_sender(
        ada, outside, [read(dataset), ask("total amount by region"), tell], [("read", "ask"), ("ask", "tell")]
    )
    places, struck = choose_places(MAX_PLACE, SAMPLED_PLACES), 0
    database = app.state.resources.database
    for place in places:
        killed = await run_killed(app, ada, path, folder, place)
        struck += killed.is_struck
        node = killed.view["nodes"]["ask"]
        assert (node["status"], node["rows"]) == ("done", 2), (place, killed.view)
        counts = "select count(*), count(distinct key) from calls where session_id = $1 and kind = 'chat'"
        row = await database.row(counts, killed.id)
        assert row["count"] >= 2
        if not killed.has_asked:
            assert outside.messages[-1]["text"] == node["answer"]
    assert struck >= len(places) // 2
