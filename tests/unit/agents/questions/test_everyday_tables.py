"""Hurried questions of a clinic, a library, a weather station, a league, estate agents and a fund."""

from typing import Any

import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.units import column_unit
from app.agents.goals.words.stemming import tells_agent_from_event
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question

ROWS = 600


def text(name: str, *values: str, hint: Any = "category", distinct: int = 0) -> Column:
    return Column(name, "text", hint, distinct or len(values), top=values, values=values)


def code(name: str, first: str, distinct: int = ROWS) -> Column:
    return Column(name, "text", "id", distinct, unique=distinct == ROWS, top=(first,), values=(first,))


def number(name: str, low: float, high: float, type_: str = "integer", distinct: int = 90) -> Column:
    return Column(name, type_, "numeric", distinct, low=low, high=high)


def date(name: str, low: str, high: str, missing: float = 0.0) -> Column:
    return Column(name, "datetime", "datetime", 300, missing=missing, low=low, high=high)


VISITS = TableProfile(
    "visits",
    ROWS,
    (
        Column("visit_id", "integer", "id", ROWS, unique=True, low=1, high=ROWS),
        text("sex", "F", "M"),
        number("age", 0, 95),
        text("fraud", "no", "yes"),
        code("account", "AC-1", 80),
    ),
)
LOANS = TableProfile(
    "library_loans",
    ROWS,
    (
        code("Loan ID", "L0001"),
        code("Member No", "M001", 200),
        text("Member Type", "adult", "child", "senior"),
        text("Genre", "Children", "Crime"),
        date("Loan Date", "2023-01-01", "2025-06-30"),
        date("Due Date", "2023-01-22", "2025-07-21"),
        date("Return Date", "2023-01-05", "2025-07-30", missing=0.1),
    ),
)
WEATHER = TableProfile(
    "weather",
    ROWS,
    (
        text("Station", "Harbor", "Hilltop"),
        date("Date", "2025-01-01", "2025-12-31"),
        number("Max Temp (C)", -5, 38, "number"),
        number("Min Temp (C)", -15, 24, "number"),
        number("Rain (mm)", 0, 45, "number"),
        number("Wind (km/h)", 0, 80, "number"),
        text("Sky", "rain", "sunny"),
    ),
)
MATCHES = TableProfile(
    "matches",
    ROWS,
    (
        text("season", "2023/24", "2024/25"),
        text("home_team", "Ashby", "Dalton"),
        text("away_team", "Ashby", "Dalton"),
        number("home_goals", 0, 6),
        number("away_goals", 0, 6),
        number("attendance", 4_000, 39_000),
    ),
)
LISTINGS = TableProfile(
    "listings",
    ROWS,
    (
        Column("ListingId", "integer", "id", ROWS, unique=True, low=1, high=ROWS),
        text("City", "Marlow", "Hexham"),
        text("PropertyType", "flat", "house"),
        number("AreaM2", 20, 190),
        number("PriceEur", 48_000, 756_000),
        date("ListedOn", "2024-03-01", "2025-10-31"),
        date("SoldOn", "2024-03-20", "2025-11-20", missing=0.3),
    ),
)
TICKETS = TableProfile(
    "tickets",
    ROWS,
    (
        Column("ticket_id", "integer", "id", ROWS, unique=True, low=1, high=ROWS),
        date("opened_at", "2025-01-01T08:00:00", "2025-06-30T18:00:00"),
        date("closed_at", "2025-01-01T12:00:00", "2025-07-02T18:00:00", missing=0.3),
        text("assignee", "Mia", "Olga"),
        text("status", "closed", "open", "resolved"),
    ),
)
RECEIPTS = TableProfile(
    "receipts",
    ROWS,
    (
        Column("receipt_no", "integer", "id", ROWS, unique=True, low=1, high=ROWS),
        date("opened_at", "2025-03-01T11:00:00", "2025-08-31T22:00:00"),
        date("closed_at", "2025-03-01T12:00:00", "2025-08-31T23:30:00"),
        number("guests", 1, 8, distinct=8),
        number("food", 5, 400, "number"),
        text("paid", "no", "yes"),
    ),
)
MOVEMENTS = TableProfile(
    "stock_movements",
    ROWS,
    (
        code("Movement No", "MV1", ROWS - 3),
        code("SKU", "SKU-1", 60),
        number("Qty", 1, 90),
        date("Moved On", "2024-07-01", "2025-09-30"),
    ),
)
GRANTS = (
    TableProfile(
        "grant_applications",
        ROWS,
        (
            code("ApplicationID", "G-1"),
            code("ApplicantID", "P01", 200),
            text("Decision", "awarded", "pending"),
            number("AmountRequested", 20_000, 400_000),
            number("AmountGranted", 10_000, 300_000),
        ),
    ),
    TableProfile(
        "applicants",
        200,
        (
            Column("ApplicantID", "text", "id", 200, unique=True, top=("P01",), values=("P01",)),
            text("Country", "France", "Spain"),
        ),
    ),
)


