"""Dates are parsed in every supported spelling; day or month first is inferred from the column."""

import datetime as dt
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.modeling.type_inference.column_decisions import infer_types

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
