"""Looks at the hold-out of a family: numbered once each, and kept while the family has a member."""

import asyncio
from uuid import UUID

from tests.integration.sessions.conftest import Lab

from app.sessions.holdout_looks import AFTER_END, HoldoutLooks, LookKind

END = "update sessions set status = 'completed', ended_at = now() where id = $1"
COUNT = "select count(*) as n from holdout_looks where family_id = $1"


async def member(lab: Lab, family: UUID | None = None) -> UUID:
    session_id = await lab.create(send=False)
    if family is not None:
        await lab.db.rows(
            "update sessions set family_id = $2, forked_from = $2, created_at = clock_timestamp() "
            "where id = $1",
            session_id,
            family,
        )
    await lab.db.rows(END, session_id)
    return session_id


async def look(lab: Lab, session_id: UUID, step: int = 8, kind: LookKind = LookKind.FINAL) -> int:
    counted = await HoldoutLooks(lab.db).count(session_id, step, kind)
    assert counted
    return int(counted["number"])


async def test_forks_that_look_at_once_get_different_numbers(lab: Lab) -> None:
    root = await member(lab)
    forks = [await member(lab, root) for _ in range(7)]
    numbers = await asyncio.gather(*(look(lab, session_id) for session_id in (root, *forks)))
    assert sorted(numbers) == list(range(1, 9))
    again = await asyncio.gather(*(look(lab, session_id) for session_id in (root, *forks)))
    assert again == numbers


async def test_each_kind_counts_once_for_a_session(lab: Lab) -> None:
    root = await member(lab)
    kinds = (LookKind.FRAME, LookKind.DOWNLOAD, LookKind.PREDICT)
    assert await look(lab, root) == 1
    numbers = [await look(lab, root, AFTER_END, kind) for kind in kinds for _ in range(2)]
    assert numbers == [2, 2, 3, 3, 4, 4]
    assert await look(lab, await member(lab)) == 1


async def test_deleted_members_still_count_until_the_last_is_gone(lab: Lab) -> None:
    root = await member(lab)
    await look(lab, root)
    fork = await member(lab, root)
    assert await look(lab, fork) == 2
    for gone in (root, fork):
        later = await member(lab, root) if gone == root else None
        await lab.db.rows("select delete_sessions(array[$1::uuid])", gone)
        if later:
            assert await look(lab, later) == 3
    row = await lab.db.row(COUNT, root)
    assert row
    assert row["n"] == 3
    assert later is None
    last = await lab.db.row("select id from sessions where family_id = $1", root)
    assert last
    await lab.db.rows("select delete_sessions(array[$1::uuid])", last["id"])
    row = await lab.db.row(COUNT, root)
    assert row
    assert row["n"] == 0
    assert await HoldoutLooks(lab.db).count(root, 1, LookKind.FINAL) is None


async def test_forks_that_began_after_a_look_are_counted(lab: Lab) -> None:
    root = await member(lab)
    before = await member(lab, root)
    await look(lab, root)
    after = await member(lab, root)
    counted = await HoldoutLooks(lab.db).count(after, 8, LookKind.FINAL)
    assert counted
    assert (counted["number"], counted["forks_after_look"], counted["siblings"]) == (2, 1, [])
    assert await look(lab, before) == 3
