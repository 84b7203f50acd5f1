"""The usual time between neighbouring rows."""

from datetime import datetime, timedelta

import pytest

from app.agents.goals.tables.profiles import Column, row_spacing_s


@pytest.mark.parametrize(
    ("between_rows", "missing_rows", "spacing"),
    [
        (timedelta(minutes=20), 0, timedelta(minutes=20)),
        (timedelta(minutes=40), 0, timedelta(minutes=40)),
        (timedelta(minutes=5), 37, timedelta(minutes=5)),
        (timedelta(minutes=15), 13, timedelta(minutes=15)),
    ],
)
def test_gaps_are_told_from_the_spacing_itself(
    between_rows: timedelta, missing_rows: int, spacing: timedelta
) -> None:
    first, rows = datetime(2024, 1, 1), 300
    last = first + (rows - 1 + missing_rows) * between_rows
    column = Column("read_at", "datetime", "datetime", rows, low=first.isoformat(), high=last.isoformat())
    assert row_spacing_s(column) == spacing.total_seconds()
