"""Durations and times of day become hours; similar texts stay text."""

import pandas as pd
import pytest

from app.modeling.type_inference.column_decisions import infer_types
from app.modeling.type_inference.durations import parse_hours
from app.modeling.type_inference.parsers import parse_columns

from .inference import infer_parsers, parse_frame


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14:30", 14.5),
        ("1:05:09", 1 + 5 / 60 + 9 / 3600),
        ("00:00:01.5", 1.5 / 3600),
        ("12:15 am", 0.25),
        ("7:30 PM", 19.5),
        ("12:00 p.m.", 12.0),
        ("125:00", 125.0),
        ("1h 30m", 1.5),
        ("2 hours, 15 minutes", 2.25),
        ("45 min 36 s", 0.76),
        ("PT1H30M", 1.5),
        ("P1DT2H", 26.0),
        ("2 days 03:30:00", 51.5),
        ("6am", 6.0),
        ("10.30am", 10.5),
        ("12am", 0.0),
        ("12 noon", 12.0),
        ("9h15", 9.25),
        ("24:00", 24.0),
        ("14.30 Uhr", 14.5),
        ("3 Std. 20 Min.", 3 + 1 / 3),
        ("1,5 h", 1.5),
        ("2 semaines", 336.0),
        ("2'58\"/km", 178 / 3600),
        ("3:45.67", 225.67 / 3600),
        ("1:02:03,5", 1 + 2 / 60 + 3.5 / 3600),
        ("13:00 pm", None),
        ("14:75", None),
        ("3:1", None),
        ("h", None),
        ("p", None),
        ("", None),
    ],
)
def test_durations_are_parsed_as_hours(text: str, expected: float | None) -> None:
    assert parse_hours(text) == (expected if expected is None else pytest.approx(expected))


def test_a_column_of_times_is_parsed_once() -> None:
    frame = pd.DataFrame({"leaves": ["06:15", "23:59", "12:00", "?", "7:05"] * 10})
    parsers = infer_parsers(frame)
    read = parse_columns(frame, parsers)
    assert read["leaves"].tolist()[:3] == pytest.approx([6.25, 23 + 59 / 60, 12.0])
    assert read["leaves"].isna().sum() == 10
    pd.testing.assert_frame_equal(parse_columns(read, parsers), read)
    assert infer_types(frame)[0].text == "'leaves' holds times such as '06:15', converted to hours (6.25)."


@pytest.mark.parametrize(
    "values", [["3:1", "2:2", "0:1"], ["16:09", "4:03", "wide"], ["10:30", "closed", "open"]]
)
def test_scores_and_mixed_words_stay_text(values: list[str]) -> None:
    assert infer_types(pd.DataFrame({"score": values * 10})) == []


def test_durations_in_one_unit_keep_that_unit() -> None:
    frame = pd.DataFrame({"takes": ["90 min", "30 min", "2 h"] * 10})
    assert parse_frame(frame)["takes"].tolist()[:3] == [90.0, 30.0, 120.0]


COLUMNS = {
    "minutes below an hour": ("10k", ["29:50", "43:02", "1:00:50", "1:08:14"], [1790, 2582, 3650, 4094]),
    "hours and minutes": (
        "worked",
        ["7:30", "45m", "150 min", "1.5 h", "0.25 h"],
        [27000, 2700, 9000, 5400, 900],
    ),
    "laps": ("lap", ["1:45", "1:46", "1:51"], [105, 106, 111]),
    "long tracks": ("recording", ["3:45", "4:10", "62:30"], [225, 250, 3750]),
    "opening hours": ("opens", ["6am", "8:00", "9h00", "06.00", "8:30am"], [21600, 28800, 32400, 21600, 30600]),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_times_are_read_by_the_column(case: str) -> None:
    name, cells, seconds = COLUMNS[case]
    read = parse_frame(pd.DataFrame({name: cells * 3}))[name]
    assert (read * 3600).tolist() == pytest.approx(seconds * 3)


def test_words_among_times_are_missing_and_prices_with_points_are_no_times() -> None:
    frame = pd.DataFrame(
        {
            "finish": ["2:05:13", "2:11:49", "DNF", "3:05:14", "3:30:39", "4:01:00"] * 2,
            "price": [8.30, 9.15] * 6,
        }
    )
    read = parse_frame(frame)
    assert read["finish"].isna().sum() == 2
    assert parse_frame(pd.DataFrame({"price": ["8.30", "9.15", "10.05"] * 3}))["price"].iloc[0] == 8.3


def test_times_of_a_day_are_told_from_durations() -> None:
    frame = pd.DataFrame({"opens": ["6am", "9pm", "10:30 am"] * 2, "break": ["00:20", "00:45", "00:30"] * 2})
    parsers = {column: parser for parser in infer_parsers(frame) for column in parser["columns"]}
    assert parsers["opens"]["is_time_of_day"]
    assert not parsers["break"]["is_time_of_day"]
