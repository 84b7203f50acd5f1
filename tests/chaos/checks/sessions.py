"""Checks of sessions: work against records, events of clients against rows, and how sessions ended."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tests.chaos.checks.rows import Verdict
from tests.chaos.client import Client
from tests.chaos.work_log import WorkEntry

from app.db.pool import Database
from app.sessions.events.serialization import make_event_message

_CALLS = """
select c.session_id::text as session, c.seq, c.key, c.fence from calls c
join sessions s on s.id = c.session_id where s.graph = 'lab' and c.kind = 'tool'
"""
_EVENTS = "select n, at, kind, body from events where session_id = $1 order by n"
_STANDING = "select id::text as id, status, error, cancel, graph from sessions"


async def judge_work(db: Database, entries: Iterable[WorkEntry]) -> tuple[list[Verdict], int]:
    """Check that the worker that recorded a call did its work once, and no later one did it again.

    Also returns how often work was begun again because it had not been recorded.
    """
    starts = Counter(
        (entry.session, entry.seq, entry.key, entry.fence) for entry in entries if entry.kind == "begin"
    )
    recorded = {(row["session"], row["seq"], row["key"]): row["fence"] for row in await db.rows(_CALLS)}
    wrong = [f"{key}: recorded, but nobody did it" for key in recorded if not starts[*key, recorded[key]]]
    again = 0
    for (session, seq, key, fence), times in starts.items():
        by = recorded.get((session, seq, key))
        if by is not None and (fence > by or (fence == by and times > 1)):
            wrong.append(f"{session} {seq} {key}: recorded by {by}, done {times} times by {fence}")
        again += times if by is not None and fence != by else 0
    return [Verdict("what is recorded is not done again", wrong)], again


async def judge_events(db: Database, clients: Sequence[Client]) -> list[Verdict]:
    wrong, order = [], []
    for client in clients:
        order += [f"{client.session}: {what}" for what in client.wrong]
        rows = await db.rows(_EVENTS, client.session)
        stored_bodies = [
            json.loads(make_event_message(row["n"], row["at"], row["kind"], row["body"]).data) for row in rows
        ]
        wrong += _differences(client, stored_bodies)
    return [
        Verdict("clients see each event once and in order", order),
        Verdict("clients see just the events that are written", wrong),
    ]


def _differences(client: Client, stored_bodies: Sequence[dict[str, Any]]) -> list[str]:
    received = [event.body for event in client.events]
    if len(received) != len(stored_bodies):
        return [f"{client.session}: saw {len(received)} of {len(stored_bodies)} events"]
    pairs = zip(received, stored_bodies, strict=True)
    return [
        f"{client.session}: saw {received_body} for {stored_body}"
        for received_body, stored_body in pairs
        if received_body != stored_body
    ]


async def judge_endings(db: Database, clients: Sequence[Client]) -> list[Verdict]:
    """Check that each session is completed, or cancelled by its client."""
    by_session = {client.session: client for client in clients}
    rows = await db.rows(_STANDING)
    wrong = [
        f"{row['graph']} {row['id']}: {row['status']} {row['error'] or ''}"
        for row in rows
        if row["status"] not in _expected(by_session.get(row["id"]))
    ]
    strangers = [row["id"] for row in rows if row["id"] not in by_session]
    return [
        Verdict("sessions complete, or are cancelled by their client", wrong),
        Verdict("each client has one session, and nobody made another", strangers),
    ]


def _expected(client: Client | None) -> tuple[str, ...]:
    return ("completed", "cancelled") if client and client.cancelled else ("completed",)
