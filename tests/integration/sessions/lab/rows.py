"""Expected rows of a session when every effect happened once."""

import json
from typing import Any
from uuid import UUID

from tests.integration.sessions.lab.graph import NODES

from app.db.pool import Database

WORKING = [name for name in NODES if name not in ("asking", "training")]


async def effects(db: Database, session_id: UUID) -> dict[str, Any]:
    """Everything that the session left, without times, ids and fences."""
    rows = db.rows
    return {
        "steps": [(r["seq"], r["node"], r["update"]) for r in await rows(_STEPS, session_id)],
        "calls": [(r["seq"], r["key"], r["result"]) for r in await rows(_CALLS, session_id)],
        "artifacts": [(r["seq"], r["call_key"], r["name"]) for r in await rows(_ARTIFACTS, session_id)],
        "messages": [(r["role"], r["text"]) for r in await rows(_MESSAGES, session_id)],
        "fits": [(r["candidate"], r["status"]) for r in await rows(_FITS, session_id)],
        "events": sorted(_shape(json.loads(r["body"])) for r in await rows(_EVENTS, session_id)),
    }


async def assert_numbered(db: Database, session_id: UUID) -> None:
    """Events are numbered from 1 without a gap, and the last one ends the session."""
    events = await db.rows(_EVENTS, session_id)
    row = await db.row("select event_seq, last_seq from sessions where id = $1", session_id)
    assert row
    assert [event["n"] for event in events] == list(range(1, row["event_seq"] + 1))
    assert events[0]["kind"] == "session_started"
    assert events[-1]["kind"] in ("session_finished", "session_failed", "session_cancelled")
    steps = await db.rows(_STEPS, session_id)
    assert [step["seq"] for step in steps] == list(range(1, row["last_seq"] + 1))


async def assert_all_once(db: Database, session_id: UUID, like: dict[str, Any]) -> None:
    """The session completed, and left just what one that nothing happened to left."""
    row = await db.row("select status, error, result from sessions where id = $1", session_id)
    assert row
    assert row["status"] == "completed", row["error"]
    await assert_numbered(db, session_id)
    actual = await effects(db, session_id)
    for kind, expected in like.items():
        assert actual[kind] == expected, kind
    recorded = [entry for step in actual["steps"] for entry in json.loads(step[2]).get("log", [])]
    assert json.loads(row["result"])["log"] == recorded


def _shape(event: dict[str, Any]) -> str:
    """An event without what differs from run to run."""
    for name in ("duration_ms", "artifact"):
        event.pop(name, None)
    return json.dumps(event, sort_keys=True)


_STEPS = "select seq, node, update from steps where session_id = $1 order by seq"
_CALLS = "select seq, key, result from calls where session_id = $1 order by seq, key"
_ARTIFACTS = "select seq, call_key, name from artifacts where session_id = $1 order by seq, call_key, name"
_MESSAGES = "select role, text from messages where session_id = $1 order by seq, n"
_FITS = "select candidate, status from fits where session_id = $1 order by candidate"
_EVENTS = "select n, kind, body from events where session_id = $1 order by n"
