"""The schema on one page.

Times are aware UTC, sizes bytes, ids random UUIDs. Digests are lower-case hexadecimal SHA-256.
"""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Computed,
    DateTime,
    Double,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    MetaData,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSON, JSONB
from sqlalchemy.dialects.postgresql import UUID as PgUUID
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

Json = dict[str, Any]

# Kept as written: jsonb reorders keys and turns 1e16 into an integer, and then replay differs from live.
VERBATIM = JSON


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - read by SQLAlchemy, never written
        str: Text,
        UUID: PgUUID(as_uuid=True),
        datetime: DateTime(timezone=True),
        Json: JSONB,
        list[Any]: JSONB,
        list[UUID]: ARRAY(PgUUID(as_uuid=True)),
        list[str]: ARRAY(Text),
        float: Double,
    }


def _id() -> Mapped[UUID]:
    return mapped_column(primary_key=True, default=uuid4)


def _now() -> Mapped[datetime]:
    return mapped_column(server_default=func.now())


class UserRow(Base):
    __tablename__ = "users"

    id: Mapped[UUID] = _id()
    email: Mapped[str] = mapped_column(unique=True)
    """Lower-cased by auth before it comes here."""
    password_hash: Mapped[str]
    role: Mapped[str] = mapped_column(CheckConstraint("role IN ('user', 'admin')", name="role"))
    created_at: Mapped[datetime] = _now()
    disabled_at: Mapped[datetime | None]
    quotas: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    """What this user may have beside the settings: `auth.quotas.QuotaWish` as JSON."""


class RefreshTokenRow(Base):
    """One link of a rotating chain; using a used one revokes its whole family."""

    __tablename__ = "refresh_tokens"

    id: Mapped[UUID] = _id()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    family: Mapped[UUID] = mapped_column(index=True)
    issued_at: Mapped[datetime] = _now()
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class ApiKeyRow(Base):
    __tablename__ = "api_keys"

    id: Mapped[UUID] = _id()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    prefix: Mapped[str]
    """The key's first characters, so that its owner can tell keys apart."""
    key_hash: Mapped[str] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    """`auth.principal.Scope`s."""
    created_at: Mapped[datetime] = _now()
    last_used_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class AuditRow(Base):
    """Append-only: who did what to which thing."""

    __tablename__ = "audit"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=True)
    at: Mapped[datetime] = _now()
    owner_id: Mapped[UUID | None] = mapped_column(index=True)
    session_id: Mapped[UUID | None] = mapped_column(index=True)
    actor: Mapped[str]
    """`user`, `system` or an agent's name."""
    action: Mapped[str]
    detail: Mapped[Json] = mapped_column(server_default=text("'{}'"))


class BlobRow(Base):
    """Bytes by content address; in Postgres they lie in `blob_chunks`, else in the chosen store."""

    __tablename__ = "blobs"

    digest: Mapped[str] = mapped_column(primary_key=True)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = _now()


class BlobChunkRow(Base):
    __tablename__ = "blob_chunks"

    digest: Mapped[str] = mapped_column(ForeignKey("blobs.digest", ondelete="CASCADE"), primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class DatasetRow(Base):
    __tablename__ = "datasets"
    __table_args__ = (
        UniqueConstraint("owner_id", "idempotency_key"),
        Index("ix_datasets_owner_id_created_at", "owner_id", text("created_at DESC")),
    )

    id: Mapped[UUID] = _id()
    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    """Chosen by its owner, a table name in SQL; unique only in the eyes of a session."""
    filename: Mapped[str]
    source_digest: Mapped[str]
    """Of the upload as it was sent, which is not kept: the same file sent again is known by it."""
    source_size_bytes: Mapped[int] = mapped_column(BigInteger)
    digest: Mapped[str]
    """The Parquet file that the upload was converted to."""
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    rows: Mapped[int] = mapped_column(BigInteger)
    columns: Mapped[list[Any]]
    """`[{"name", "type", ...}]` in file order."""
    format: Mapped[Json]
    """What was sniffed: kind, delimiter, decimal, encoding, compression, notes."""
    profile: Mapped[Json]
    idempotency_key: Mapped[str | None]
    created_at: Mapped[datetime] = _now()


class PriceSeriesRow(Base):
    """Bars of one coin at one interval: a user's own, or everybody's when nobody owns it."""

    __tablename__ = "price_series"
    __table_args__ = (UniqueConstraint("owner_id", "coin", "interval_s", postgresql_nulls_not_distinct=True),)

    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    owner_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    coin: Mapped[str]
    interval_s: Mapped[int]
    bars: Mapped[int] = mapped_column(BigInteger)
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]
    summary: Mapped[Json]
    """Of all its bars: `computations.bars.summary.Summary.kept`."""
    updated_at: Mapped[datetime] = _now()


