"""Jobs with a chat model: the tool that it calls is the lane, and where it fails rules go on."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from tests.scripted_chat import ScriptedChat, messages_of, serving

from app.agents.runtime.conversation import read_conversation
from app.settings import Settings
from app.tasks import cancel_and_wait
from app.worker.event_loop import WorkerServices

from .chatting import REAL, Json, chatting
from .conftest import User
from .test_agent_jobs import follow
from .test_workflow_runs import Outside, outside  # noqa: F401 - a fixture

pytestmark = [
    pytest.mark.usefixtures("worker", "flights"),
    pytest.mark.skipif(bool(REAL), reason="the calls are scripted"),
]
FLIGHTS = b"city,price\nBern,134\nThun,435\nBiel,556\nBern,90\n"
TOP = "show me the top 10 flights sorted by price"
DROP = "always send an email when the price drops"
NOTIFY = "add a notification step after processing"
ALERT = "if an error occurs then alert the ops team"
FETCH = "fetch the latest prices"
JOIN = "which of today's prices are in my table, and which two are the highest?"
CONTRARY = "show me the two cheapest ones from now on"
"""Words that rules take for data, and the script for a change."""
MAIL = {"id": "tell", "type": "notify", "config": {"channel": "email"}}


def add(node: Json, source: str | None) -> list[Json]:
    operations = [{"op": "add", "path": "/nodes/-", "value": node}]
    edge = {"from": source, "to": node["id"]}
    return [*operations, {"op": "add", "path": "/edges/-", "value": edge}] if source else operations


DROPS = {"id": "drops", "type": "condition", "config": {"function": "min", "column": "price", "op": "drops"}}
ALARM = {"id": "alarm", "type": "notify", "config": {"channel": "slack", "to": "ops", "when": "failed"}}
PATCHES = {
    DROP: [*add(DROPS, "best"), *add(MAIL, "drops")],
    NOTIFY: add(MAIL, "best"),
    ALERT: add(ALARM, None),
    CONTRARY: [{"op": "replace", "path": "/nodes/@best/config/k", "value": 2}],
}


class Script:
    """The words of the model. `url`: of the server of prices; `dataset_id`: of the table of flights."""

    url = ""
    dataset_id = ""

    def choose(self, asked: Json, _: int) -> AIMessage:
        view = read_conversation(messages_of(asked["messages"]))
        message = view.brief["message"]
        for tool in ("execute_sql", "execute_pipeline", "patch_workflow"):
            if view.last_success(tool):
                return AIMessage(f"Done by {tool}.")
        if message in PATCHES:
            # A refusal is corrected: the first call names a step that there is not.
            wrong = view.brief["message"] == NOTIFY and len(messages_of(asked["messages"])) < 4
            operations = add(MAIL, "processing") if wrong else PATCHES[message]
            return call("patch_workflow", workflow="current_workflow", operations=operations)
        if message in (FETCH, JOIN):
            request = {"type": "http_request", "config": {"url": f"{self.url}/flights", "records": "/flights"}}
            return call("execute_pipeline", steps=[request] if message == FETCH else self._join(view, request))
        (table,) = [table["table"] for table in view.brief["tables"]]
        return call("execute_sql", sql=f"SELECT * FROM {table} ORDER BY price DESC LIMIT 10")

    def _join(self, view: Any, request: Json) -> list[Json]:
        """Join what is fetched with the table of flights; without a name in `with` two tables would be left."""
        read = {"type": "read_dataset", "config": {"dataset_id": self.dataset_id}, "name": "flights"}
        on = {"on": [{"left": "price", "right": "price"}], "how": "anti"}
        if not view.refusals("execute_pipeline"):
            return [read, request]
        steps = [
            {"type": "join", "config": on, "with": "flights"},
            {"type": "top_k", "config": {"k": 2, "by": "price"}},
        ]
        return [read, request, *steps]


def call(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[tool_call(name=name, args=arguments, id=name)])


@pytest.fixture
def script(outside: Outside) -> Script:  # noqa: F811
    script = Script()
    script.url = outside.url
    return script


@pytest.fixture
def chat(script: Script) -> Iterator[ScriptedChat]:
    with serving(ScriptedChat(script.choose)) as chat:
        yield chat


@pytest.fixture
def settings(settings: Settings, chat: ScriptedChat, script: Script, tmp_path: Path) -> Settings:
    hosts = (script.url.removeprefix("http://"),)
    changes = {
        "http_allowed_hosts": hosts,
        "smtp_url": "smtp://127.0.0.1:1",
        "mail_sender": "lab@example.org",
    }
    return chatting(settings, chat, tmp_path, agent_max_retries=0).model_copy(update=changes)


@pytest.fixture
async def flights(ada: User, script: Script) -> Json:
    """A workflow over a table, and what the jobs may use."""
    uploaded = await ada.http.post("/datasets", files={"file": ("flights.csv", FLIGHTS)})
    assert uploaded.status_code == 201, uploaded.text
    script.dataset_id = uploaded.json()["id"]
    await ada.http.put("/request-hosts", json={"hosts": [script.url.removeprefix("http://")]})
    await ada.http.put("/secrets/ops", json={"value": f"{script.url}/hook"})
    nodes = [
        {"id": "flights", "type": "read_dataset", "config": {"dataset_id": uploaded.json()["id"]}},
        {"id": "best", "type": "top_k", "config": {"k": 10, "by": "price"}},
    ]
    return {"nodes": nodes, "edges": [{"from": "flights", "to": "best"}]}


async def send(user: User, prompt: str, **fields: Any) -> Json:
    answered = await user.http.post("/test/chat", json={"prompt": prompt, **fields})
    assert answered.status_code == 200, answered.text
    answer: Json = answered.json()["answer"]
    return answer


@pytest.mark.parametrize("prompt", [TOP, FETCH, JOIN])
async def test_what_the_model_computes_now_is_an_execution(ada: User, flights: Json, prompt: str) -> None:
    answer = await send(ada, prompt, current_workflow=flights)
    assert (answer["status"], answer["metadata"]["lane"]) == ("completed", "execute"), answer
    prices = [row[-1] for row in answer["result_preview"]["rows"]]
    assert prices == {TOP: [556, 435, 134, 90], FETCH: [400, 120, 80], JOIN: [400, 120]}[prompt]
    assert answer["result_ref"].startswith("artifact://")
    # The scripted server says that half of what it read was cached.
    assert (answer["metadata"]["cache_hit"], answer["metadata"]["cached_tokens"] > 0) == (True, True)


@pytest.mark.parametrize("prompt", PATCHES)
async def test_what_the_model_patches_is_a_lasting_change(ada: User, flights: Json, prompt: str) -> None:
    answer = await send(ada, prompt, current_workflow=flights)
    assert (answer["status"], answer["metadata"]["lane"]) == ("completed", "patch"), answer
    preview = answer["result_preview"]
    assert preview["text"] == "Done by patch_workflow."
    operations = PATCHES[prompt]
    added = [operation["value"] for operation in operations if operation["path"] == "/nodes/-"]
    nodes = preview["workflow"]["nodes"]
    assert [node for node in nodes if node["id"] not in ("flights", "best")] == added
    assert (nodes[1]["config"]["k"], "faults" in preview) == (2 if prompt == CONTRARY else 10, False)
    assert preview["patch"]
    assert preview["difference"]
    assert (await ada.http.get("/workflows")).json()["items"] == []


@pytest.mark.parametrize("saves", [False, True])
async def test_a_patch_of_a_saved_workflow_is_a_proposal_unless_the_job_saves(
    ada: User, flights: Json, services: WorkerServices, saves: bool
) -> None:
    assert services.job_sweep is not None
    saved = (await ada.http.post("/workflows", json={"name": "Best", **flights})).json()
    message = {"version": "1.0", "job_id": "m-1", "prompt": NOTIFY, "workflow_tag": "Best", "save": saves}
    assert (await ada.http.post("/agent/jobs", json=message)).status_code == 201
    tasks = [asyncio.create_task(work) for work in services.job_sweep.background()]
    answer = (await follow(ada, "m-1"))["answer"]
    await cancel_and_wait(*tasks)
    assert answer["status"] == ("completed" if saves else "needs_input"), answer
    proposals = (await ada.http.get(f"/workflows/{saved['id']}/proposals")).json()
    assert [proposal["status"] for proposal in proposals] == ["accepted" if saves else "open"]
    now = (await ada.http.get(f"/workflows/{saved['id']}")).json()
    assert (now["version"], len(now["document"]["nodes"])) == ((2, 3) if saves else (1, 2))


async def test_rules_go_on_where_the_model_fails(ada: User, flights: Json, chat: ScriptedChat) -> None:
    chat.agent_faults = ["500"] * 100
    answer = await send(ada, "change the limit to 3", current_workflow=flights)
    assert (answer["status"], answer["metadata"]["lane"]) == ("completed", "patch"), answer
    assert answer["result_preview"]["workflow"]["nodes"][1]["config"]["k"] == 3
    answer = await send(ada, "what is the mean price by city?", current_workflow=flights)
    assert (answer["metadata"]["lane"], answer["metadata"]["cache_hit"]) == ("execute", False), answer
    assert sorted(answer["result_preview"]["rows"]) == [["Bern", 112], ["Biel", 556], ["Thun", 435]]
