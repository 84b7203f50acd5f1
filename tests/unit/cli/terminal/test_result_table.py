"""Tables in the terminal: times without what is the same in all of them."""

import pytest

from app.cli.terminal.result_table import shorten_times


@pytest.mark.parametrize(
    ("name", "cells", "shown"),
    [
        ("month", ["2025-01-01T00:00:00", None, "2025-11-01T00:00:00"], ["2025-01", None, "2025-11"]),
        ("quarter", ["2025-01-01T00:00:00", "2025-10-01T00:00:00"], ["2025 Q1", "2025 Q4"]),
        ("year", ["2025-01-01T00:00:00"], ["2025"]),
        ("month", ["2025-01-15T00:00:00"], ["2025-01-15"]),
        ("ordered_at", ["2025-01-01T00:00:00", "2025-02-01T00:00:00"], ["2025-01-01", "2025-02-01"]),
        ("ordered_at", ["2025-01-01T00:00:00", "2025-02-01T08:30:00"], None),
        ("n", [1, 2], None),
    ],
)
def test_times_are_shown_without_what_all_have(
    name: str, cells: list[object], shown: list[object] | None
) -> None:
    assert shorten_times(name, cells) == (cells if shown is None else shown)
