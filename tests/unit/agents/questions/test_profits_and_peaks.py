"""Profits, returns and spreads of two columns, peaks of measures, counts at a pace, and stored values."""

import pytest
from tests.unit.agents.questions.test_flags_and_entities import make_number, make_text

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question

CAMPAIGNS = TableProfile(
    "campaigns",
    40,
    (
        make_text("channel", "search", "social", "email"),
        make_number("spend", 5, 20),
        make_number("conversions", 0, 90),
        make_number("revenue", 10, 90),
    ),
)
QUOTES = TableProfile(
    "quotes",
    40,
    (make_text("option_type", "call", "put"), make_number("bid", 1, 5), make_number("ask", 1, 6)),
)
POLICIES = TableProfile(
    "policies",
    40,
    (
        make_text("make", "Ford", "Audi"),
        make_number("annual_premium", 100, 900),
        make_number("claim_amount", 0, 9_000),
    ),
)
MACHINES = TableProfile(
    "maintenance",
    40,
    (
        Column("udi", "integer", "id", 40, unique=True, low=1, high=40),
        make_number("rotational_speed_rpm", 900, 2_000),
        Column("machine_failure", "integer", "boolean", 2, low=0, high=1, top=(0, 1), values=(0, 1)),
    ),
)
CARS = TableProfile(
    "cars",
    40,
    (
        make_text("fuel", "diesel", "petrol"),
        make_text("city", "Berlin", "Munich"),
        Column("mileage_km", "integer", "numeric", 40, low=1_000, high=250_000),
        Column("price_eur", "integer", "numeric", 40, low=900, high=40_000),
    ),
)


def make_time(name: str, low: str, high: str, examples: tuple[str, ...], unique: bool = False) -> Column:
    return Column(name, "datetime", "datetime", 40, low=low, high=high, examples=examples, unique=unique)


HOURS = tuple(f"2025-01-01T{hour:02}:00:00" for hour in range(5))
LOAD = TableProfile(
    "load",
    40,
    (
        make_time("time", HOURS[0], "2025-01-02T15:00:00", HOURS, unique=True),
        Column("consumption_mwh", "number", "numeric", 40, low=10, high=50),
    ),
)
TRIPS = TableProfile(
    "trips",
    40,
    (
        make_time("pickup", "2025-01-01T04:10:00", "2025-01-20T15:00:00", ("2025-01-01T04:10:00",)),
        make_text("borough", "Queens", "Bronx"),
        Column("passenger_count", "integer", "numeric", 5, low=1, high=5),
    ),
)
BIKES = TableProfile(
    "bikes",
    400,
    (
        make_time("day", "2025-01-01T00:00:00", "2025-01-16T00:00:00", ("2025-01-01T00:00:00",)),
        Column("hr", "integer", "numeric", 24, low=0, high=23),
        Column("casual", "integer", "numeric", 90, low=0, high=99),
    ),
)
TICKETS = TableProfile(
    "tickets",
    40,
    (
        Column("ticket_id", "integer", "id", 40, unique=True, low=1, high=40),
        make_time("created_at", "2025-01-01T04:10:00", "2025-01-20T15:00:00", ("2025-01-01T04:10:00",)),
        make_time("closed_at", "2025-01-02T04:10:00", "2025-01-21T15:00:00", ("2025-01-02T04:10:00",)),
        make_text("assignee", "ana", "lee"),
        make_text("resolved", "no", "yes"),
        Column("csat", "integer", "numeric", 5, low=1, high=5),
    ),
)
ELECTIONS = TableProfile(
    "elections",
    40,
    (
        make_text("state", "Ohio", "Texas"),
        make_text("candidate", "Hill", "Moss"),
        Column("votes", "integer", "numeric", 40, low=100, high=9_000),
    ),
)


@pytest.mark.parametrize(
    ("table", "question", "reading"),
    [
        (CAMPAIGNS, "which channel makes the most profit", "total of (`revenue` - `spend`) for each `channel`"),
        (CAMPAIGNS, "profit per channel", "total of (`revenue` - `spend`) for each `channel`"),
        (CAMPAIGNS, "which channel gives the best return", "`total revenue` divided by `total spend`"),
        (CAMPAIGNS, "which channel has the worst ROI", "ranked by the lowest `revenue per spend`"),
        (QUOTES, "average bid-ask spread of calls", "the mean of (`ask` - `bid`), where `option_type` is"),
        (POLICIES, "loss ratio by make", "`total claim_amount` divided by `total annual_premium`"),
        (LOAD, "peak hour of consumption", "mean of `consumption_mwh` for each `hour`, ranked by the high"),
        (LOAD, "which hour has the lowest consumption", "for each `hour`, ranked by the lowest `mean"),
        (LOAD, "peak month of consumption", "total of `consumption_mwh` for each `month`, ranked by the"),
        (TRIPS, "how many trips a day per borough", "the number of rows for each `day` and `borough`"),
        (TRIPS, "how many passengers a day", "the total of `passenger_count` for each `day`"),
        (BIKES, "average casual by hour", "the mean of `casual` for each `hr`"),
        (TICKETS, "who closed the most tickets", "the number of rows for each `assignee`"),
        (TICKETS, "resolution rate by assignee", "share of rows where `resolved` is 'yes' for each `assignee`"),
        (TICKETS, "who has the best csat", "the mean of `csat` for each `assignee`"),
        (MACHINES, "how many machines run over 1700 rpm", "rows, where `rotational_speed_rpm` is above 1700,"),
        (MACHINES, "how many machines failed", "the number of rows, where `machine_failure` is 1, from"),
        (CARS, "cheapest diesel under 50000 km in Berlin", "where `fuel` is 'diesel'"),
    ],
)  # fmt: skip
def test_a_question_of_a_field_is_read_by_its_columns(table: TableProfile, question: str, reading: str) -> None:
    parsed = parse_question(question, [table])
    assert isinstance(parsed, ParsedQuestion), parsed
    assert reading in parsed.description


@pytest.mark.parametrize(
    ("table", "question"),
    [
        (QUOTES, "profit by option type"),
        (TICKETS, "who closes the most tickets"),
        (ELECTIONS, "who won in Ohio"),
        (BIKES, "busiest hour of the days in January"),
    ],
)
def test_a_term_of_no_column_is_asked_about(table: TableProfile, question: str) -> None:
    parsed = parse_question(question, [table])
    if isinstance(parsed, UnparsedQuestion):
        return
    assert not {"`day`", "`hour`"} & {*parsed.description.split()}, parsed.description
