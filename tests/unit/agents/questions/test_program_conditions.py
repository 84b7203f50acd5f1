"""Conditions of programs keep the rows that pandas keeps."""

from collections.abc import Iterator

import pandas as pd
import pytest
from tests.unit.agents.questions.program_tables import (
    Reference,
    Tables,
    cells,
    open_program_tables,
    period,
    rows_of,
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    with open_program_tables(tmp_path_factory.mktemp("tables")) as opened:
        yield opened


CONDITIONS: list[tuple[str, Reference]] = [
    ("missing(tip)", lambda t: t.tip.isna()),
    ("present(tip), ward != 'East'", lambda t: t.tip.notna() & (t.ward != "East")),
    ("not_(ward == 'East')", lambda t: t.ward != "East"),
    ("any_of(ward == 'East', fare > 40)", lambda t: (t.ward == "East") | (t.fare > 40)),
    ("ward in ('east', 'North')", lambda t: t.ward.isin(["East", "North"])),
    ("ward not in ('East', 'North')", lambda t: t.ward == "South"),
    ("kind in ('Guest', 'member')", lambda t: t.kind.notna()),
    ("contains(ward, 'OR')", lambda t: t.ward == "North"),
    ("starts(ward, 'so')", lambda t: t.ward == "South"),
    ("between(fare, 10, 20)", lambda t: t.fare.between(10, 20)),
    ("seats == '3'", lambda t: t.seats == 3),
    ("paid == True, helmet == True, late == False", lambda t: (t.paid == 1) & (t.helmet == "yes") & ~t.late),
    ("helmet == 'N', late == 'yes'", lambda t: (t.helmet == "no") & t.late),
    ("late != True", lambda t: ~t.late),
    ("size >= 'M'", lambda t: t["size"].isin(["M", "L"])),
    ("fare > mean(fare)", lambda t: t.fare > t.fare.mean()),
    ("fare <= median(fare)", lambda t: t.fare <= t.fare.median()),
    ("fare > quantile(fare, 0.9)", lambda t: t.fare > t.fare.quantile(0.9)),
    (
        "late == True, fare - tip > mean(fare - tip)",
        lambda t: t.late & ((t.fare - t.tip) > (t[t.late].fare - t[t.late].tip).mean()),
    ),
    ("any_of(fare > mean(fare), tip > mean(tip))", lambda t: (t.fare > t.fare.mean()) | (t.tip > t.tip.mean())),
    ("fare > tip * seats", lambda t: t.fare > t.tip * t.seats),
    ("days(booked, started) > 10", lambda t: (t.started.dt.normalize() - t.booked).dt.days > 10),
    ("hour(wait) == 8", lambda t: t.wait.str[:2] == "08"),
    ("wait >= '18:30'", lambda t: t.wait >= "18:30"),
    ("year(started) == 2023", lambda t: t.started.dt.year == 2023),
    ("year(started) in (2022, 2023)", lambda t: t.started.dt.year > 2021),
    ("year(started) < 2023", lambda t: t.started.dt.year < 2023),
    ("yearmonth(started) == '2023-01'", lambda t: t.started.dt.strftime("%Y-%m") == "2023-01"),
    ("yearmonth(started) != '2023-01'", lambda t: t.started.dt.strftime("%Y-%m") != "2023-01"),
    (
        "yearmonth(started) in ('2023-01', '2023-03')",
        lambda t: t.started.dt.strftime("%Y-%m").isin(["2023-01", "2023-03"]),
    ),
    ("yearquarter(started) == '2023-Q1'", lambda t: t.started.dt.to_period("Q") == "2023Q1"),
    ("week(started) == '2023-W12'", lambda t: period(t, "W") == pd.Timestamp("2023-03-20")),
    ("week(started) == 12", lambda t: t.started.dt.isocalendar().week == 12),
    ("day(started) == '2023-02-23'", lambda t: t.started.dt.date == pd.Timestamp("2023-02-23").date()),
    ("started >= '2023-01-01'", lambda t: t.started >= "2023-01-01"),
    ("started > '2023-01-31'", lambda t: t.started >= "2023-02-01"),
    ("started <= '2023-01'", lambda t: t.started < "2023-02-01"),
    ("started < '2023-01-05 12:00'", lambda t: t.started < "2023-01-05 12:00"),
    ("started == '2023-01'", lambda t: t.started.dt.strftime("%Y-%m") == "2023-01"),
    (
        "between(started, '2023-01-10', '2023-01-31')",
        lambda t: (t.started >= "2023-01-10") & (t.started < "2023-02-01"),
    ),
    ("month(started) == 1", lambda t: t.started.dt.month == 1),
    ("month(started) == 'January'", lambda t: t.started.dt.month == 1),
    ("between(month(started), 11, 1)", lambda t: t.started.dt.month.isin([11, 12, 1])),
    ("quarter(started) == 'Q1'", lambda t: t.started.dt.quarter == 1),
    ("weekday(started) == 'Monday'", lambda t: t.started.dt.day_of_week == 0),
    ("weekday(started) in ('Saturday', 'Sun')", lambda t: t.started.dt.day_of_week >= 5),
    ("hour(started) >= 18", lambda t: t.started.dt.hour >= 18),
    ("last(started, 30, 'day')", lambda t: t.started >= t.started.max().normalize() - pd.Timedelta("29D")),
    ("last(started, 24, 'hour')", lambda t: t.started > t.started.max() - pd.Timedelta("24h")),
    ("this(started, 'month')", lambda t: period(t, "M") == period(t, "M").max()),
    (
        "previous(started, 'month')",
        lambda t: t.started.dt.to_period("M") == t.started.max().to_period("M") - 1,
    ),
]


@pytest.mark.parametrize(("condition", "reference"), CONDITIONS)
def test_conditions_keep_the_rows_that_meet_them(tables: Tables, condition: str, reference: Reference) -> None:
    trips = tables.frames["trips"]
    kept = trips[reference(trips)]["trip_id"].tolist()
    assert kept
    answer = tables.answer(f"rows(trip_id), where({condition}), sort(trip_id)")
    assert answer["trip_id"].tolist() == kept


def test_years_may_be_numbers(tables: Tables) -> None:
    joined = tables.frames["riders"]["joined"]
    latest = joined.max()
    counts = {
        "count(), where(year(joined) == 2015)": (joined == 2015).sum(),
        "count(), where(last(joined, 3, 'year'))": (joined > latest - 3).sum(),
        "count(), where(this(joined, 'year'))": (joined == latest).sum(),
    }
    assert {program: tables.answer(program, ["riders"]).iat[0, 0] for program in counts} == counts
    by_year = tables.answer("count(), by(year(joined))", ["riders"])
    assert cells(by_year) == rows_of(joined.value_counts().sort_index())
