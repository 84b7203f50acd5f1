"""Tables of saved workflows, their versions, and of jobs."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.tables.base import VERBATIM, Base, Json, new_id, now


class WorkflowRow(Base):
    """A workflow of one owner. Its content is that of its current version."""

    __tablename__ = "workflows"
    __table_args__ = (Index("ix_workflows_owner_id_updated_at", "owner_id", text("updated_at DESC")),)

    id: Mapped[UUID] = new_id()
    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    version: Mapped[int]
    """The current version, moved by compare-and-set."""
    seen_run_at: Mapped[datetime | None]
    """Creation of the newest run that its owner has seen the end of; null before that."""
    created_at: Mapped[datetime] = now()
    updated_at: Mapped[datetime] = now()


class WorkflowVersionRow(Base):
    """One version, which never changes."""

    __tablename__ = "workflow_versions"

    workflow_id: Mapped[UUID] = mapped_column(ForeignKey("workflows.id", ondelete="CASCADE"), primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    document: Mapped[Json] = mapped_column(VERBATIM)
    patch: Mapped[list[Any] | None] = mapped_column(VERBATIM)
    """The patch of RFC 6902 from the version before; null for the first one."""
    message: Mapped[str]
    created_at: Mapped[datetime] = now()
    author_kind: Mapped[str | None]
    """How the owner made it: `person`, `api_key`, `conversation` or `job`; null before authors were named."""
    author_ref: Mapped[UUID | None]
    """The API key, or the session of the conversation's turn or of the job."""


class WorkflowTagRow(Base):
    """A name of a version, which is kept as long as it has one. `version` is moved by compare-and-set."""

    __tablename__ = "workflow_tags"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workflow_id", "version"],
            ["workflow_versions.workflow_id", "workflow_versions.n"],
            name="fk_workflow_tags_workflow_id_workflow_versions",
            ondelete="CASCADE",
        ),
    )

    workflow_id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int]
    moved_at: Mapped[datetime] = now()


class WorkflowProposalRow(Base):
    """A change that was proposed for a version. `status`: open, accepted or rejected."""

    __tablename__ = "workflow_proposals"
    __table_args__ = (
        Index("ix_workflow_proposals_workflow_id_created_at", "workflow_id", text("created_at DESC")),
        Index("ix_workflow_proposals_owner_id", "owner_id"),
    )

    id: Mapped[UUID] = new_id()
    workflow_id: Mapped[UUID] = mapped_column(ForeignKey("workflows.id", ondelete="CASCADE"))
    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    version: Mapped[int]
    """The version that the change begins with: of another one it is not accepted."""
    message: Mapped[str]
    summary: Mapped[str]
    operations: Mapped[list[Any]] = mapped_column(VERBATIM)
    document: Mapped[Json] = mapped_column(VERBATIM)
    """The workflow after the change."""
    status: Mapped[str] = mapped_column(server_default="open")
    created_at: Mapped[datetime] = now()
    decided_at: Mapped[datetime | None]


class SecretRow(Base):
    """A secret of an owner. `sealed`: nonce and AES-GCM text, with owner and name as associated data."""

    __tablename__ = "secrets"

    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    sealed: Mapped[bytes]
    created_at: Mapped[datetime] = now()
    updated_at: Mapped[datetime] = now()


class DataKeyRow(Base):
    """The key that seals all secrets, wrapped by one that is derived from SECRET_KEY. `kid` names that one."""

    __tablename__ = "data_keys"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kid: Mapped[str]
    wrapped: Mapped[bytes]
    updated_at: Mapped[datetime] = now()


class RequestHostRow(Base):
    """A host to which the requests of an owner may go, if HTTP_ALLOWED_HOSTS has it."""

    __tablename__ = "request_hosts"

    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    host: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = now()


class WorkflowTriggerRow(Base):
    """A trigger of a workflow's current version; the database keeps these rows when a version is added."""

    __tablename__ = "workflow_triggers"
    __table_args__ = (
        Index("ix_workflow_triggers_next_at", "next_at"),
        Index("ix_workflow_triggers_owner_id", "owner_id"),
        Index("ix_workflow_triggers_token_digest", "token_digest", unique=True),
    )

    workflow_id: Mapped[UUID] = mapped_column(ForeignKey("workflows.id", ondelete="CASCADE"), primary_key=True)
    node_id: Mapped[str] = mapped_column(primary_key=True)
    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    config: Mapped[Json] = mapped_column(VERBATIM)
    is_armed: Mapped[bool] = mapped_column(server_default=text("false"))
    """`next_at` is a tick; before that it is the time at which the first tick has to be computed."""
    next_at: Mapped[datetime | None]
    last_tick: Mapped[datetime | None]
    token_digest: Mapped[str | None]
    """SHA-256 of the token in the address of a webhook."""
    dataset_name: Mapped[str | None]
    """Name of the dataset that it waits for others of, also when that one is deleted; the database keeps it."""


class WorkflowFiringRow(Base):
    """A new dataset that a trigger waits for, until its run begins; the database adds it with the dataset."""

    __tablename__ = "workflow_firings"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workflow_id", "node_id"],
            ["workflow_triggers.workflow_id", "workflow_triggers.node_id"],
            name="fk_workflow_firings_workflow_id_workflow_triggers",
            ondelete="CASCADE",
        ),
        Index("ix_workflow_firings_created_at", "created_at"),
        Index("ix_workflow_firings_dataset_id", "dataset_id"),
    )

    workflow_id: Mapped[UUID] = mapped_column(primary_key=True)
    node_id: Mapped[str] = mapped_column(primary_key=True)
    dataset_id: Mapped[UUID] = mapped_column(ForeignKey("datasets.id", ondelete="CASCADE"), primary_key=True)
    created_at: Mapped[datetime] = now()


class AgentJobRow(Base):
    """A job of a machine, by its owner and the id that its sender chose. `id` is that of its session."""

    __tablename__ = "agent_jobs"
    __table_args__ = (
        UniqueConstraint("owner_id", "job_id"),
        Index("ix_agent_jobs_owner_id_created_at", "owner_id", text("created_at DESC")),
        # Every worker looks for these several times a second: only what has to be delivered is in it.
        Index("ix_agent_jobs_open", "created_at", postgresql_where=text("delivered_at IS NULL")),
    )

    id: Mapped[UUID] = new_id()
    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    job_id: Mapped[str]
    message: Mapped[Json] = mapped_column(VERBATIM)
    digest: Mapped[str]
    is_queued: Mapped[bool]
    """Its answer goes to the queue, too."""
    answer: Mapped[Json | None] = mapped_column(VERBATIM)
    """The first answer, which stays."""
    claimed_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = now()
    answered_at: Mapped[datetime | None]
    delivered_at: Mapped[datetime | None]
