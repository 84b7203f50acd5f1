"""Forks of sessions of the lab: copied rows, killed workers, deletion, a backup."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.integration.sessions.conftest import Lab
from tests.integration.sessions.lab.graph import NODES
from tests.integration.sessions.lab.rows import effects

from app import jobs
from app.cli.administration.backup_folder import back_up, bring_back
from app.db.pool import Database
from app.errors import Conflict, NotFound, TooMany
from app.jobs import SendJob
from app.sessions.config import SessionsConfig
from app.sessions.forks.schemas import ForkChange, ForkCreate, ForkPoint
from app.sessions.forks.service import ForkService
from app.sessions.forks.source import ForkEffect, ForkRules

RULES = ForkRules(lambda source, change: ForkEffect(source.preferences), lambda source: False)
COMPARED = ("steps", "calls", "artifacts", "messages")
QUESTION = "2.target"
POINTS = [*({"step": step} for step in range(1, len(NODES) + 1)), {"question": QUESTION}]


def forks_of(lab: Lab, send_job: SendJob | None = None, config: SessionsConfig | None = None) -> ForkService:
    return ForkService(lab.db, send_job or lab.service.send_job, config or SessionsConfig(), RULES)


async def fork(lab: Lab, source: UUID, at: dict[str, Any], **change: Any) -> UUID:
    if "question" in at:
        change = {"answer": "b", **change}
    request = ForkCreate(at=ForkPoint(**at), change=ForkChange(**change))
    return (await forks_of(lab).fork(lab.owner, source, request)).id


async def completed(lab: Lab, **preferences: Any) -> UUID:
    source = await lab.create(ask=True, fits=2, **preferences)
    await lab.answer(source)
    await lab.ended(source)
    return source


def asks_again(at: dict[str, Any]) -> bool:
    return int(at.get("step", len(NODES))) <= 2


async def left(db: Database, session_id: UUID) -> dict[str, Any]:
    recorded = await effects(db, session_id)
    return {kind: recorded[kind] for kind in COMPARED}


async def check_whole(lab: Lab, session_id: UUID, like: dict[str, Any]) -> None:
    """The fork completed, left what its source left, and its own events are numbered without gaps."""
    row = await lab.ended(session_id)
    assert row["status"] == "completed", row["error"]
    assert await left(lab.db, session_id) == like
    events = await lab.db.rows("select n, kind from events where session_id = $1 order by n", session_id)
    assert [event["n"] for event in events] == list(range(1, row["event_seq"] + 1))
    assert (events[0]["kind"], events[-1]["kind"]) == ("session_forked", "session_finished")


@pytest.mark.parametrize("at", POINTS, ids=str)
async def test_a_fork_without_a_change_leaves_what_its_source_left(lab: Lab, at: dict[str, Any]) -> None:
    lab.start_worker()
    source = await completed(lab)
    like = await left(lab.db, source)
    first = await fork(lab, source, at)
    if asks_again(at):
        await lab.answer(first)
    await check_whole(lab, first, like)
    second = await fork(lab, first, at)
    if asks_again(at):
        await lab.answer(second)
    await check_whole(lab, second, like)
    assert await left(lab.db, source) == like
    row = await lab.session(second)
    assert (row["forked_from"], row["family_id"]) == (first, source)
    assert (row["inherited_s"] > 0) == (at != {"step": 1})


async def test_a_fork_survives_a_kill_at_every_statement_of_its_run(lab: Lab) -> None:
    for _ in range(2):
        lab.start_worker()
    source = await completed(lab, seed=1)
    like = await left(lab.db, source)
    statements = (lab.folder / f"count-{source}").stat().st_size
    for place in range(2, 2 * statements + 2):
        unsent: list[jobs.Job] = []
        request = ForkCreate(at=ForkPoint(question=QUESTION), change=ForkChange(answer="b"))
        copy = (await forks_of(lab, unsent.append).fork(lab.owner, source, request)).id
        await lab.db.rows("update sessions set seed = $2 where id = $1", copy, place)
        lab.send(jobs.advance_job(copy))
        mark = lab.folder / f"struck-{copy}"

        def is_struck_or_ended(row: Any, mark: Path = mark) -> bool:
            return mark.exists() or row["ended_at"] is not None

        await lab.until(copy, is_struck_or_ended)
        if mark.exists():
            await lab.lapse()
            lab.send(jobs.advance_job(copy))
        else:  # it has sent fewer statements than its source
            break
        await check_whole(lab, copy, like)
    assert len(list(lab.folder.glob("struck-*"))) >= 10


async def test_deleting_or_forgetting_the_source_leaves_the_fork_whole(lab: Lab) -> None:
    worker = lab.start_worker()
    source = await completed(lab)
    like = await left(lab.db, source)
    await worker.end()
    one, two = await fork(lab, source, {"step": 4}), await fork(lab, source, {"step": 5})
    await lab.db.rows("select forget_part($1, 'journal')", source)
    with pytest.raises(Conflict, match="retention time"):
        await fork(lab, source, {"step": 4})
    await lab.db.rows("select delete_sessions(array[$1::uuid])", source)
    with pytest.raises(NotFound):
        await fork(lab, source, {"step": 4})
    lab.start_worker()
    await check_whole(lab, one, like)
    await lab.ended(two)
    await lab.db.rows("select delete_sessions(array[$1::uuid])", two)
    assert await left(lab.db, one) == like


async def test_deleting_or_forgetting_a_fork_leaves_its_source_whole(lab: Lab) -> None:
    lab.start_worker()
    source = await completed(lab)
    like = await left(lab.db, source)
    for statement in ("select forget_part($1, 'journal')", "select delete_sessions(array[$1::uuid])"):
        gone = await fork(lab, source, {"step": 4})
        await check_whole(lab, gone, like)
        await lab.db.rows(statement, gone)
        assert await left(lab.db, source) == like
    await check_whole(lab, await fork(lab, source, {"step": 4}), like)


async def test_a_fork_goes_on_in_a_restored_database(lab: Lab, empty_database_url: str, tmp_path: Path) -> None:
    worker = lab.start_worker()
    source = await completed(lab)
    like = await left(lab.db, source)
    await worker.end()
    copy = await fork(lab, source, {"step": 4})
    place, _ = await back_up(tmp_path / "backups", lab.database_url, None)
    await lab.redis.flushdb()
    await bring_back(place, empty_database_url, None, print)
    db = await Database.open(empty_database_url, size=2)
    try:
        folder = tmp_path / "elsewhere"
        await asyncio.to_thread(folder.mkdir)
        restored = Lab(
            lab.nursery,
            empty_database_url,
            lab.redis_url,
            folder,
            db,
            lab.redis,
            lab.service,
            lab.owner,
            lab.workers,
        )
        restored.start_worker()
        await check_whole(restored, copy, like)
    finally:
        await db.close()


async def test_a_fork_needs_room_in_the_quota_of_its_owner(lab: Lab) -> None:
    source = await lab.create(send=False)
    request = ForkCreate(at=ForkPoint(step=1))
    with pytest.raises(TooMany, match="1 sessions"):
        await forks_of(lab, config=SessionsConfig(max_live_per_owner=1)).fork(lab.owner, source, request)


async def test_two_forks_at_once_are_two_sessions(lab: Lab) -> None:
    lab.start_worker()
    source = await completed(lab)
    copies = await asyncio.gather(*(fork(lab, source, {"step": 5}) for _ in range(4)))
    assert len(set(copies)) == 4
    like = await left(lab.db, source)
    for copy in copies:
        await check_whole(lab, copy, like)
