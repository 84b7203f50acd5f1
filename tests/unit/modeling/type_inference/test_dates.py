"""Dates are parsed in every supported spelling; day or month first is inferred from the column."""

import datetime as dt
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.modeling.type_inference.column_decisions import infer_types, make_parsers
from app.modeling.type_inference.parsers import parse_columns

from .inference import parse_frame

moments = st.lists(
    st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2060, 12, 31)).map(lambda at: at.replace(microsecond=0)),
    min_size=10,
    max_size=30,
    unique=True,
).filter(lambda times: any(at.day > 12 for at in times))
SPELLED: dict[str, Callable[[dt.datetime], str]] = {
    "iso": lambda at: at.isoformat(),
    "iso with zone": lambda at: (
        at.replace(tzinfo=dt.UTC).astimezone(dt.timezone(dt.timedelta(hours=5, minutes=30))).isoformat()
    ),
    "slashes, day first": lambda at: at.strftime("%d/%m/%Y %H:%M:%S"),
    "slashes, month first": lambda at: at.strftime("%m/%d/%Y %I:%M:%S %p"),
    "dots": lambda at: at.strftime("%d.%m.%Y %H:%M:%S"),
    "named month": lambda at: at.strftime("%d %b %Y %H:%M:%S"),
    "american": lambda at: at.strftime("%B %d, %Y %H:%M:%S"),
    "mail": lambda at: at.strftime("%a, %d %b %Y %H:%M:%S GMT"),
    "compact": lambda at: at.strftime("%Y%m%dT%H%M%SZ"),
}


@pytest.mark.parametrize("spelling", SPELLED)
@given(times=moments)
@settings(max_examples=25, deadline=None)
def test_dates_in_every_spelling_are_parsed(spelling: str, times: list[dt.datetime]) -> None:
    frame = pd.DataFrame({"at": [SPELLED[spelling](at) for at in times]})
    read = parse_frame(frame)["at"]
    assert read.dt.to_pydatetime().tolist() == times


def test_several_spellings_in_one_column_are_parsed() -> None:
    texts = ["2024-01-31", "31/01/2024", "Jan 31, 2024", "31 January 2024", "31. Januar 2024", "20240131"]
    frame = pd.DataFrame({"day": texts})
    assert set(parse_frame(frame)["day"]) == {pd.Timestamp("2024-01-31")}


def test_the_order_of_the_rows_decides_day_or_month_first() -> None:
    days = [day for day in pd.date_range("2024-01-01", "2024-04-01") if day.day <= 12]
    frame = pd.DataFrame({"day": [day.strftime("%d/%m/%Y") for day in days]})
    (decision,) = infer_types(frame)
    assert decision.evidence["decided"] == "only so are the rows in order"
    assert parse_frame(frame)["day"].tolist() == days


def test_an_undecidable_order_of_day_and_month_is_reported() -> None:
    (decision,) = infer_types(pd.DataFrame({"day": ["05/06/2024", "02/03/2024", "07/01/2024", "01/09/2024"]}))
    assert decision.confidence == 0.5
    assert "unclear" in decision.text


def test_counts_since_1970_need_a_time_name_or_ascending_rows() -> None:
    seconds = np.sort(np.random.default_rng(0).integers(1_600_000_000, 1_700_000_000, 50))
    shuffled = np.random.default_rng(1).permutation(seconds)
    frame = pd.DataFrame({"created_at": shuffled, "ms": seconds * 1000, "number": shuffled})
    assert {decision.column: decision.evidence["epoch"] for decision in infer_types(frame)} == {
        "created_at": "s",
        "ms": "ms",
    }
    assert parse_frame(frame)["ms"].iloc[0] == pd.Timestamp(seconds[0], unit="s")


@pytest.mark.parametrize(
    "values", [["31/02/2024", "30/02/2024"], ["10:30", "11:45"], ["May", "June"], ["1/2", "3/4"]]
)
def test_texts_that_are_no_dates_stay_text(values: list[str]) -> None:
    assert infer_types(pd.DataFrame({"x": values * 10})) == []


