"""Tables of conversations: threads, their worldlines and their turns."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.tables.base import Base, new_id, now


class ThreadRow(Base):
    """A conversation of one owner about some datasets."""

    __tablename__ = "threads"
    __table_args__ = (Index("ix_threads_owner_id_updated_at", "owner_id", text("updated_at DESC")),)

    id: Mapped[UUID] = new_id()
    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    title: Mapped[str]
    dataset_ids: Mapped[list[UUID]]
    """Datasets of the next turn; each turn keeps those that it began with."""
    created_at: Mapped[datetime] = now()
    updated_at: Mapped[datetime] = now()
    """Time of the last message or change."""
    archived_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]
    """Set while its turns are deleted: it takes no more of them, and nobody sees it."""


class WorldlineRow(Base):
    """A named branch of a thread: a pointer to its last turn."""

    __tablename__ = "worldlines"
    __table_args__ = (UniqueConstraint("thread_id", "name"),)

    id: Mapped[UUID] = new_id()
    thread_id: Mapped[UUID] = mapped_column(ForeignKey("threads.id", ondelete="CASCADE"))
    name: Mapped[str]
    head_id: Mapped[UUID | None]
    """The last turn, moved by the statement that creates the next one; null before the first."""
    from_turn_id: Mapped[UUID | None]
    """The turn that the branch began at; null for the first worldline of a thread."""
    created_at: Mapped[datetime] = now()


class TurnRow(Base):
    """One message of a user: a session of the graph `chat`, in the tree of its thread."""

    __tablename__ = "turns"

    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True)
    thread_id: Mapped[UUID] = mapped_column(ForeignKey("threads.id", ondelete="CASCADE"), index=True)
    worldline_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("worldlines.id", ondelete="SET NULL"), index=True
    )
    """The worldline that it was said in; null once that is deleted."""
    parent_id: Mapped[UUID | None] = mapped_column(index=True)
    """The turn before it. No foreign key: a thread is deleted as a whole."""
    mode: Mapped[str]
    """`auto`, `sql`, `python` or `plan`."""
