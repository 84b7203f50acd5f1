"""The command that forks a session: one read, a decision, and one statement that copies."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, get_args
from uuid import UUID, uuid4, uuid5

from app.db.pool import Database
from app.errors import Conflict, LabError, NotFound, Unauthorized
from app.jobs import SendJob, advance_job
from app.modeling.problem.metrics import MetricName
from app.observability.metrics.sessions import SESSIONS_CREATED
from app.sessions.answer_validation import check_answer
from app.sessions.config import SessionsConfig
from app.sessions.events.events import ClarificationAnswered, SessionForked
from app.sessions.events.serialization import dump_event, dumps, request_digest
from app.sessions.fork_record import ForkRecord, read_fork
from app.sessions.forks.schemas import (
    ForkChange,
    ForkCreate,
    ForkCreated,
    ForkPreview,
    ForkSettings,
    ForkStep,
)
from app.sessions.forks.source import (
    ForkEffect,
    ForkRules,
    ForkSource,
    RecordedStep,
    SourceDataset,
    SourceQuestion,
    check_point,
    find_step,
    question_schema,
)
from app.sessions.lifecycle import SessionStatus
from app.sessions.queries import make_not_found_error
from app.sessions.service import make_quota_error
from app.sessions.statements import FORKS
from app.sessions.tool_permissions import ALWAYS
from app.sessions.workers import MAX_SILENCE_S


class SourceRow(NamedTuple):
    """JSON: `preferences`, `fork`, `steps`, `datasets` and `question`."""

    id: UUID
    graph: str
    goal: str
    preferences: str
    status: str
    last_seq: int
    has_ended: bool
    is_forgotten: bool
    fork: str | None
    steps: str
    datasets: str
    artifacts: list[UUID]
    question: str | None
    is_runnable: bool


class LaterStepRow(NamedTuple):
    """A step of the source from the point on. `worked_s`: its own working time in seconds."""

    seq: int
    node: str
    worked_s: float


class ForkedRow(NamedTuple):
    """`created_at`: None if the fork was refused or exists. `admitted`: sessions to queue now."""

    max_live: int
    missing_datasets: int
    is_source_there: bool
    created_at: datetime | None
    admitted: list[UUID]


class ExistingForkRow(NamedTuple):
    id: UUID
    status: str
    created_at: datetime
    is_same_request: bool


@dataclass(frozen=True)
class ForkService:
    """Forks sessions of the graph that the rules are of."""

    db: Database
    send_job: SendJob
    config: SessionsConfig
    rules: ForkRules

    async def fork(
        self,
        owner: UUID,
        source_id: UUID,
        request: ForkCreate,
        idempotency_key: str | None = None,
        fork_id: UUID | None = None,
    ) -> ForkCreated:
        """Fork a session, or return the fork that was made with this key or this `fork_id`.

        Raises NotFound for a session or question of nobody or another owner, InvalidInput and Conflict for a
        point or change that is refused, TooMany above the limit of live sessions.
        """
        source, artifacts = await self._read_source(owner, source_id, request)
        effect = self._decide(source, request)
        fork_id, digest = fork_id or uuid4(), _digest(source_id, request)
        row = await self.db.row(
            FORKS.fork,
            fork_id,
            source_id,
            owner,
            source.step,
            request.at.question,
            dumps(request.change.answer, "answer"),
            dumps(dict(effect.preferences), "preferences"),
            dumps(_make_record(source, request, effect).to_json(), "fork"),
            digest,
            idempotency_key,
            self.config.max_live_per_owner,
            self.config.max_running,
            self.config.max_running_per_owner,
            artifacts,
            # Made from the fork's id: the statement copies under the same ids if it is sent again.
            [uuid5(fork_id, str(artifact)) for artifact in artifacts],
            *_make_events(source_id, source, request, effect),
            datetime.now(UTC),
            _make_messages(request.change),
            self.rules.reads_datasets(source),
            dumps({"source": str(source_id), "at": request.at.model_dump(mode="json", exclude_none=True)}),
            ALWAYS,
            self.config.max_running_turns_per_owner,
        )
        if row is None:
            raise Unauthorized("account_gone", "This account has been deleted.")
        forked = ForkedRow(**row)
        if forked.created_at is None:
            existing = await self._find_existing(fork_id, owner, source_id, idempotency_key, digest)
            if existing is None:
                raise _make_refusal(forked, source_id)
            return existing
        SESSIONS_CREATED.labels(source.graph).inc()
        for admitted_id in forked.admitted:
            self.send_job(advance_job(admitted_id))
        return ForkCreated(
            id=fork_id,
            status=SessionStatus.QUEUED,
            created_at=forked.created_at,
            forked_from=source_id,
            notes=list(effect.notes),
        )

    async def preview(self, owner: UUID, source_id: UUID, request: ForkCreate) -> ForkPreview:
        """Check a fork without making it, and return what it would copy and run again.

        Raises what `fork` raises for the point and the change.
        """
        source, _ = await self._read_source(owner, source_id, request)
        effect = self._decide(source, request)
        rows = await self.db.rows(FORKS.read_later_steps, source_id, source.step)
        later = [LaterStepRow(**row) for row in rows]
        worked_s = [row.worked_s for row in later]
        return ForkPreview(
            copied=[ForkStep(step=step.seq, node=step.node) for step in source.steps],
            rerun=[ForkStep(step=row.seq, node=row.node) for row in later],
            estimated_s=round(sum(worked_s), 3) if worked_s else None,
            notes=list(effect.notes),
            metrics=self._list_metrics(source),
        )

    def _list_metrics(self, source: ForkSource) -> list[MetricName]:
        """List the metrics that the graph takes at the point, by the rule that refuses the others."""
        names: tuple[MetricName, ...] = get_args(MetricName)
        return [name for name in names if self._takes(source, ForkSettings(metric=name))]

    def _takes(self, source: ForkSource, settings: ForkSettings) -> bool:
        try:
            self.rules.decide_effect(source, ForkChange(settings=settings))
        except LabError:
            return False
        return True

    async def _read_source(
        self, owner: UUID, source_id: UUID, request: ForkCreate
    ) -> tuple[ForkSource, list[UUID]]:
        """Read the source and the ids of its artifacts up to the point. Raises NotFound."""
        step = find_step(request.at)
        row = await self.db.row(FORKS.read_source, source_id, owner, step, request.at.question, MAX_SILENCE_S)
        if row is None:
            raise make_not_found_error(source_id)
        stored = SourceRow(**row)
        return _make_source(stored, step), list(stored.artifacts)

    def _decide(self, source: ForkSource, request: ForkCreate) -> ForkEffect:
        """Check the request and decide its effect. Raises LabError."""
        change = request.change
        check_point(source, request.at, change)
        if request.at.question is not None:
            check_answer(question_schema(source), change.answer)
            return ForkEffect(source.preferences)
        effect = self.rules.decide_effect(source, change)
        # A fork counts its own usage from zero, so it needs a budget of its own.
        budget = self.config.make_budget(effect.preferences.get("budget", {}))
        return ForkEffect({**effect.preferences, "budget": budget}, effect.overlay, effect.notes)

    async def _find_existing(
        self, fork_id: UUID, owner: UUID, source_id: UUID, idempotency_key: str | None, digest: str
    ) -> ForkCreated | None:
        """Find the fork of this id or key. Raises Conflict if its request was another."""
        row = await self.db.row(FORKS.find_fork, fork_id, owner, idempotency_key, digest)
        if row is None:
            return None
        existing = ExistingForkRow(**row)
        if not existing.is_same_request:
            raise Conflict(
                "idempotency_key_reused",
                "This Idempotency-Key was used for another request. Use a new key for a new fork.",
            )
        # The process that made it may have died before it queued the session.
        self.send_job(advance_job(existing.id))
        return ForkCreated(
            id=existing.id,
            status=SessionStatus(existing.status),
            created_at=existing.created_at,
            forked_from=source_id,
        )


def _make_source(row: SourceRow, step: int) -> ForkSource:
    return ForkSource(
        graph=row.graph,
        goal=row.goal,
        preferences=json.loads(row.preferences),
        status=SessionStatus(row.status),
        step=step,
        last_seq=row.last_seq,
        has_ended=row.has_ended,
        is_forgotten=row.is_forgotten,
        is_runnable=row.is_runnable,
        steps=[RecordedStep(**recorded) for recorded in json.loads(row.steps)],
        datasets=[
            SourceDataset(dataset["name"], tuple(str(column["name"]) for column in dataset["columns"]))
            for dataset in json.loads(row.datasets)
        ],
        question=SourceQuestion(**json.loads(row.question)) if row.question else None,
        record=read_fork(row.fork),
    )


def _make_record(source: ForkSource, request: ForkCreate, effect: ForkEffect) -> ForkRecord:
    overlays = source.overlays
    if effect.overlay:
        after = source.step - 1
        overlays[after] = {**overlays.get(after, {}), **effect.overlay}
    note = request.change.note
    return ForkRecord(
        step=source.step,
        at=request.at.model_dump(mode="json", exclude_none=True),
        change=dump_change(request.change),
        overlays=overlays,
        notes=(*(source.record.notes if source.record else ()), *([note] if note else [])),
    )


def dump_change(change: ForkChange) -> dict[str, Any]:
    """Return the fields of a change that were sent; empty for a fork without a change."""
    document = change.model_dump(mode="json", exclude_unset=True)
    # An answer may be null or false; empty settings change nothing.
    return {name: value for name, value in document.items() if name == "answer" or value}


def _digest(source_id: UUID, request: ForkCreate) -> str:
    return request_digest(
        {
            "source": str(source_id),
            "at": request.at.model_dump(mode="json", exclude_none=True),
            "change": dump_change(request.change),
        }
    )


def _make_events(
    source_id: UUID, source: ForkSource, request: ForkCreate, effect: ForkEffect
) -> tuple[list[str], list[str]]:
    """Return kinds and bodies of the first events of the fork."""
    events: list[SessionForked | ClarificationAnswered] = [
        SessionForked(
            source=str(source_id),
            at=request.at.model_dump(mode="json", exclude_none=True),
            change=dump_change(request.change),
            steps=source.step - 1,
            notes=list(effect.notes),
        )
    ]
    if request.at.question is not None:
        events.append(ClarificationAnswered(question=request.at.question, answer=request.change.answer))
    return [event.kind for event in events], [dump_event(event) for event in events]


def _make_messages(change: ForkChange) -> str:
    """Return the user's messages as JSON. `n`: the number of their event."""
    messages: list[dict[str, Any]] = []
    if change.note:
        messages.append({"n": 1, "text": change.note})
    if change.has_answer:
        answer = change.answer
        messages.append({"n": 2, "text": answer if isinstance(answer, str) else dumps(answer, "answer")})
    return dumps(messages, "message")


def _make_refusal(forked: ForkedRow, source_id: UUID) -> LabError:
    """Return the reason why the statement made no fork, in the order in which a user can act on them."""
    if not forked.is_source_there:
        return make_not_found_error(source_id)
    if forked.missing_datasets:
        return NotFound(
            "dataset_not_found",
            "A dataset of this session was deleted since, and the steps that read it would run again. Fork at "
            "a step after the retrieval, or start a new session with other datasets.",
        )
    return make_quota_error(forked.max_live)
