"""Every statement that moves a session agrees with the table of transitions, from every state."""

import itertools
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from app.db.pool import Database
from app.sessions.lifecycle import (
    LIVE,
    TERMINAL,
    TRANSITIONS,
    LeaseState,
    LifecycleEvent,
    SessionPosition,
    SessionStatus,
    next_status,
    release_event,
    resume_event,
)
from app.sessions.statements import LIFECYCLE

FENCE = 3
NOW = datetime.now(UTC)
LEASES = {
    LeaseState.FREE: None,
    LeaseState.ACTIVE: "1 hour",
    LeaseState.EXPIRED: "-1 hour",
}


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    db = await Database.open(database_url)
    yield db
    await db.close()


class Sessions:
    """Rows of sessions in any position, and the status that a statement leaves them in."""

    def __init__(self, db: Database, owner: UUID) -> None:
        self.db = db
        self.owner = owner

    @classmethod
    async def of(cls, db: Database) -> "Sessions":
        owner = uuid4()
        await db.rows(
            "insert into users (id, email, password_hash, role) values ($1, $2, 'x', 'user') returning id",
            owner,
            f"{owner}@example.com",
        )
        return cls(db, owner)

    async def put(self, position: SessionPosition, open_fits: int = 0) -> UUID:
        session_id, ended = uuid4(), position.status in TERMINAL
        await self.db.rows(
            """
            insert into sessions (id, owner_id, goal, preferences, dataset_ids, seed, graph, graph_version,
              status, cancel, paused_at, fence, wake, seen, lease_until, admitted_at, started_at, deadline_at,
              ended_at)
            values ($1, $2, 'goal', '{}', '{}', 1, 'pipeline', 1,
              $3, $4, case when $5 then now() end, $6, $7, 1,
              now() + $8::text::interval, case when $9 then now() end, now(), now() + interval '1 hour',
              case when $10 then now() end)
            returning id
            """,
            session_id,
            self.owner,
            position.status,
            position.is_cancelled,
            position.is_paused,
            FENCE,
            2 if position.has_work else 1,
            LEASES[position.lease],
            position.is_admitted,
            ended,
        )
        if position.has_open_question:
            await self.db.rows(
                "insert into questions (session_id, key, kind, agent, body) "
                "values ($1, '1.q', 'question', 'planner', '{}') returning key",
                session_id,
            )
        if position.has_running_fit or open_fits:
            await self.db.rows(
                "insert into rounds (session_id, round_key, fits_left, deadline_at) "
                "values ($1, '1.r', 1, now() + interval '1 hour') returning round_key",
                session_id,
            )
            await self.db.rows(
                "insert into fits (session_id, round_key, candidate, name, spec, status, lease_until) "
                "values ($1, '1.r', 0, 'f', '{}', $2, now() + interval '1 hour') returning name",
                session_id,
                "running" if position.has_running_fit else "queued",
            )
        return session_id

    async def status(self, session_id: UUID) -> SessionStatus:
        row = await self.db.row("select status from sessions where id = $1", session_id)
        assert row is not None
        return SessionStatus(row["status"])


async def check(sessions: Sessions, position: SessionPosition, event: LifecycleEvent, session_id: UUID) -> None:
    expected = next_status(position, event) or position.status
    assert await sessions.status(session_id) is expected, (position, event)


def positions(**choices: tuple[object, ...]) -> list[SessionPosition]:
    """Every status with every combination of the choices.

    A session is `cancelling` when a cancel was asked. A `paused` one was paused; others may be about to be.
    """
    return [
        SessionPosition(
            status,
            is_cancelled=status is SessionStatus.CANCELLING,
            **{
                "is_paused": status is SessionStatus.PAUSED,
                **dict(zip(choices, values, strict=True)),
            },
        )
        for status in SessionStatus
        for values in itertools.product(*choices.values())
    ]


