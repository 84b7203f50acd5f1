"""Tables of uploaded datasets and of price bars."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.tables.base import Base, Json, new_id, now


class DatasetRow(Base):
    __tablename__ = "datasets"
    __table_args__ = (
        UniqueConstraint("owner_id", "idempotency_key"),
        Index("ix_datasets_owner_id_created_at", "owner_id", text("created_at DESC")),
    )

    id: Mapped[UUID] = new_id()
    owner_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    """Chosen by its owner, not unique; a session derives a unique table name from it for SQL."""
    filename: Mapped[str]
    source_digest: Mapped[str]
    """Digest of the uploaded file, which is not stored: it identifies a repeated upload."""
    source_size_bytes: Mapped[int] = mapped_column(BigInteger)
    digest: Mapped[str]
    """The Parquet file that the upload was converted to."""
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    rows: Mapped[int] = mapped_column(BigInteger)
    columns: Mapped[list[Any]]
    """`[{"name", "type", ...}]` in file order."""
    format: Mapped[Json]
    """Detected format: kind, delimiter, decimal, encoding, compression, notes."""
    profile: Mapped[Json]
    reading: Mapped[Json | None]
    """`readings.FileReading`; null for datasets that were stored before readings were."""
    cells_digest: Mapped[str | None]
    """Parquet file of the columns that have a second reading, as written; null if there are none."""
    former: Mapped[list[Any]] = mapped_column(server_default=text("'[]'"))
    """`file_readings.FormerReading`, earliest first: sessions use the reading of the time that they began."""
    reading_changed_at: Mapped[datetime | None]
    note: Mapped[str] = mapped_column(server_default=text("''"))
    """What its owner writes about it, as plain text; empty without a note."""
    idempotency_key: Mapped[str | None]
    created_at: Mapped[datetime] = now()


class PriceSeriesRow(Base):
    """Bars of one coin at one interval; shared by all users when `owner_id` is null."""

    __tablename__ = "price_series"
    # Shared series have no owner, and nulls would make each of them unlike all others.
    __table_args__ = (UniqueConstraint("owner_id", "coin", "interval_s", postgresql_nulls_not_distinct=True),)

    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    owner_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    coin: Mapped[str]
    interval_s: Mapped[int]
    bars: Mapped[int] = mapped_column(BigInteger)
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]
    summary: Mapped[Json]
    """Of all its bars: `bars.summary.SeriesSummary.to_json`."""
    updated_at: Mapped[datetime] = now()


class PriceBarRow(Base):
    """One bar. A trigger deletes a series' bars: a foreign key would be checked for millions of rows."""

    __tablename__ = "price_bars"

    series_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    ts: Mapped[datetime] = mapped_column(primary_key=True)
    """Start of the bar."""
    open: Mapped[float]
    high: Mapped[float]
    low: Mapped[float]
    close: Mapped[float]
    volume: Mapped[float]
