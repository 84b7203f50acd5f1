"""Tables of sessions, their journals and their open work."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.orm import Mapped, mapped_column

from app.db.tables.base import VERBATIM, Base, Json, new_id, now


class SessionRow(Base):
    """A session and its state, which only the guarded statements of `sessions/sql` change."""

    __tablename__ = "sessions"
    __table_args__ = (
        UniqueConstraint("owner_id", "idempotency_key"),
        # Sweeps read open sessions by age, and never those that have ended.
        Index("ix_sessions_live", "queued_at", postgresql_where=text("ended_at IS NULL")),
        Index("ix_sessions_owner_id_created_at", "owner_id", text("created_at DESC")),
        Index("ix_sessions_parent_id", "parent_id", postgresql_where=text("parent_id IS NOT NULL")),
        # The end of a session wakes those that wait for it.
        Index(
            "ix_sessions_after_id",
            "after_id",
            postgresql_where=text("after_id IS NOT NULL AND ended_at IS NULL"),
        ),
        # Looks at a hold-out, and comparisons, go over a whole family.
        Index("ix_sessions_family_id", "family_id", postgresql_where=text("family_id IS NOT NULL")),
        # The runs of a workflow, newest first: its list, the newest one, and how many are at work.
        Index(
            "ix_sessions_workflow_id",
            "owner_id",
            text("(preferences #>> '{workflow,id}'::text[])"),
            text("created_at DESC"),
            postgresql_where=text("preferences #>> '{workflow,id}'::text[] IS NOT NULL"),
        ),
        # Retention deletes by the time of the end, and keys of requests by that of the request.
        Index("ix_sessions_ended_at", "ended_at", postgresql_where=text("ended_at IS NOT NULL")),
        Index("ix_sessions_keyed", "created_at", postgresql_where=text("idempotency_key IS NOT NULL")),
        # Creating a session counts the open ones of its owner.
        Index("ix_sessions_at_work", "owner_id", postgresql_where=text("ended_at IS NULL")),
        # The admission queue is ordered on every look at it: only waiting sessions are in this index.
        Index(
            "ix_sessions_in_line",
            "owner_id",
            "created_at",
            postgresql_where=text("ended_at IS NULL AND admitted_at IS NULL"),
        ),
        # Room in the page for the updates of a running session, which touch no index.
        {"postgresql_with": {"fillfactor": "60"}},
    )

    id: Mapped[UUID] = new_id()
    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    graph: Mapped[str] = mapped_column(server_default="pipeline")
    class_: Mapped[str] = mapped_column("class", server_default="study")
    """`study`, `run`, `turn` or `job`: what it counts as in lists, quotas, admission and retention."""
    graph_version: Mapped[int | None]
    """The version that its first driver ran."""
    goal: Mapped[str]
    name: Mapped[str | None]
    """Name that its owner gave it; null for one that is called by its goal."""
    archived_at: Mapped[datetime | None]
    preferences: Mapped[Json]
    dataset_ids: Mapped[list[UUID]]
    seed: Mapped[int] = mapped_column(BigInteger)
    idempotency_key: Mapped[str | None]

    status: Mapped[str] = mapped_column(server_default="queued")
    fence: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    lease_until: Mapped[datetime | None]
    wake: Mapped[int] = mapped_column(server_default=text("1"))
    seen: Mapped[int] = mapped_column(server_default=text("0"))
    last_seq: Mapped[int] = mapped_column(server_default=text("0"))
    """Number of the last committed step; steps count from 1."""
    event_seq: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    crashes: Mapped[int] = mapped_column(server_default=text("0"))
    """Leases that ran out since something was last recorded."""
    cancel: Mapped[bool] = mapped_column(server_default=text("false"))

    queued_at: Mapped[datetime] = now()
    created_at: Mapped[datetime] = now()
    admitted_at: Mapped[datetime | None] = mapped_column(server_default=func.now())
    """None while the session waits for admission (`sessions/admission.py`)."""
    started_at: Mapped[datetime | None]
    deadline_at: Mapped[datetime | None]
    """The session's time limit; the sweeper ends what is past it."""
    waiting_since: Mapped[datetime | None]
    """Set while it waits for the user or is paused: that time does not count.

    The next claim moves `deadline_at` by it.
    """
    waited_s: Mapped[float] = mapped_column(server_default=text("0"))
    """Seconds that it has waited for its user so far, or was paused."""
    paused_at: Mapped[datetime | None]
    """Set while the user pauses it: no step and no fit begins, and its driver stops after the running step."""
    ended_at: Mapped[datetime | None]
    error: Mapped[Json | None]
    """`{"code", "detail"}` of a failed session."""
    result: Mapped[Json | None] = mapped_column(VERBATIM)
    """What the graph ended with: leaderboard, metrics, ids of the model and the report."""

    parent_id: Mapped[UUID | None] = mapped_column(ForeignKey("sessions.id", ondelete="SET NULL"))
    parent_seq: Mapped[int | None]

    after_id: Mapped[UUID | None]
    """The session that has to end before this one begins or goes on; null for one that waits for none."""
    wait_until: Mapped[datetime | None]
    """When it goes on though `after_id` has not ended. Set while a step waits for that session."""

    forked_from: Mapped[UUID | None]
    """The source of a fork. No foreign key: deleting the source leaves the fork as it is."""
    family_id: Mapped[UUID | None]
    """The session that all forks of a family began from, directly or not; null for that session itself."""
    fork: Mapped[Json | None] = mapped_column(VERBATIM)
    """`sessions.fork_record.ForkRecord` of a fork: its point, its change and what replays lay over steps."""
    datasets_at: Mapped[datetime | None]
    """Time whose readings of datasets the session uses; null for its creation."""
    request_digest: Mapped[str | None]
    """Digest of the request that made a fork or a turn, to compare with a repeated one."""
    inherited_s: Mapped[float] = mapped_column(server_default=text("0"))
    """Working time in seconds of the source at the point of the fork."""

    stranded_at: Mapped[datetime | None]
    """Since when no live worker can run its version of the graph, while it has something to do."""
    forgotten: Mapped[list[str]] = mapped_column(server_default=text("'{}'"))
    """Parts of an ended session that were kept long enough: `events`, `journal`."""


