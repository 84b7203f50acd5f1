"""Conversations of `labcrew eval chat` about tables that packages ship, over the real API."""

import pytest

from app.cli.scoring.conversations import ConversationItem, TurnOutcome, find_turn_misses
from app.cli.scoring.suite import read_suite

from .conftest import User
from .test_threads import ask

SUITE = read_suite("chat")
CONVERSATIONS = [
    item
    for item in SUITE.items
    if isinstance(item, ConversationItem) and item.tables and all(":" in name for name in item.tables)
]
TABLES = {name: (path.name, path.read_bytes()) for name, path in SUITE.files.items()}


def test_the_suite_has_conversations_about_tables_of_packages() -> None:
    assert len(CONVERSATIONS) >= 6


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda item: item.id)
async def test_a_conversation_is_answered_as_expected(ada: User, conversation: ConversationItem) -> None:
    datasets = [await upload(ada, *TABLES[name]) for name in conversation.tables]
    place: dict[str, object] = {"dataset_ids": datasets}
    for turn in conversation.turns:
        view = await ask(ada, turn.message, **place)
        place = {"thread_id": view["thread_id"]}
        assert (turn.message, find_turn_misses(turn.expect, TurnOutcome.read(view))) == (turn.message, [])


async def upload(user: User, name: str, content: bytes) -> str:
    answer = await user.http.post("/datasets", files={"file": (name, content)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])