@pytest.mark.parametrize(
    ("tables", "question", "description"),
    [
        (GRANTS, "how many applications are pending", "the number of rows, where `Decision` is 'pending'"),
        (GRANTS, "number of applications per applicant", "the number of rows for each `ApplicantID`"),
        (GRANTS, "applicants who never applied", "without any row of `grant_applications`"),
        (
            GRANTS,
            "what fraction of the requested amount was granted",
            "the total of `AmountGranted` and the total of `AmountRequested`",
        ),
        (MOVEMENTS, "movements per week", "the number of rows for each `week`"),
        (MOVEMENTS, "SKUs with fewer than 5 movements", "where `number of movements` is below 5"),
        (RECEIPTS, "how long do guests stay on average", "the mean of (hours between `opened_at` and"),
        (RECEIPTS, "food revenue per month", "the total of `food` for each `month`"),
        (RECEIPTS, "average food per paid receipt", "the mean of `food`, where `paid` is 'yes'"),
        (RECEIPTS, "peak hour", "the number of rows for each `hour`, ranked by the highest `rows`"),
        (RECEIPTS, "std dev of food by paid", "the standard deviation of `food` for each `paid`"),
        (WEATHER, "records with rain above 10 mm and wind above 40", "the rows, where `Rain (mm)` is above 10"),
        (WEATHER, "cumulative rain by month for Hilltop", "with the cumulative sum of `total Rain (mm)`"),
        (WEATHER, "monthly rainfall Harbor vs Hilltop", "the total of `Rain (mm)` for each `month` and"),
        (LOANS, "how many loans by children or seniors", "where `Member Type` is one of 'child', 'senior'"),
        (LOANS, "who borrowed the most books", "the number of rows for each `Member No`, ranked"),
        (
            LOANS,
            "list the loans due before 2024-03-01 that were never returned",
            "where `Due Date` is below 2024-03-01, where `Return Date` is missing",
        ),
        (MATCHES, "median attendance 2023/24 vs 2024/25", "the median of `attendance` for each `season`"),
        (MATCHES, "which team scored the most home goals", "total of `home_goals` for each `home_team`"),
        (MATCHES, "biggest crowd", "the maximum of `attendance`"),
        (LISTINGS, "how many flats under 200k in Marlow", "where `PriceEur` is below 200000"),
        (
            LISTINGS,
            "what percent of listings sold within 60 days",
            "the share of rows where days between `ListedOn` and `SoldOn` is at most 60",
        ),
        (
            VISITS,
            "what share of visits were by women over 50",
            "the share of rows where `sex` is 'F' and `age` is above 50",
        ),
        (
            VISITS,
            "share of visits that were by women over 50",
            "the share of rows where `sex` is 'F' and `age` is above 50",
        ),
        (VISITS, "accounts with at least 2 frauds", "where `number with fraud` is at least 2"),
        (TICKETS, "who closed the most tickets", "for each `assignee`, where `closed_at` is given"),
        (TICKETS, "how many tickets are closed", "the number of rows, where `status` is 'closed'"),
    ],
)
def test_hurried_questions_are_read(
    tables: TableProfile | tuple[TableProfile, ...], question: str, description: str
) -> None:
    parsed = parse_question(question, tables if isinstance(tables, tuple) else [tables])
    assert isinstance(parsed, ParsedQuestion)
    assert description in parsed.description


def test_a_plural_that_is_a_value_and_another_ones_plural_is_asked_about() -> None:
    parsed = parse_question("how many loans by children", [LOANS])
    assert isinstance(parsed, UnparsedQuestion)
    assert {reading.description.split(", ")[1] for reading in parsed.readings[:2]} == {
        "where `Genre` is 'Children'",
        "where `Member Type` is 'child'",
    }


@pytest.mark.parametrize(
    ("first", "second", "is_told"),
    [
        ("applicants", "application", True),
        ("inspector", "inspections", True),
        ("applications", "application", False),
        ("survivors", "survived", False),
    ],
)
def test_who_does_something_is_told_from_what_is_done(first: str, second: str, is_told: bool) -> None:
    assert tells_agent_from_event(first, second) is is_told


def test_an_amount_by_time_is_no_time() -> None:
    assert column_unit("Wind (km/h)") is None
    unit = column_unit("stay_h")
    assert unit is not None
    assert unit.dimension == "time"
