"""The readings of a dataset over time: the stored one, and those before it was corrected."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from app.db.tables import DatasetRow
from app.modeling.facts.readings import FileReading, derive_reading

MAX_FORMER_READINGS = 20
"""Corrections of one dataset. Each holds a converted table: 20 allow for every column of a doubtful file."""


class FormerReading(BaseModel):
    """The table of a dataset before a correction at `until`."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    until: datetime
    digest: str
    size_bytes: int
    columns: list[dict[str, Any]]
    profile: dict[str, Any]
    reading: FileReading


def get_reading(row: DatasetRow) -> FileReading:
    """The reading of a dataset; of one that was stored before readings were, derived from its format."""
    if row.reading is None:
        return derive_reading(row.columns, row.format)
    return FileReading.model_validate(row.reading)


def reading_at(row: DatasetRow, time: datetime) -> FormerReading:
    """The table and reading that a session that began at `time` uses."""
    former = (FormerReading.model_validate(document) for document in row.former)
    # Former readings are in the order of time: the first that lasted longer is the one of then.
    return next((reading for reading in former if reading.until > time), current_reading(row, time))


def current_reading(row: DatasetRow, until: datetime) -> FormerReading:
    return FormerReading(
        until=until,
        digest=row.digest,
        size_bytes=row.size_bytes,
        columns=row.columns,
        profile=row.profile,
        reading=get_reading(row),
    )


def replace_reading(row: DatasetRow, facts: Mapping[str, Any], digest: str, size_bytes: int) -> None:
    """Store a corrected table and its reading. The present ones become former ones."""
    now = datetime.now(UTC)
    row.former = [*row.former, current_reading(row, now).model_dump(mode="json")]
    row.digest, row.size_bytes = digest, size_bytes
    row.columns, row.profile, row.reading = facts["columns"], facts["profile"], facts["reading"]
    row.reading_changed_at = now