async def test_claims_follow_the_table(db: Database) -> None:
    sessions = await Sessions.of(db)
    graphs = json.dumps({"pipeline": [1]})
    choices = {"lease": tuple(LeaseState), "has_work": (True, False), "is_admitted": (True, False)}
    for position in positions(**choices, is_paused=(True, False)):
        session_id = await sessions.put(position)
        await db.row(LIFECYCLE.claim, session_id, 60.0, 600.0, graphs, 30.0, 600.0)
        await check(sessions, position, LifecycleEvent.CLAIM, session_id)


async def test_releases_follow_the_table(db: Database) -> None:
    sessions = await Sessions.of(db)
    for position in positions(
        is_driver=(True, False), has_open_question=(True, False), is_paused=(True, False)
    ):
        for again, open_fits in itertools.product((0, 1), (0, 1)):
            session_id = await sessions.put(position, open_fits)
            fence = FENCE if position.is_driver else FENCE - 1
            await db.row(LIFECYCLE.hand_back, session_id, fence, again)
            event = release_event(bool(again), position.has_open_question, bool(open_fits), position.is_paused)
            await check(sessions, position, event, session_id)


@pytest.mark.parametrize("event", [LifecycleEvent.COMPLETE, LifecycleEvent.FAIL, LifecycleEvent.END_CANCELLED])
async def test_endings_follow_the_table(db: Database, event: LifecycleEvent) -> None:
    sessions = await Sessions.of(db)
    (ending,) = set(TRANSITIONS[event].values())
    for position in positions(is_driver=(True, False), has_running_fit=(True, False)):
        session_id = await sessions.put(position)
        fence = FENCE if position.is_driver else FENCE - 1
        await db.row(
            LIFECYCLE.end_session, session_id, fence, ending, None, None, "session_finished", "{}", NOW
        )
        await check(sessions, position, event, session_id)


async def test_answers_follow_the_table(db: Database) -> None:
    sessions = await Sessions.of(db)
    for position in positions(has_open_question=(True, False)):
        session_id = await sessions.put(position)
        await db.row(LIFECYCLE.answer, session_id, "1.q", '"yes"', NOW, "{}", "yes", 0.0)
        await check(sessions, position, LifecycleEvent.ANSWER, session_id)


async def test_pauses_follow_the_table(db: Database) -> None:
    sessions = await Sessions.of(db)
    for position in positions(lease=tuple(LeaseState)):
        session_id = await sessions.put(position)
        for _ in range(2):
            await db.row(LIFECYCLE.pause, session_id, sessions.owner, NOW, "{}")
        await check(sessions, position, LifecycleEvent.PAUSE, session_id)


async def test_resumes_follow_the_table(db: Database) -> None:
    sessions = await Sessions.of(db)
    for position in positions(has_open_question=(True, False), is_paused=(True, False)):
        session_id = await sessions.put(position)
        for _ in range(2):
            await db.row(LIFECYCLE.resume, session_id, sessions.owner, NOW, "{}")
        await check(sessions, position, resume_event(position.has_open_question), session_id)


async def test_cancels_follow_the_table_and_wake_once(db: Database) -> None:
    sessions = await Sessions.of(db)
    for position in positions(lease=tuple(LeaseState)):
        session_id = await sessions.put(position)
        before = await db.row("select wake from sessions where id = $1", session_id)
        await db.row(LIFECYCLE.cancel, session_id, sessions.owner)
        await db.row(LIFECYCLE.cancel, session_id, sessions.owner)
        await check(sessions, position, LifecycleEvent.CANCEL, session_id)
        after = await db.row("select wake from sessions where id = $1", session_id)
        assert before is not None
        assert after is not None
        first = position.status in LIVE and not position.is_cancelled
        assert after["wake"] - before["wake"] == int(first)


def test_nothing_leaves_a_terminal_status() -> None:
    for event in LifecycleEvent:
        assert not TERMINAL & set(TRANSITIONS[event])


def test_every_live_status_can_end() -> None:
    for status in LIVE:
        assert next_status(SessionPosition(status), LifecycleEvent.FAIL) is SessionStatus.FAILED