class PriceBarRow(Base):
    """One bar. A foreign key would be asked for each of millions: a trigger drops a series' bars instead."""

    __tablename__ = "price_bars"

    series_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    ts: Mapped[datetime] = mapped_column(primary_key=True)
    """When it began."""
    open: Mapped[float]
    high: Mapped[float]
    low: Mapped[float]
    close: Mapped[float]
    volume: Mapped[float]


class SessionRow(Base):
    """Where a session stands. Only guarded UPDATEs of `sessions/lease.py` move it."""

    __tablename__ = "sessions"
    __table_args__ = (
        UniqueConstraint("owner_id", "idempotency_key"),
        Index("ix_sessions_live", "queued_at", postgresql_where=text("ended_at IS NULL")),
        Index("ix_sessions_owner_id_created_at", "owner_id", text("created_at DESC")),
        Index("ix_sessions_parent_id", "parent_id", postgresql_where=text("parent_id IS NOT NULL")),
        Index("ix_sessions_ended_at", "ended_at", postgresql_where=text("ended_at IS NOT NULL")),
        Index("ix_sessions_keyed", "created_at", postgresql_where=text("idempotency_key IS NOT NULL")),
        Index("ix_sessions_at_work", "owner_id", postgresql_where=text("ended_at IS NULL")),
        Index(
            "ix_sessions_in_line",
            "owner_id",
            "created_at",
            postgresql_where=text("ended_at IS NULL AND admitted_at IS NULL"),
        ),
        # Room in the page for the updates of a running session, which touch no index.
        {"postgresql_with": {"fillfactor": "60"}},
    )

    id: Mapped[UUID] = _id()
    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    graph: Mapped[str] = mapped_column(server_default="pipeline")
    graph_version: Mapped[int | None]
    """The version that its first driver ran."""
    goal: Mapped[str]
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

    queued_at: Mapped[datetime] = _now()
    created_at: Mapped[datetime] = _now()
    admitted_at: Mapped[datetime | None] = mapped_column(server_default=func.now())
    """None while it waits in line for one of the places that sessions may run in; see `sessions/line.py`."""
    started_at: Mapped[datetime | None]
    deadline_at: Mapped[datetime | None]
    """The session's time limit; the sweeper ends what is past it."""
    waiting_since: Mapped[datetime | None]
    """Set while it waits for the user: that time does not count, the next claim moves `deadline_at` by it."""
    waited_s: Mapped[float] = mapped_column(server_default=text("0"))
    """Seconds that it has waited for its user so far."""
    ended_at: Mapped[datetime | None]
    error: Mapped[Json | None]
    """`{"code", "detail"}` of a failed session."""
    result: Mapped[Json | None] = mapped_column(VERBATIM)
    """What the graph ended with: leaderboard, metrics, ids of the model and the report."""

    parent_id: Mapped[UUID | None] = mapped_column(ForeignKey("sessions.id", ondelete="SET NULL"), index=True)
    parent_seq: Mapped[int | None]

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
    started_at: Mapped[datetime]
    committed_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


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
    started_at: Mapped[datetime]
    duration_ms: Mapped[float]
    recorded_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    usage: Mapped[Json] = mapped_column(server_default=text("'{}'"))


