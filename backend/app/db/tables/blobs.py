"""Tables of blobs: content addresses and, for the Postgres store, bytes."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from app.db.tables.base import Base, now


class BlobRow(Base):
    """A blob by its content address; bytes are in `blob_chunks` or in the configured store."""

    __tablename__ = "blobs"

    digest: Mapped[str] = mapped_column(primary_key=True)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = now()


class BlobChunkRow(Base):
    __tablename__ = "blob_chunks"

    digest: Mapped[str] = mapped_column(ForeignKey("blobs.digest", ondelete="CASCADE"), primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)
