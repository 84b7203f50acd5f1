"""Tables of worker processes and of work that any of them may take."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.tables.base import Base, Json, new_id, now


class DeletionRow(Base):
    """A requested deletion that waits for sessions to end; workers complete it, also after crashes."""

    __tablename__ = "deletions"
    __table_args__ = (
        # One open deletion of a target: a request that is repeated adds none.
        Index(
            "ix_deletions_open",
            "kind",
            "target_id",
            unique=True,
            postgresql_where=text("done_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = new_id()
    kind: Mapped[str] = mapped_column(CheckConstraint("kind IN ('session', 'user', 'thread')", name="kind"))
    target_id: Mapped[UUID]
    owner_id: Mapped[UUID]
    """No foreign key: the row outlives its owner."""
    asked_by: Mapped[str]
    """`user`, `admin`, `operator` or `retention`."""
    asked_at: Mapped[datetime] = now()
    lease_until: Mapped[datetime | None]
    gone: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    """Number of deleted rows so far, by kind."""
    done_at: Mapped[datetime | None]


class ChoreRow(Base):
    """Periodic work of the fleet; the process that advances `due_at` performs it."""

    __tablename__ = "chores"

    name: Mapped[str] = mapped_column(primary_key=True)
    due_at: Mapped[datetime] = now()


class WorkerRow(Base):
    """A worker process that was alive at `seen_at`."""

    __tablename__ = "workers"

    id: Mapped[UUID] = new_id()
    graphs: Mapped[Json]
    """Versions of graphs that the process can run, by graph: `{"pipeline": [7, 8]}`."""
    queues: Mapped[list[str]]
    fit_slots: Mapped[int] = mapped_column(server_default=text("0"))
    """Number of concurrent fits; 0 for a worker that serves no `compute` queue."""
    started_at: Mapped[datetime] = now()
    seen_at: Mapped[datetime] = now()
