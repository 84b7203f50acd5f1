"""The places of the turns of an owner: more turns than places wait, and who waits for others holds none."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from app.db.pool import Database
from app.jobs import Job
from app.sessions.admission import AdmissionQueue
from app.sessions.config import SessionsConfig
from app.sessions.events.publisher import EventPublisher
from app.sessions.schemas import SessionCreate
from app.sessions.service import SessionService
from app.sessions.statements import JOURNAL, LIFECYCLE
from app.sessions.sweeper import sweep
from app.threads.queries import ThreadReader
from app.threads.schemas import ChatMessage
from app.threads.service import CreatedTurn, ThreadService

PLACES = 4
NOW = datetime.now(UTC)
GRAPHS = json.dumps({"chat": [1]})


class Chat:
    """Messages of several users, and the statements with which workers drive their turns."""

    def __init__(self, db: Database, most: int = PLACES) -> None:
        self.db = db
        self.sent: list[UUID] = []
        self.config = SessionsConfig(max_running_turns_per_owner=most)
        self.threads = ThreadService(db, self.send, self.config)

    def send(self, job: Job) -> None:
        self.sent.append(UUID(str(job.args[0])))

    async def user(self, **quotas: int) -> UUID:
        user = uuid4()
        await self.db.rows(
            "insert into users (id, email, password_hash, role, quotas) values ($1, $2, 'x', 'user', $3)",
            user,
            f"{user}@example.com",
            json.dumps(quotas),
        )
        return user

    async def post(self, owner: UUID, thread: UUID | None = None) -> CreatedTurn:
        return await self.threads.post(owner, ChatMessage(message="hello", thread_id=thread))

    async def say(self, owner: UUID, thread: UUID | None = None) -> UUID:
        return (await self.post(owner, thread)).turn_id

    async def claim(self, turn: UUID) -> int | None:
        """Return the fence, or None if the turn may not run."""
        row = await self.db.row(LIFECYCLE.claim, turn, 60.0, 600.0, GRAPHS, 30.0, 600.0)
        return int(row["fence"]) if row else None

    async def hand_back(self, turn: UUID, fence: int, has_more: int = 0) -> None:
        await self.db.row(LIFECYCLE.hand_back, turn, fence, has_more)
        await self.admit()

    async def end(self, turn: UUID, fence: int | None = None, status: str = "completed") -> None:
        """End a turn whose worker dies before it admits another one."""
        fence = await self.claim(turn) if fence is None else fence
        assert fence is not None
        ended = await self.db.row(
            LIFECYCLE.end_session, turn, fence, status, None, None, "session_finished", "{}", NOW
        )
        assert ended

    async def ask(self, turn: UUID) -> None:
        fence = await self.claim(turn)
        assert fence is not None
        await self.db.rows(
            "insert into questions (session_id, key, kind, agent, body)"
            " values ($1, '1.q', 'clarification', 'assistant', '{}')",
            turn,
        )
        await self.hand_back(turn, fence)

    async def answer(self, turn: UUID) -> None:
        await self.db.row(LIFECYCLE.answer, turn, "1.q", '"yes"', NOW, "{}", "yes", 0.0)
        await self.admit()

    async def admit(self) -> None:
        await AdmissionQueue(self.db, self.send, self.config).admit()

    async def admitted(self, owner: UUID) -> set[UUID]:
        held = "select id from sessions where owner_id = $1 and ended_at is null and admitted_at is not null"
        return set(await self.db.column(held, owner))

    async def place(self, owner: UUID, turn: UUID) -> tuple[int, int] | None:
        view = await ThreadReader(self.db, owner).get_turn(turn)
        return (view.queue.position, view.queue.length) if view.queue else None


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = await Database.open(database_url)
    yield database
    await database.close()


async def test_of_five_messages_at_once_four_run_and_the_fifth_begins_when_one_ends(db: Database) -> None:
    chat = Chat(db)
    ada = await chat.user()
    turns = set(await asyncio.gather(*(chat.say(ada) for _ in range(5))))
    running = await chat.admitted(ada)
    assert (len(running), sorted(chat.sent)) == (4, sorted(running))
    (fifth,) = turns - running
    assert await chat.place(ada, fifth) == (1, 1)
    assert await chat.claim(fifth) is None
    await chat.end(running.pop())
    await chat.admit()
    assert chat.sent[-1] == fifth
    assert await chat.claim(fifth)
    assert await chat.place(ada, fifth) is None


async def test_turns_wait_in_the_order_of_their_messages(db: Database) -> None:
    chat = Chat(db, most=1)
    ada = await chat.user()
    first, second, third = [await chat.say(ada) for _ in range(3)]
    assert [await chat.place(ada, turn) for turn in (first, second, third)] == [None, (1, 2), (2, 2)]
    await chat.end(first)
    # The place went to nobody yet: the next message lets in who waited longest, not itself.
    fourth = await chat.say(ada)
    assert chat.sent == [first, second]
    assert [await chat.place(ada, turn) for turn in (third, fourth)] == [(1, 2), (2, 2)]


async def test_a_turn_that_waits_for_the_one_before_it_holds_no_place(db: Database) -> None:
    chat = Chat(db, most=2)
    ada = await chat.user()
    begun = await chat.post(ada)
    follower = await chat.say(ada, begun.thread_id)
    other = await chat.say(ada)
    waiting = await chat.say(ada)
    assert await chat.admitted(ada) == {begun.turn_id, other}
    assert await chat.place(ada, follower) is None
    assert (await ThreadReader(db, ada).get_turn(follower)).status == "waiting"
    await chat.end(begun.turn_id)
    await chat.admit()
    # Woken, it stands where its message came: before a message that was sent later.
    assert await chat.admitted(ada) == {follower, other}
    assert await chat.place(ada, waiting) == (1, 1)


async def test_a_turn_that_asks_holds_no_place_and_takes_one_when_it_is_answered(db: Database) -> None:
    chat = Chat(db, most=1)
    ada = await chat.user()
    asking, waiting = await chat.say(ada), await chat.say(ada)
    await chat.ask(asking)
    assert await chat.admitted(ada) == {waiting}
    await chat.answer(asking)
    assert await chat.claim(asking) is None
    assert await chat.place(ada, asking) == (1, 1)
    await chat.end(waiting)
    await chat.admit()
    assert await chat.claim(asking)


async def test_a_turn_that_waits_for_a_study_holds_no_place(db: Database) -> None:
    chat = Chat(db, most=1)
    ada = await chat.user()
    turn, waiting = await chat.say(ada), await chat.say(ada)
    fence, study = await chat.claim(turn), uuid4()
    assert fence is not None
    await db.rows(
        "insert into sessions (id, owner_id, goal, preferences, dataset_ids, seed)"
        " values ($1, $2, 'goal', '{}', '{}', 1)",
        study,
        ada,
    )
    await db.rows(
        "update sessions set after_id = $2, wait_until = now() + interval '1 hour' where id = $1", turn, study
    )
    await chat.hand_back(turn, fence)
    assert await chat.admitted(ada) == {study, waiting}
    await db.rows(JOURNAL.wake_waiting, study)
    await chat.admit()
    assert await chat.place(ada, turn) == (1, 1)
    await chat.end(waiting)
    await chat.admit()
    assert await chat.claim(turn)


async def test_a_turn_keeps_its_place_between_two_slices(db: Database) -> None:
    chat = Chat(db, most=1)
    ada = await chat.user()
    turn = await chat.say(ada)
    await chat.say(ada)
    fence = await chat.claim(turn)
    assert fence
    await chat.hand_back(turn, fence, has_more=1)
    assert await chat.admitted(ada) == {turn}


async def test_a_waiting_turn_can_be_cancelled_without_a_place(db: Database) -> None:
    chat = Chat(db, most=1)
    ada = await chat.user()
    running, waiting, next_waiting = [await chat.say(ada) for _ in range(3)]
    await db.column(LIFECYCLE.cancel, waiting, ada)
    await chat.admit()
    assert await chat.place(ada, waiting) is None
    assert await chat.place(ada, next_waiting) == (1, 1)
    await chat.end(waiting, status="cancelled")
    await chat.admit()
    assert await chat.admitted(ada) == {running}


async def test_a_cancelled_turn_leaves_its_place_to_the_next(db: Database) -> None:
    chat = Chat(db, most=1)
    ada = await chat.user()
    running, waiting = await chat.say(ada), await chat.say(ada)
    await db.column(LIFECYCLE.cancel, running, ada)
    assert await chat.admitted(ada) == {running}
    await chat.end(running, status="cancelled")
    await chat.admit()
    assert await chat.admitted(ada) == {waiting}


async def test_owners_do_not_wait_for_each_other(db: Database) -> None:
    chat = Chat(db, most=1)
    ada, eve = await chat.user(), await chat.user()
    mine = [await chat.say(ada) for _ in range(3)]
    hers = [await chat.say(eve) for _ in range(2)]
    assert chat.sent == [mine[0], hers[0]]
    assert await chat.place(eve, hers[1]) == (1, 1)
    await chat.end(hers[0])
    await chat.admit()
    assert await chat.admitted(eve) == {hers[1]}
    assert await chat.admitted(ada) == {mine[0]}


async def test_turns_and_studies_do_not_wait_for_each_other(db: Database) -> None:
    chat = Chat(db, most=1)
    ada = await chat.user()
    config = SessionsConfig(max_running=1, max_running_turns_per_owner=1)
    publisher: EventPublisher = None  # type: ignore[assignment]  # creating a session shows nothing
    studies = SessionService(db, publisher, chat.send, config)
    turn, waiting = await chat.say(ada), await chat.say(ada)
    request = SessionCreate(goal="Predict which passengers survived.")
    study, waiting_study = [(await studies.create(ada, request)).id for _ in range(2)]
    assert await chat.admitted(ada) == {turn, study}
    await chat.end(turn)
    await AdmissionQueue(db, chat.send, config).admit()
    assert await chat.admitted(ada) == {waiting, study}
    assert waiting_study not in chat.sent


async def test_zero_is_no_bound(db: Database) -> None:
    chat = Chat(db, most=0)
    ada = await chat.user()
    turns = [await chat.say(ada) for _ in range(9)]
    assert chat.sent == turns


async def test_a_user_may_have_places_of_their_own(db: Database) -> None:
    chat = Chat(db, most=2)
    ada, eve = await chat.user(running_turns=3), await chat.user(running_turns=0)
    for owner in (ada, eve):
        for _ in range(5):
            await chat.say(owner)
    assert [len(await chat.admitted(owner)) for owner in (ada, eve)] == [3, 5]


async def test_a_disabled_users_turns_wait(db: Database) -> None:
    chat = Chat(db, most=1)
    ada = await chat.user()
    first, waiting = await chat.say(ada), await chat.say(ada)
    await db.rows("update users set disabled_at = now() where id = $1", ada)
    await chat.end(first)
    await chat.admit()
    assert await chat.admitted(ada) == set()
    await db.rows("update users set disabled_at = null where id = $1", ada)
    await chat.admit()
    assert await chat.admitted(ada) == {waiting}


async def test_turns_that_a_dead_process_left_are_admitted_by_the_sweeper(db: Database) -> None:
    chat = Chat(db, most=1)
    ada = await chat.user()
    begun = await chat.post(ada)
    follower = await chat.say(ada, begun.thread_id)
    # Its process died before it woke the turn after it: both are found.
    await chat.claim(begun.turn_id)
    await db.rows("update sessions set ended_at = now(), lease_until = null where id = $1", begun.turn_id)
    await sweep(db, chat.send, grace_s=0)
    await chat.admit()
    assert await chat.admitted(ada) == {follower}
    assert await chat.claim(follower)


async def test_a_waiting_turn_that_kept_its_place_under_an_earlier_version_takes_none(db: Database) -> None:
    chat = Chat(db, most=1)
    ada = await chat.user()
    asking = await chat.say(ada)
    await chat.ask(asking)
    await db.rows("update sessions set admitted_at = now() where id = $1", asking)
    assert await chat.claim(await chat.say(ada))


async def test_a_process_of_an_earlier_version_lets_waiting_turns_in(db: Database) -> None:
    chat = Chat(db, most=1)
    ada = await chat.user()
    first, waiting = await chat.say(ada), await chat.say(ada)
    assert await db.column("select admit_sessions(100, 0)") == [waiting]
    assert await chat.admitted(ada) == {first, waiting}


async def test_messages_ends_and_cancels_at_once_leave_nothing_behind(db: Database) -> None:
    """Every statement succeeds, so none deadlocks; every turn runs, and never more than the places."""
    chat = Chat(db, most=2)
    users = [await chat.user() for _ in range(3)]
    threads = [(await chat.post(users[n % 3])).thread_id for n in range(9)]
    made = set(chat.sent)

    async def say(number: int) -> None:
        made.add(await chat.say(users[number % 3], threads[number % 9]))

    async def drive(turn: UUID, owner: UUID) -> None:
        assert len(await chat.admitted(owner)) <= 2
        if (fence := await chat.claim(turn)) is not None:
            await chat.end(turn, fence)
            await chat.admit()

    async def cancel_all(owner: UUID) -> None:
        open_turns = "select id from sessions where owner_id = $1 and ended_at is null order by random()"
        await db.rows("select cancel_sessions($1::uuid[])", await db.column(open_turns, owner))

    posts = asyncio.gather(*(say(number) for number in range(45)))
    due = "select id, owner_id from sessions where ended_at is null and lease_until is null and wake > seen"
    while (rows := await db.rows(due)) or not posts.done():
        await asyncio.gather(
            *(drive(row["id"], row["owner_id"]) for row in rows),
            *([cancel_all(users[0])] if posts.done() else []),
            chat.admit(),
        )
    await posts
    assert await db.value("select count(*) from sessions where ended_at is null") == 0
    assert await db.value("select count(*) from sessions") == 54