def _session() -> Mapped[UUID]:
    return mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True)


class StepRow(Base):
    """The journal: one committed superstep."""

    __tablename__ = "steps"

    session_id: Mapped[UUID] = _session()
    seq: Mapped[int] = mapped_column(primary_key=True)
    node: Mapped[str]
    update: Mapped[Json] = mapped_column(VERBATIM)
    fence: Mapped[int] = mapped_column(BigInteger)
    """Fence of the driver that wrote the row; 0 for a row that a fork copied."""
    started_at: Mapped[datetime]
    committed_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    worked_s: Mapped[float | None]
    """Working time of the session in seconds at the commit; null for steps from before forks."""


class CallRow(Base):
    """The journal: one recorded chat-model or tool call (or a choice made from clock or chance)."""

    __tablename__ = "calls"

    session_id: Mapped[UUID] = _session()
    seq: Mapped[int] = mapped_column(primary_key=True)
    """The step that made the call."""
    key: Mapped[str] = mapped_column(primary_key=True)
    """Stable under replay, unique in the step: `chat:3`, `tool:3.0`, `clock:1`."""
    kind: Mapped[str]
    name: Mapped[str]
    agent: Mapped[str | None]
    request_digest: Mapped[str]
    request: Mapped[Any] = mapped_column(VERBATIM)
    result: Mapped[Any] = mapped_column(VERBATIM)
    failed: Mapped[bool] = mapped_column(server_default=text("false"))
    fence: Mapped[int] = mapped_column(BigInteger)
    """Fence of the driver that wrote the row; 0 for a row that a fork copied."""
    started_at: Mapped[datetime]
    duration_ms: Mapped[float]
    recorded_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    usage: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    worked_s: Mapped[float | None]
    """Working time of the session in seconds when the call was recorded; null for calls from before forks."""


class EventRow(Base):
    """An event of a session, numbered without gaps per session."""

    __tablename__ = "events"

    session_id: Mapped[UUID] = _session()
    n: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    kind: Mapped[str]
    body: Mapped[Json] = mapped_column(VERBATIM)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class MessageRow(Base):
    """The conversation as a person reads it."""

    __tablename__ = "messages"

    session_id: Mapped[UUID] = _session()
    seq: Mapped[int] = mapped_column(primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True)
    role: Mapped[str]
    """`user`, an agent's name or `system`."""
    text: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class RoundRow(Base):
    """Candidates that are fitted at the same time; whoever stores the last result wakes the session."""

    __tablename__ = "rounds"

    session_id: Mapped[UUID] = _session()
    round_key: Mapped[str] = mapped_column(primary_key=True)
    """`<step>.<call key>`, as a question's."""
    fits_left: Mapped[int]
    deadline_at: Mapped[datetime]


class FitRow(Base):
    """One candidate of a round: a computation on the `compute` queue with a lease of its own."""

    __tablename__ = "fits"
    __table_args__ = (
        # Sweeps and counts read open fits, and never those of earlier rounds.
        Index("ix_fits_open", "queued_at", postgresql_where=text("status IN ('queued', 'running')")),
    )

    session_id: Mapped[UUID] = _session()
    round_key: Mapped[str] = mapped_column(primary_key=True)
    candidate: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    spec: Mapped[Json]
    """A `sessions.step_scope.Fit` as JSON."""
    status: Mapped[str] = mapped_column(server_default="queued")
    """`queued`, `running`, `done`, `failed`, `left_out`, `cancelled`."""
    result: Mapped[Json | None] = mapped_column(VERBATIM)
    fence: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    lease_until: Mapped[datetime | None]
    runs: Mapped[int] = mapped_column(server_default=text("0"))
    queued_at: Mapped[datetime] = now()
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


class HoldoutLookRow(Base):
    """A look at the hold-out of a family of forks, numbered by the function `count_look` of the schema.

    Without foreign keys: a look counts after its session was deleted. The last session of a family takes its
    rows along.
    """

    __tablename__ = "holdout_looks"
    __table_args__ = (UniqueConstraint("family_id", "number"),)

    family_id: Mapped[UUID]
    session_id: Mapped[UUID] = mapped_column(primary_key=True)
    step: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(primary_key=True)
    """A `sessions.holdout_looks.LookKind`."""
    number: Mapped[int]
    at: Mapped[datetime] = now()


class QuestionRow(Base):
    """A question of an agent and, once given, its answer: a row, never a resume value."""

    __tablename__ = "questions"

    session_id: Mapped[UUID] = _session()
    key: Mapped[str] = mapped_column(primary_key=True)
    """`<step>.<call key>`, so that a call finds its own answer and no other."""
    kind: Mapped[str]
    """`clarification`, `approval` or `budget`."""
    agent: Mapped[str]
    body: Mapped[Json] = mapped_column(VERBATIM)
    """text, options, default, schema of the answer."""
    asked_at: Mapped[datetime] = now()
    answer: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    answered_by: Mapped[str | None]
    """`user` or `default`."""
    answered_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    """When an approval for the rest of the session was taken back."""
