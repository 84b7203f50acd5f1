"""What a session's tools may open: datasets by name, frames by name, and never the hold-out's rows."""

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest

from app.artifacts.session_workspace import SessionWorkspace
from app.datasets.session_datasets import SessionDatasets
from app.db.engine import create_engine
from app.db.tables import ArtifactRow, DatasetRow, SessionRow, UserRow
from app.db.unit_of_work import OpenUnitOfWork, unit_of_work
from app.errors import ToolRefused
from app.storage.folder import FolderBlobs
from app.tools.data.sql_tables import list_queryable_tables

OWNER, SESSION = uuid4(), uuid4()
FIRST, SECOND, FOREIGN = uuid4(), uuid4(), uuid4()


@pytest.fixture
async def open_uow(database_url: str) -> AsyncIterator[OpenUnitOfWork]:
    engine = create_engine(database_url)
    open_uow = unit_of_work(engine, lambda job: None)
    stranger = uuid4()
    async with open_uow() as uow:
        for user in (OWNER, stranger):
            uow.db.add(UserRow(id=user, email=f"{user}@example.com", password_hash="x", role="user"))
        await uow.db.flush()
        uow.db.add(
            SessionRow(id=SESSION, owner_id=OWNER, goal="g", preferences={}, dataset_ids=[FIRST], seed=1)
        )
        uow.db.add_all(
            [
                dataset(FIRST, OWNER, "Sales"),
                dataset(SECOND, OWNER, "sales"),
                dataset(FOREIGN, stranger, "Other"),
            ]
        )
    yield open_uow
    await engine.dispose()


def dataset(id_: UUID, owner: UUID, name: str) -> DatasetRow:
    return DatasetRow(
        id=id_,
        owner_id=owner,
        name=name,
        filename=f"{name}.csv",
        source_digest="0" * 64,
        source_size_bytes=1,
        digest=id_.hex * 2,
        size_bytes=1,
        rows=1,
        columns=[{"name": "a", "type": "integer"}],
        format={},
        profile={},
    )


async def keep(open_uow: OpenUnitOfWork, seq: int, kind: str, name: str, digest: str) -> None:
    async with open_uow() as uow:
        uow.db.add(
            ArtifactRow(
                owner_id=OWNER,
                session_id=SESSION,
                seq=seq,
                call_key=digest,
                kind=kind,
                name=name,
                media_type="x",
                digest=digest,
                size_bytes=1,
                meta={},
            )
        )


async def test_a_shelf_has_the_sessions_datasets_with_unique_tables(open_uow: OpenUnitOfWork) -> None:
    shelf = SessionDatasets(open_uow, OWNER, [SECOND, FIRST, FOREIGN, uuid4()])
    assert [(ref.id, ref.table) for ref in await shelf.list()] == [(SECOND, "sales"), (FIRST, "sales_2")]
    assert (await shelf.get("SALES_2")).id == FIRST
    assert (await shelf.get(str(FIRST))).id == FIRST
    with pytest.raises(ToolRefused, match="Did you mean sales"):
        await shelf.get("sale")
    with pytest.raises(ToolRefused):
        await shelf.get(str(FOREIGN))


async def test_the_newest_frame_of_a_name_counts(open_uow: OpenUnitOfWork, blob_store: FolderBlobs) -> None:
    workspace = SessionWorkspace(open_uow, blob_store, OWNER, SESSION)
    await keep(open_uow, 2, "frame", "data", "a1")
    await keep(open_uow, 3, "frame", "data", "a2")
    await keep(open_uow, 3, "model", "ridge", "m1")
    assert (await workspace.frame("data")).digest == "a2"
    assert [ref.digest for ref in await workspace.frames()] == ["a2"]
    assert (await workspace.artifact("model", "ridge")).digest == "m1"
    with pytest.raises(ToolRefused, match="Did you mean data"):
        await workspace.frame("date")


async def test_after_the_split_only_training_rows_can_be_opened(
    open_uow: OpenUnitOfWork, blob_store: FolderBlobs
) -> None:
    workspace, shelf = (
        SessionWorkspace(open_uow, blob_store, OWNER, SESSION),
        SessionDatasets(open_uow, OWNER, [FIRST]),
    )
    await keep(open_uow, 2, "frame", "data", "all")
    assert await list_queryable_tables(shelf, workspace) == {"sales": FIRST.hex * 2, "data": "all"}
    await keep(open_uow, 3, "frame", "train", "tr")
    await keep(open_uow, 3, "holdout", "holdout", "ho")
    assert await workspace.is_split()
    assert [ref.name for ref in await workspace.frames()] == ["train"]
    with pytest.raises(ToolRefused):
        await workspace.frame("data")
    with pytest.raises(ToolRefused):
        await workspace.frame("holdout")
    await keep(open_uow, 4, "frame", "features", "fe")
    assert await list_queryable_tables(shelf, workspace) == {"train": "tr", "features": "fe"}
    assert (await workspace.artifact("holdout", "holdout")).digest == "ho"


async def test_a_workspace_of_somebody_else_is_empty(open_uow: OpenUnitOfWork, blob_store: FolderBlobs) -> None:
    await keep(open_uow, 2, "frame", "data", "all")
    assert await SessionWorkspace(open_uow, blob_store, uuid4(), SESSION).frames() == []


async def test_files_are_read_by_name_and_those_with_holdout_rows_are_closed(
    open_uow: OpenUnitOfWork, blob_store: FolderBlobs
) -> None:
    workspace = SessionWorkspace(open_uow, blob_store, OWNER, SESSION)
    early, late = await workspace.put(b"rows of all"), await workspace.put(b"notes")
    await keep(open_uow, 2, "text", "early.md", early.digest)
    await keep(open_uow, 3, "holdout", "holdout", "ho")
    await keep(open_uow, 4, "text", "notes.md", late.digest)
    await keep(open_uow, 4, "report", "report.html", "re")
    assert [file.name for file in await workspace.files()] == ["notes.md"]
    assert await workspace.read(await workspace.file("notes.md")) == b"notes"
    with pytest.raises(ToolRefused, match=r"Did you mean notes\.md"):
        await workspace.file("note.md")
    with pytest.raises(ToolRefused):
        await workspace.file("early.md")