class EventRow(Base):
    """What a watcher can see, numbered without gaps per session."""

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
        Index("ix_fits_open", "queued_at", postgresql_where=text("status IN ('queued', 'running')")),
    )

    session_id: Mapped[UUID] = _session()
    round_key: Mapped[str] = mapped_column(primary_key=True)
    candidate: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    spec: Mapped[Json]
    """A `sessions.scope.Fit` as JSON."""
    status: Mapped[str] = mapped_column(server_default="queued")
    """`queued`, `running`, `done`, `failed`, `left_out`, `cancelled`."""
    result: Mapped[Json | None] = mapped_column(VERBATIM)
    fence: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    lease_until: Mapped[datetime | None]
    runs: Mapped[int] = mapped_column(server_default=text("0"))
    queued_at: Mapped[datetime] = _now()
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


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
    asked_at: Mapped[datetime] = _now()
    answer: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    answered_by: Mapped[str | None]
    """`user` or `default`."""
    answered_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    """When an approval for the rest of the session was taken back."""


class ArtifactRow(Base):
    """Something a session left, by name; its bytes are a blob."""

    __tablename__ = "artifacts"
    __table_args__ = (
        UniqueConstraint("session_id", "seq", "call_key", "name"),
        Index("ix_artifacts_owner_id_created_at", "owner_id", text("created_at DESC")),
        Index(
            "ix_artifacts_models", "owner_id", text("created_at DESC"), postgresql_where=text("kind = 'model'")
        ),
        Index("ix_artifacts_mentions", "mentions", postgresql_using="gin"),
    )

    id: Mapped[UUID] = _id()
    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    session_id: Mapped[UUID | None] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"), index=True)
    seq: Mapped[int]
    call_key: Mapped[str] = mapped_column(server_default="")
    kind: Mapped[str]
    """`frame`, `holdout`, `figure`, `table`, `model`, `model_card`, `report`, `text`, `other`."""
    name: Mapped[str]
    media_type: Mapped[str]
    digest: Mapped[str] = mapped_column(index=True)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    meta: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    mentions: Mapped[list[str]] = mapped_column(Computed("digests_in(meta)", persisted=True), deferred=True)
    """Digests of further blobs that `meta` names."""


class DeletionRow(Base):
    """What is to be deleted and cannot go at once; workers finish it, however often they are killed."""

    __tablename__ = "deletions"
    __table_args__ = (
        Index(
            "ix_deletions_open",
            "kind",
            "target_id",
            unique=True,
            postgresql_where=text("done_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = _id()
    kind: Mapped[str] = mapped_column(CheckConstraint("kind IN ('session', 'user')", name="kind"))
    target_id: Mapped[UUID]
    owner_id: Mapped[UUID]
    """No foreign key: it outlives its owner."""
    asked_by: Mapped[str]
    """`user`, `admin` or `operator`."""
    asked_at: Mapped[datetime] = _now()
    lease_until: Mapped[datetime | None]
    gone: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    """How much of each kind has gone so far."""
    done_at: Mapped[datetime | None]


class ChoreRow(Base):
    """Work that some process of the fleet does now and then; whoever moves `due_at` does it."""

    __tablename__ = "chores"

    name: Mapped[str] = mapped_column(primary_key=True)
    due_at: Mapped[datetime] = _now()


class WorkerRow(Base):
    """A worker process that was alive at `seen_at`."""

    __tablename__ = "workers"

    id: Mapped[UUID] = _id()
    graphs: Mapped[Json]
    """Versions that it can run, by graph: `{"pipeline": [7, 8]}`."""
    queues: Mapped[list[str]]
    started_at: Mapped[datetime] = _now()
    seen_at: Mapped[datetime] = _now()
