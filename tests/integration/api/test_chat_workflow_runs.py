"""Saved workflows that are run from a conversation: by name, by `it`, with what their runs ask."""

from typing import Any

import pytest

from .conftest import User
from .test_chat_files import answer
from .test_threads import ask
from .test_workflow_nodes import chain, read, save, upload

pytestmark = pytest.mark.usefixtures("worker")
CITIES = "city,people\nWien,1900\nGraz,290\nBern,133\n"


async def save_as(user: User, name: str, *nodes: dict[str, Any]) -> str:
    return await save(user, {**chain(*nodes), "name": name})


async def test_a_saved_workflow_is_run_by_its_name_and_its_result_is_shown(ada: User) -> None:
    dataset = await upload(ada, "cities", CITIES)
    best = {"id": "best", "type": "top_k", "config": {"k": 2, "by": "people"}}
    await save_as(ada, "Weekly report", read(dataset), best)
    await save_as(ada, "Weekly churn report", read(dataset))

    ran = await ask(ada, "run my weekly report workflow")
    assert ran["status"] == "succeeded", ran
    assert ran["table"]["rows"] == [["Wien", 1900], ["Graz", 290]], ran
    assert ran["text"].splitlines()[0] == (
        "The workflow 'Weekly report', version 1, has run. Its table is `weekly_report` from now on."
    )
    run = (await ada.http.get(f"/workflow-runs/{ran['run']['id']}")).json()
    assert (run["outcome"], run["trigger"]) == ("succeeded", "conversation"), run
    thread = {"thread_id": ran["thread_id"]}
    counted = await ask(ada, "how many cities are in weekly_report", **thread)
    assert counted["table"]["rows"] == [[2]], counted
    again = await ask(ada, "run the workflow again", **thread)
    assert again["run"]["name"] == "Weekly report"
    assert again["run"]["id"] != ran["run"]["id"]

    which = await ask(ada, "run my weekly workflow", **thread)
    assert which["question"]["options"] == ["Weekly churn report", "Weekly report"], which
    chosen = await answer(ada, which, "Weekly churn report")
    assert (chosen["run"]["name"], chosen["table"]["row_count"]) == ("Weekly churn report", 3), chosen


async def test_what_a_run_asks_is_answered_in_the_conversation(ada: User) -> None:
    dataset = await upload(ada, "cities", CITIES)
    gate = {"id": "gate", "type": "approve", "config": {"text": "Keep these?"}}
    keep = {"id": "keep", "type": "store", "config": {"name": "kept"}}
    await save_as(ada, "Gated", read(dataset), gate, keep)
    asked = await ask(ada, "run Gated now")
    assert asked["text"].endswith("asks: Keep these? Answer `approve` or `reject`."), asked
    assert asked["table"] is None
    ended = await ask(ada, "yes", thread_id=asked["thread_id"])
    assert ended["run"]["id"] == asked["run"]["id"], ended
    assert "**keep**: 3 rows" in ended["text"], ended
    broken = {"id": "broken", "type": "python", "config": {"code": "1 / 0"}}
    await save_as(ada, "Broken", read(dataset), broken)
    failed = await ask(ada, "run the broken workflow", thread_id=asked["thread_id"])
    assert "has failed." in failed["text"], failed
    assert "ZeroDivisionError" in failed["text"], failed
    again = await ask(ada, "retry it", thread_id=asked["thread_id"])
    assert again["run"]["id"] != failed["run"]["id"], again
    run = (await ada.http.get(f"/workflow-runs/{again['run']['id']}")).json()
    assert run["retried"] == {"id": failed["run"]["id"], "node": "broken"}, run
