"""Tables of a conversation that are changed in words, and changes that are taken back."""

from typing import Any

import pytest

from .conftest import User
from .test_threads import ask

pytestmark = pytest.mark.usefixtures("worker")
Json = dict[str, Any]
DELIVERIES = b"""delivery,depot,weight
1,North,2.5
2,South,
3,North,3.5
4,South,1.0
4,South,1.0
"""


async def talk(ada: User, *messages: str) -> list[Json]:
    """Send messages to one conversation about the deliveries."""
    turns: list[Json] = []
    uploaded = await ada.http.post("/datasets", files={"file": ("deliveries.csv", DELIVERIES)})
    for message in messages:
        place = {"thread_id": turns[-1]["thread_id"]} if turns else {"dataset_ids": [uploaded.json()["id"]]}
        turns.append(await ask(ada, message, **place))
    return turns


async def count_rows(turn: Json) -> int:
    return int(turn["table"]["rows"][0][-1])


async def test_changes_follow_each_other_and_are_taken_back_one_by_one(ada: User) -> None:
    question = "how many rows are there?"
    turns = await talk(
        ada,
        "remove duplicates",
        question,
        "drop rows with missing weight",
        question,
        "undo that",
        question,
        "undo",
        question,
    )
    assert turns[0]["text"].startswith("Kept the first of equal rows in deliveries. 4 of 5 rows are left.")
    assert [await count_rows(turn) for turn in turns[1::2]] == [4, 3, 4, 5]
    assert [change["kind"] for change in turns[4]["changes"]] == ["restored"]
    assert turns[6]["text"] == "deliveries is the dataset again."


async def test_what_is_made_of_an_answer_is_a_table_for_later_questions(ada: User) -> None:
    turns = await talk(
        ada,
        "fill missing weight with 0",
        "total weight by depot",
        "save this as depot_weights",
        "show depot_weights",
        "rename the column depot to site in depot_weights",
        "show depot_weights",
    )
    assert sorted(map(tuple, turns[3]["table"]["rows"])) == [("North", 6.0), ("South", 2.0)]
    assert turns[5]["table"]["columns"][0]["name"] == "site"


async def test_undo_of_an_answer_changes_no_table_and_no_workflow(ada: User) -> None:
    turns = await talk(ada, "total weight by depot", "only for the North", "undo that")
    assert turns[2]["table"]["row_count"] == 2
    assert turns[2]["changes"] == []


@pytest.mark.parametrize(
    ("message", "rows"),
    [("show deliveries", 5), ("show me 2 random rows", 2), ("a random sample of 1 delivery from the North", 1)],
)
async def test_rows_are_shown_as_they_are(ada: User, message: str, rows: int) -> None:
    [turn] = await talk(ada, message)
    assert turn["table"]["row_count"] == rows


@pytest.mark.parametrize(
    "message", ["what's in this table?", "describe deliveries", "tell me about this dataset"]
)
async def test_a_table_is_described_by_its_columns(ada: User, message: str) -> None:
    [turn] = await talk(ada, message)
    assert [row[0] for row in turn["table"]["rows"]] == ["delivery", "depot", "weight"]
