"""The line in front of the places that sessions run in."""

import asyncio
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.db.pool import Database
from app.errors import TooMany
from app.jobs import Job
from app.sessions.admission import AdmissionQueue
from app.sessions.config import SessionsConfig
from app.sessions.events.publisher import EventPublisher
from app.sessions.queries import SessionReader
from app.sessions.schemas import RUN_GRAPH, WORKFLOW_GRAPH, SessionCreate
from app.sessions.service import SessionService
from app.sessions.statements import LIFECYCLE

GOAL = SessionCreate(goal="Predict which passengers survived.")
END = "update sessions set ended_at = now(), status = 'completed' where id = $1"


class Lab:
    """Sessions of several users on one database, and the wake-ups that were sent."""

    def __init__(self, db: Database, most: int, most_each: int = 0) -> None:
        self.db = db
        self.sent: list[UUID] = []
        self.config = SessionsConfig(max_running=most, max_running_per_owner=most_each)

    def send(self, job: Job) -> None:
        self.sent.append(UUID(str(job.args[0])))

    async def user(self, **quotas: int) -> UUID:
        user = uuid4()
        await self.db.rows(
            "insert into users (id, email, password_hash, role, quotas) values ($1, $2, 'x', 'user', $3)",
            user,
            f"{user}@example.com",
            str(quotas).replace("'", '"'),
        )
        return user

    async def create(self, owner: UUID, graph: str = "pipeline") -> UUID:
        tail: EventPublisher = None  # type: ignore[assignment]  # creating a session shows nothing
        return (await SessionService(self.db, tail, self.send, self.config, graph).create(owner, GOAL)).id

    async def end(self, session: UUID) -> None:
        await self.db.rows(END, session)
        await AdmissionQueue(self.db, self.send, self.config).admit()

    async def running(self) -> set[UUID]:
        held = "select id from sessions where ended_at is null and admitted_at is not null"
        return {row["id"] for row in await self.db.rows(held)}

    async def place(self, owner: UUID, session: UUID) -> tuple[int, int] | None:
        view = await SessionReader(self.db, owner).get(session)
        return (view.queue.position, view.queue.length) if view.queue else None


@pytest.fixture
async def db(database_url: str):  # type: ignore[no-untyped-def]  # a generator fixture
    database = await Database.open(database_url)
    yield database
    await database.close()


async def test_more_than_the_places_wait_in_order(db: Database) -> None:
    lab = Lab(db, most=2)
    ada = await lab.user()
    one, two, three, four = [await lab.create(ada) for _ in range(4)]
    assert (await lab.running(), lab.sent) == ({one, two}, [one, two])
    assert [await lab.place(ada, each) for each in (one, three, four)] == [None, (1, 2), (2, 2)]
    await lab.end(two)
    assert (await lab.running(), lab.sent[2:]) == ({one, three}, [three])
    assert await lab.place(ada, four) == (1, 1)


async def test_who_has_fewest_is_next(db: Database) -> None:
    lab = Lab(db, most=2)
    ada, eve = await lab.user(), await lab.user()
    first, second, third, fourth = [await lab.create(ada) for _ in range(4)]
    late = await lab.create(eve)
    assert [await lab.place(*one) for one in ((eve, late), (ada, third), (ada, fourth))] == [
        (1, 3),
        (2, 3),
        (3, 3),
    ]
    await lab.end(first)
    assert await lab.running() == {second, late}
    await lab.end(late)
    assert await lab.running() == {second, third}


async def test_many_at_once_are_never_more_than_the_places(db: Database) -> None:
    lab = Lab(db, most=5, most_each=3)
    users = [await lab.user() for _ in range(4)]
    made = await asyncio.gather(*(lab.create(users[n % 4]) for n in range(40)))
    seen = set()
    while running := await lab.running():
        owners = await db.rows(
            "select count(*) as n from sessions where ended_at is null and admitted_at is not null"
            " group by owner_id"
        )
        assert len(running) <= 5
        assert max(row["n"] for row in owners) <= 3
        seen |= running
        await asyncio.gather(*(lab.end(session) for session in running))
    assert seen == set(made)
    assert sorted(lab.sent) == sorted(made), "each was woken once"


