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
