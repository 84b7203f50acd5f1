"""Tables in the terminal: times without what is the same in all of them, and numbers with their digits."""

import pytest

from app.cli.terminal.result_table import format_cell, format_number, shorten_times


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


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1201525.71, "1201525.71"),
        (902774.0, "902774"),
        (104574.8, "104574.8"),
        (0.0736607142, "0.0736607"),
        (6.8938053, "6.89381"),
        (0.0, "0"),
        (-48.2, "-48.2"),
        (1.5e-9, "1.5e-09"),
        (2.5e20, "2.5e+20"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_keep_their_digits_and_cents(number: float, text: str) -> None:
    assert format_cell(number) == text


def test_thousands_have_commas_where_a_chart_names_them() -> None:
    assert format_number(1201525.71, is_grouped=True) == "1,201,525.71"
