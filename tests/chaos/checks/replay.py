"""Run every session again over its journal alone: each step must come to what it came to."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from langgraph.errors import GraphDrained
from tests.chaos.checks.rows import Verdict

from app.db.pool import Database, Record
from app.errors import LabError
from app.jobs import Job
from app.json_types import JsonValue
from app.sessions.drive.drive_state import SessionDrive
from app.sessions.drive.graph_drive import GraphDrive
from app.sessions.drive.journal import CallEntry, Journal, StepEntry, StepOutputs
from app.sessions.events.publisher import EventPublisher
from app.sessions.events.serialization import EventMessage, dumps
from app.sessions.fenced_writer import FencedWriter, WriteResult
from app.sessions.graphs import Graphs, GraphSpec
from app.sessions.lease import DriveSignal, Lease
from app.sessions.step_scope import Call, SessionFacts

_SESSIONS = "select * from sessions order by created_at"
_MAX_SUPERSTEPS = 2000
"""LangGraph's limit of a run: more than the four steps of each of `MAX_LAPS` laps."""


class BeyondTheJournal(Exception):
    """The run came to something that is not recorded."""


class Differs(Exception):
    """A step came to something else than it came to the first time."""


class ReplayJournal(Journal):
    """Knows calls, and writes nothing. A step that was committed runs again and is compared."""

    async def step(self, seq: int, node: str) -> dict[str, Any] | None:
        recorded = await super().step(seq, node)
        if recorded is None:
            raise BeyondTheJournal
        return None

    async def call(self, seq: int, call: Call) -> tuple[JsonValue] | None:
        recorded = await super().call(seq, call)
        if recorded is None:
            raise Differs(f"step {seq} makes a call {call.key} ({call.name}) that is not recorded")
        return recorded

    async def commit(self, done: StepEntry, leavings: StepOutputs) -> tuple[dict[str, Any], WriteResult]:
        recorded = await super().step(done.seq, done.node) or {}
        update = json.loads(dumps(done.update))
        if update != recorded:
            raise Differs(f"step {done.seq} ({done.node}) came to {update}, not to {recorded}"[:600])
        return recorded, WriteResult(DriveSignal.GO_ON, ())

    async def record(self, done: CallEntry, leavings: StepOutputs) -> tuple[JsonValue, WriteResult]:
        raise Differs(f"call {done.call.key} of step {done.seq} was recorded again")


class Silence:
    """A publisher without subscribers."""

    def publish(self, session_id: object, message: EventMessage) -> None:
        pass


class ReadOnly:
    """A database that lets nothing be changed."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.rows = db.rows

    async def row(self, sql: str, *args: Any) -> Record | None:
        if not sql.lstrip().startswith("select"):
            raise Differs(f"a statement that writes: {sql.strip()[:60]}")
        return await self._db.row(sql, *args)


@dataclass(frozen=True)
class Replayed:
    verdict: Verdict
    steps: int


async def judge_replay(db: Database, graphs: Graphs) -> Replayed:
    wrong, steps = [], 0
    for row in await db.rows(_SESSIONS):
        steps += row["last_seq"]
        try:
            await _replay(db, graphs, row)
        except (Differs, LabError) as error:
            wrong.append(f"{row['graph']} {row['id']}: {error}")
    return Replayed(Verdict("every journal replays to what it came to", wrong), steps)


async def _replay(db: Database, graphs: Graphs, row: Record) -> None:
    if row["graph_version"] is None:
        return  # cancelled before anybody claimed it
    spec = graphs.get(row["graph"], row["graph_version"])
    try:
        out = await _run(db, spec, _lease(row))
    except (BeyondTheJournal, GraphDrained):
        if row["status"] == "completed":
            raise Differs("it goes on after its end") from None
        return
    if row["status"] == "completed" and not out.get("__interrupt__"):
        result = json.loads(dumps(spec.result(out)))
        if result != json.loads(row["result"]):
            raise Differs("it comes to another result")
    elif row["status"] == "completed":
        raise Differs("it waits for something that has come")


async def _run(db: Database, spec: GraphSpec, lease: Lease) -> Mapping[str, Any]:
    journal = ReplayJournal(FencedWriter(cast(Database, ReadOnly(db)), lease, 6.0))
    drive = SessionDrive(lease, journal, cast(EventPublisher, Silence()), _send_nothing, 1e9, asyncio.Event())
    out: Mapping[str, Any] = await spec.graph.ainvoke(
        {**spec.initial(lease.facts), "step": 0},
        {"recursion_limit": _MAX_SUPERSTEPS},
        context=GraphDrive(drive, spec.make_context),
    )
    return out


def _send_nothing(job: Job) -> None:
    raise Differs(f"it queues {job.name}")


def _lease(row: Record) -> Lease:
    return Lease(
        facts=SessionFacts(
            id=row["id"],
            owner_id=row["owner_id"],
            goal=row["goal"],
            preferences=json.loads(row["preferences"]),
            dataset_ids=tuple(row["dataset_ids"]),
            seed=row["seed"],
            created_at=row["created_at"],
        ),
        graph=row["graph"],
        graph_version=row["graph_version"],
        fence=row["fence"] + 1,
        last_seq=row["last_seq"],
        crashes=0,
        signal=DriveSignal.GO_ON,
        started_event=None,
        worked_s=0.0,
        queued_s=0.0,
        taken_over=False,
    )
