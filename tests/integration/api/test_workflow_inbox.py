"""Runs of workflows that their owner has to look at, until they are seen or a later run is good."""

import json
from typing import Any
from uuid import uuid4

from fastapi import FastAPI

from .conftest import User
from .test_sessions import sql
from .test_workflow_overviews import run, save

BROKEN = {"status": "failed", "error": "The server answers with status 500."}
UNSENT = {"status": "unknown", "error": "It is not known whether it was sent."}
DOUBTED = {"status": "done", "notes": ["Attempt 1 failed: late", "3 rows: outside"], "needs_review": True}
SKIPPED = {"status": "skipped", "notes": ["cities -> few needs rows <= 3, and it is 4."]}
GOOD = {"status": "done", "notes": []}


async def end(app: FastAPI, run_id: str, **nodes: dict[str, Any]) -> None:
    """End a run by what its nodes came to."""
    failed = any(node["status"] in ("failed", "unknown") for node in nodes.values())
    result = {"end": "failed" if failed else "returned", "nodes": nodes}
    await sql(
        app,
        "update sessions set status = 'completed', ended_at = now(), result = $2::json where id = $1::uuid",
        run_id,
        json.dumps(result),
    )


async def read_inbox(user: User) -> list[tuple[str, str, str]]:
    answer = await user.http.get("/workflow-runs", params={"status": "needs_review"})
    assert answer.status_code == 200, answer.text
    return [(one["id"], one["status"], one["reason"]) for one in answer.json()]


async def test_a_failed_run_stands_in_the_inbox_until_a_later_run_is_good(
    app: FastAPI, ada: User, eve: User
) -> None:
    workflow = await save(ada, "flights")
    first = await run(ada, workflow)
    assert await read_inbox(ada) == []
    await end(app, first, read=GOOD, flights=BROKEN, tell=SKIPPED)
    assert await read_inbox(ada) == [(first, "failed", "flights: The server answers with status 500.")]
    assert await read_inbox(eve) == []
    # Of a workflow that fails again and again, one run is listed: the newest.
    second = await run(ada, workflow)
    assert [one[0] for one in await read_inbox(ada)] == [first]
    await end(app, second, tell=UNSENT)
    assert await read_inbox(ada) == [(second, "failed", "tell: It is not known whether it was sent.")]
    # One that was cancelled mends nothing, and a good one mends all before it.
    third = await run(ada, workflow)
    await sql(app, "update sessions set status = 'cancelled', ended_at = now() where id = $1::uuid", third)
    assert [one[0] for one in await read_inbox(ada)] == [second]
    await end(app, await run(ada, workflow), flights=GOOD, tell=SKIPPED)
    assert await read_inbox(ada) == []


async def test_what_was_seen_comes_back_with_the_next_failure_only(app: FastAPI, ada: User, eve: User) -> None:
    other = await save(ada, "other")
    await end(app, await run(ada, other), flights=BROKEN)
    workflow = await save(ada, "flights")
    former, newest = [await run(ada, workflow) for _ in range(2)]
    await end(app, former, flights=BROKEN)
    await end(app, newest, flights=BROKEN)

    async def see(user: User, run_id: str) -> int:
        return (await user.http.post(f"/workflow-runs/{run_id}/seen")).status_code

    assert await see(eve, newest) == 404
    assert await see(ada, str(uuid4())) == 404
    # Who has seen an earlier run has not seen this one.
    assert await see(ada, former) == 204
    assert (await read_inbox(ada))[0][0] == newest
    assert await see(ada, newest) == 204
    assert await see(ada, former) == 204
    assert len(await read_inbox(ada)) == 1, "the other workflow's"
    again = await run(ada, workflow)
    await sql(
        app,
        "update sessions set status = 'failed', ended_at = now(), error = $2::jsonb where id = $1::uuid",
        again,
        json.dumps({"code": "crashed", "detail": "It crashed three times."}),
    )
    assert (await read_inbox(ada))[0] == (again, "failed", "It crashed three times.")


async def test_a_run_that_left_a_doubt_is_listed_with_its_warning(app: FastAPI, ada: User) -> None:
    workflow = await save(ada, "predictions")
    doubted = await run(ada, workflow)
    await end(app, doubted, read=SKIPPED, guess=DOUBTED)
    assert await read_inbox(ada) == [(doubted, "succeeded", "guess: 3 rows: outside")]
    assert (await ada.http.delete(f"/workflows/{workflow}")).status_code == 204
    assert await read_inbox(ada) == []
    assert (await ada.http.post(f"/workflow-runs/{doubted}/seen")).status_code == 204


async def test_runs_to_look_at_are_read_page_by_page(app: FastAPI, ada: User) -> None:
    ended = [await run(ada, await save(ada, f"flow {number}")) for number in range(3)]
    for run_id in ended:
        await end(app, run_id, flights=BROKEN)
    pages = [
        (
            await ada.http.get(
                "/workflow-runs", params={"status": "needs_review", "limit": 2, "offset": offset}
            )
        ).json()
        for offset in (0, 2)
    ]
    assert [[one["id"] for one in page] for page in pages] == [ended[:0:-1], ended[:1]]