async def test_a_user_may_have_fewer_or_more_places_than_others(db: Database) -> None:
    lab = Lab(db, most=0, most_each=1)
    ada, eve = await lab.user(running_sessions=2), await lab.user()
    for _ in range(3):
        await lab.create(ada)
        await lab.create(eve)
    held = await db.rows("select owner_id from sessions where admitted_at is not null")
    assert sorted(row["owner_id"] for row in held) == sorted([ada, ada, eve])


async def test_without_a_limit_nobody_waits(db: Database) -> None:
    lab = Lab(db, most=0)
    ada = await lab.user()
    made = [await lab.create(ada) for _ in range(3)]
    assert await lab.running() == set(made)


async def test_whoever_waits_when_the_limit_is_lifted_gets_in(db: Database) -> None:
    lab = Lab(db, most=1)
    ada = await lab.user()
    made = [await lab.create(ada) for _ in range(3)]
    lab.config = SessionsConfig(max_running=0)
    await AdmissionQueue(db, lab.send, lab.config).admit()
    assert await lab.running() == set(made)


async def test_a_disabled_users_sessions_wait(db: Database) -> None:
    lab = Lab(db, most=1)
    ada, eve = await lab.user(), await lab.user()
    first, waiting = await lab.create(ada), await lab.create(eve)
    await db.rows("update users set disabled_at = now() where id = $1", eve)
    await lab.end(first)
    assert await lab.running() == set()
    await db.rows("update users set disabled_at = null")
    await AdmissionQueue(db, lab.send, lab.config).admit()
    assert await lab.running() == {waiting}


async def test_a_quota_of_sessions_is_the_users_own(db: Database) -> None:
    lab = Lab(db, most=0)
    ada = await lab.user(sessions=1)
    await lab.create(ada)
    with pytest.raises(Exception, match="You have 1 sessions"):
        await lab.create(ada)


async def test_runs_have_places_and_a_line_of_their_own(db: Database) -> None:
    lab = Lab(db, most=1)
    ada = await lab.user()
    study, next_study = await lab.create(ada), await lab.create(ada)
    run, next_run = await lab.create(ada, RUN_GRAPH), await lab.create(ada, WORKFLOW_GRAPH)
    assert await lab.running() == {study, run}
    assert await lab.place(ada, next_study) == (1, 1)
    await lab.end(run)
    assert await lab.running() == {study, next_run}
    await lab.end(study)
    assert await lab.running() == {next_study, next_run}


async def test_a_quota_counts_each_class_by_itself(db: Database) -> None:
    lab = Lab(db, most=0)
    ada = await lab.user(sessions=1)
    study = await lab.create(ada)
    await lab.create(ada, RUN_GRAPH)
    for graph in ("pipeline", RUN_GRAPH):
        with pytest.raises(TooMany):
            await lab.create(ada, graph)
    await lab.end(study)
    await lab.create(ada)


async def test_a_turn_that_waits_for_its_user_gives_its_place_up(db: Database) -> None:
    lab = Lab(db, most=1)
    ada = await lab.user()
    study, turn = await lab.create(ada), uuid4()
    await db.rows(
        "insert into sessions (id, owner_id, graph, class, goal, preferences, dataset_ids, seed, fence, seen)"
        " values ($1, $2, 'chat', 'turn', 'hello', '{}', '{}', 1, 1, 1)",
        turn,
        ada,
    )
    await db.rows(
        "insert into questions (session_id, key, kind, agent, body)"
        " values ($1, '1.ask', 'clarification', 'analyst', '{}')",
        turn,
    )
    await db.row(LIFECYCLE.hand_back, turn, 1, 0)
    row = await db.row("select status from sessions where id = $1", turn)
    assert row
    assert row["status"] == "awaiting_user"
    assert await lab.running() == {study}


async def test_the_line_takes_no_more_than_milliseconds_with_a_thousand_in_it(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute(
        "insert into users (id, email, password_hash, role)"
        " select gen_random_uuid(), n::text, 'x', 'user' from generate_series(1, 20) n;"
        "insert into sessions (id, owner_id, goal, preferences, dataset_ids, seed, admitted_at)"
        " select gen_random_uuid(), u.id, 'g', '{}', '{}', 1, null from users u, generate_series(1, 50) n;"
        "analyze"
    )
    plan = await connection.fetchval("explain (analyze, buffers, format json) select admit_sessions(100, 0, 0)")
    assert '"Actual Rows": 100' in plan
    again = await connection.fetchval("select count(*) from admit_sessions(100, 0, 0)")
    assert again == 0
    await connection.close()
