"""The table of artifacts, the outputs of sessions."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, FetchedValue, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.tables.base import Base, Json, new_id


class ArtifactRow(Base):
    """An output of a session, by name; its bytes are a blob."""

    __tablename__ = "artifacts"
    __table_args__ = (
        # Refuses a write that is sent again after its reply was lost (`FencedWriter`).
        UniqueConstraint("session_id", "seq", "call_key", "name"),
        Index("ix_artifacts_owner_id_created_at", "owner_id", text("created_at DESC")),
        # Lists of models: most artifacts are none.
        Index(
            "ix_artifacts_models", "owner_id", text("created_at DESC"), postgresql_where=text("kind = 'model'")
        ),
        Index("ix_artifacts_mentions", "mentions", postgresql_using="gin"),
    )

    id: Mapped[UUID] = new_id()
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
    mentions: Mapped[list[str]] = mapped_column(deferred=True, server_default=FetchedValue())
    """Digests of further blobs in `meta`: the sweep looks them up by index. A trigger fills the column, unless
    it is copied with the row: reading `meta` again would take most of the time of a fork."""
