"""Messages that come with others, with changes of their conversation, or again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from app.auth.stream_slots import StreamLimit
from app.db.pool import Database

from .conftest import User
from .test_chat_files import answer
from .test_workflow_nodes import chain, read, save, upload

TABLE = "city,people\nWien,1900\n"


async def post(user: User, **body: Any) -> httpx.Response:
    return await user.http.post("/chat", params={"wait": 0}, json={"message": "hello", **body})


@asynccontextmanager
async def concurrent(db: Database, change: str, *args: Any) -> AsyncIterator[None]:
    """Hold a change back, uncommitted, until a statement of the block waits for it."""
    async with db.dedicated_connection() as connection, hang_guard(), connection.transaction():
        await connection.execute(change, *args)
        yield
        while True:
            if await db.value("select count(*) from pg_locks where not granted"):
                break
            await asyncio.sleep(0.005)


async def test_a_stream_that_is_refused_leaves_no_turn(app: FastAPI, ada: User) -> None:
    db: Database = app.state.resources.database
    await db.rows("""update users set quotas = '{"sockets": 1}' where id = $1""", ada.id)
    await app.state.auth_services.revocations.announce(ada.id)
    limit = StreamLimit("streams of this user", str(ada.id), 1)
    async with app.state.auth_services.stream_slots.hold([limit]):
        refused = await ada.http.post("/chat/stream", json={"message": "hello"})
    assert refused.status_code == 429, refused.text
    assert await db.value("select count(*) from turns") == 0


async def test_a_conversation_goes_on_without_a_deleted_dataset(ada: User) -> None:
    first, second = [await upload(ada, name, TABLE) for name in ("first", "second")]
    begun = (await post(ada, dataset_ids=[first, second])).json()
    assert (await ada.http.delete(f"/datasets/{first}")).status_code == 204
    thread = {"thread_id": begun["thread_id"]}
    turn = await post(ada, **thread)
    assert turn.status_code == 202, turn.text
    assert turn.json()["dataset_ids"] == [second]
    assert (await ada.http.get(f"/threads/{begun['thread_id']}")).json()["dataset_ids"] == [second]
    refused = await post(ada, **thread, dataset_ids=[first])
    assert (refused.status_code, refused.json()["code"]) == (404, "dataset_not_found")


async def test_a_message_keeps_a_change_of_the_datasets_at_the_same_time(app: FastAPI, ada: User) -> None:
    first, second = [await upload(ada, name, TABLE) for name in ("first", "second")]
    begun = (await post(ada, dataset_ids=[first])).json()
    thread = {"thread_id": begun["thread_id"]}
    change = "update threads set dataset_ids = $1"
    async with concurrent(app.state.resources.database, change, [UUID(second)]):
        posted = asyncio.create_task(post(ada, **thread))
    turn = await posted
    assert turn.json()["dataset_ids"] == [second], turn.text
    assert (await ada.http.get(f"/threads/{begun['thread_id']}")).json()["dataset_ids"] == [second]


@pytest.mark.usefixtures("worker")
async def test_a_repeated_message_is_answered_with_its_turn_that_asked_and_has_ended(ada: User) -> None:
    dataset = await upload(ada, "cities", TABLE)
    for name in ("Weekly report", "Weekly churn report"):
        await save(ada, {**chain(read(dataset)), "name": name})
    request = {"json": {"message": "run my weekly workflow"}, "headers": {"Idempotency-Key": "one"}}
    asked = await ada.http.post("/chat", **request)
    assert (asked.status_code, asked.json()["status"]) == (202, "awaiting_user"), asked.text
    ended = await answer(ada, asked.json(), "Weekly churn report")
    repeated = await ada.http.post("/chat", **request)
    assert (repeated.status_code, repeated.json()) == (200, ended)