PERIODS = {
    "year and month": (["1939 Jan", "1939 Feb", "1940 Dec"], ["1939-01-01", "1939-02-01", "1940-12-01"]),
    "numbers of months": (["2001M03", "2001M06", "2002M12"], ["2001-03-01", "2001-06-01", "2002-12-01"]),
    "point before the year": (["01.2023", "02.2023", "12.2023"], ["2023-01-01", "2023-02-01", "2023-12-01"]),
    "short years": (["Jan-98", "Feb-98", "Mar-03"], ["1998-01-01", "1998-02-01", "2003-03-01"]),
    "apostrophes": (["Jan '23", "Feb '23", "Mar '24"], ["2023-01-01", "2023-02-01", "2024-03-01"]),
    "spanish": (["enero de 2024", "abril de 2024", "dic 2024"], ["2024-01-01", "2024-04-01", "2024-12-01"]),
    "quarters": (["Q1 2001", "Q3 2001", "Q4 2002"], ["2001-01-01", "2001-07-01", "2002-10-01"]),
    "quarters behind years": (["2001Q1", "2001-Q2", "2001 Q4"], ["2001-01-01", "2001-04-01", "2001-10-01"]),
    "german quarters": (
        ["1. Quartal 2001", "2. Quartal 2001", "4. Quartal 2001"],
        ["2001-01-01", "2001-04-01", "2001-10-01"],
    ),
    "short quarters": (["1Q01", "2Q01", "4Q01"], ["2001-01-01", "2001-04-01", "2001-10-01"]),
    "halves": (["H1 2020", "H2 2020", "H1 2021"], ["2020-01-01", "2020-07-01", "2021-01-01"]),
    "weeks": (["2024-W01", "2024-W52", "2020-W53"], ["2024-01-01", "2024-12-23", "2020-12-28"]),
    "german weeks": (["KW 1 2024", "KW 52/2024", "KW53 2020"], ["2024-01-01", "2024-12-23", "2020-12-28"]),
    "weekdays": (
        ["Tue 09/01/2024", "Mo 15/01/2024", "Thu 08/02/2024"],
        ["2024-01-09", "2024-01-15", "2024-02-08"],
    ),
    "de": (
        ["2 de enero de 2024", "15 de mayo de 2024", "1 de dic de 2024"],
        ["2024-01-02", "2024-05-15", "2024-12-01"],
    ),
    "french": (
        ["1er janv. 2024", "14 juil. 2024", "3 ao\u00fbt 2024"],
        ["2024-01-01", "2024-07-14", "2024-08-03"],
    ),
    "web log": (
        ["21/Mar/2024:10:25:00 +0100", "22/Mar/2024:00:30:00 +0100", "23/Mar/2024:11:00:00 +0100"],
        ["2024-03-21 09:25", "2024-03-21 23:30", "2024-03-23 10:00"],
    ),
    "ctime": (
        ["Thu Dec 21 16:01:07 2023", "Fri Dec 22 09:00:00 2023", "Sat Dec 23 00:00:01 2023"],
        ["2023-12-21 16:01:07", "2023-12-22 09:00:00", "2023-12-23 00:00:01"],
    ),
    "named zones": (
        ["2024-07-01 12:00 CEST", "2024-07-02 12:00 EDT", "2024-07-03 12:00 UTC+5:30"],
        ["2024-07-01 10:00", "2024-07-02 16:00", "2024-07-03 06:30"],
    ),
    "end of the day": (
        ["2024-07-01 24:00", "2024-07-02 12:00", "2024-07-03 00:00"],
        ["2024-07-02 00:00", "2024-07-02 12:00", "2024-07-03 00:00"],
    ),
}


@pytest.mark.parametrize("name", PERIODS)
def test_periods_and_dates_of_public_files_have_their_first_day(name: str) -> None:
    cells, days = PERIODS[name]
    read = parse_frame(pd.DataFrame({"when": cells * 4}))["when"]
    assert read.tolist() == [pd.Timestamp(day) for day in days] * 4


@pytest.mark.parametrize(
    ("name", "years", "centuries"),
    [
        ("born", ["48", "95", "11", "62", "04"], [1948, 1995, 2011, 1962, 2004]),
        ("joined", ["13", "15", "20"], [2013, 2015, 2020]),
        ("matures", ["24", "31", "45"], [2024, 2031, 2045]),
        ("date of birth", ["24", "31", "45"], [2024, 1931, 1945]),
        ("sold", ["88", "97", "91"], [1988, 1997, 1991]),
        ("built", ["55", "61", "80"], [1955, 1961, 1980]),
    ],
)
def test_two_digit_years_lie_close_together(name: str, years: list[str], centuries: list[int]) -> None:
    frame = pd.DataFrame({name: [f"{day}/03/{year}" for year in years for day in (13, 24)]})
    assert sorted(set(parse_frame(frame)[name].dt.year)) == sorted(set(centuries))


def test_a_two_digit_year_that_comes_later_has_the_century_of_the_column() -> None:
    frame = pd.DataFrame({"born": ["13/03/48", "14/05/95", "25/07/11", "30/01/62"]})
    parsers = make_parsers(infer_types(frame))
    later = parse_columns(pd.DataFrame({"born": ["01/02/50", "01/02/10"]}), parsers)["born"]
    assert later.dt.year.tolist() == [1950, 2010]


def test_dates_of_zeros_and_words_among_dates_are_missing() -> None:
    frame = pd.DataFrame({"left": ["00/00/0000", "13/05/2020", "14/06/2021", "25/07/2021"] * 3 + ["ongoing"]})
    assert parse_frame(frame)["left"].isna().tolist() == [True, False, False, False] * 3 + [True]


def test_numbers_of_months_and_of_spreadsheets_are_dates() -> None:
    frame = pd.DataFrame(
        {
            "period": [202311, 202312, 202401, 202402, 202403, 202404],
            "date": [45292.0, 45293.0, 45294.5, 45300.0, 45301.0, 45310.25],
            "price": [45292.0, 45293.0, 45294.5, 45300.0, 45301.0, 45310.25],
        }
    )
    read = parse_frame(frame)
    assert read["period"].tolist() == pd.date_range("2023-11-01", periods=6, freq="MS").tolist()
    assert read["date"].iloc[[0, 2]].tolist() == [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-03 12:00")]
    assert read["price"].tolist() == frame["price"].tolist()
