"""Rows to predict are checked against what the model learned from."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.errors import InvalidInput
from app.modeling.recipe.recipe import make_recipe
from app.modeling.training.schema import conform_rows, infer_schema, time_gap_warnings
from app.modeling.training.value_ranges import JUDGED_AHEAD, judged_ahead

from ..frames import people, problem, series

FRAME = people()
SCHEMA = infer_schema(FRAME, problem(FRAME, "left"), [{"op": "drop", "columns": ["name"]}])
ROW = {"age": 40.0, "plan": "pro", "visits": 2}


def refusal(*rows: dict[str, object]) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        conform_rows(pd.DataFrame(rows), SCHEMA, (), {column["name"] for column in SCHEMA})
    return caught.value


def kinds_of(*rows: dict[str, object]) -> set[tuple[str, str]]:
    return {
        (warning["kind"], warning["column"]) for warning in conform_rows(pd.DataFrame(rows), SCHEMA).warnings
    }


def test_a_schema_records_type_and_values_of_each_column() -> None:
    by_name = {column["name"]: column for column in SCHEMA}
    assert list(by_name) == ["name", "age", "plan", "visits"]
    assert by_name["plan"]["categories"] == ["basic", "plus", "pro"]
    assert (by_name["age"]["missing_allowed"], by_name["visits"]["missing_allowed"]) == (True, False)
    assert not by_name["name"]["required"]
    assert by_name["visits"]["minimum"] == FRAME["visits"].min()


def test_rows_like_the_training_rows_pass_without_a_warning() -> None:
    made, warnings, problems, outside = conform_rows(FRAME.drop(columns="left"), SCHEMA)
    assert (warnings, problems, outside) == ([], [], [])
    assert made.columns.tolist() == [column["name"] for column in SCHEMA]


def test_a_missing_column_is_refused_with_the_nearest_names() -> None:
    error = refusal({"Age": 40, "plan": "pro", "visits": 2})
    assert (error.code, error.facts["nearest"]) == ("missing_columns", {"age": ["Age"]})
    assert "did you mean 'Age'?" in error.detail


def test_a_value_of_the_wrong_type_is_refused_with_its_row() -> None:
    error = refusal(ROW, {**ROW, "age": "forty"})
    assert (error.code, error.facts["row"], error.facts["column"]) == ("wrong_type", 1, "age")


def test_numbers_written_as_text_are_read() -> None:
    made = conform_rows(
        pd.DataFrame([{**ROW, "age": text} for text in ("40", "1,040.5", "1e2")]), SCHEMA
    ).inputs
    assert made["age"].tolist() == [40.0, 1040.5, 100.0]


def test_an_unreadable_cell_is_a_missing_value_of_its_row() -> None:
    rows = pd.DataFrame([ROW, {**ROW, "age": "forty"}, {**ROW, "age": "n/a"}, {**ROW, "age": 41}])
    inputs, warnings, problems, _ = conform_rows(rows, SCHEMA)
    assert inputs["age"].fillna(-1).tolist() == [40.0, -1.0, -1.0, 41.0]
    assert problems == [{"row": 1, "column": "age", "value": "forty", "taken_as": None}]
    (warning,) = warnings
    assert (warning["kind"], warning["column"], warning["rows"]) == ("unreadable_value", "age", 1)


def test_an_unreadable_cell_of_a_strict_column_is_refused() -> None:
    rows = pd.DataFrame([ROW, {**ROW, "age": "forty", "visits": "two or three"}])
    with pytest.raises(InvalidInput) as caught:
        conform_rows(rows, SCHEMA, (), {"visits"})
    assert caught.value.facts["column"] == "visits"


def test_unseen_values_give_warnings_and_no_error() -> None:
    assert kinds_of({**ROW, "plan": "gold"}) == {("unseen_category", "plan")}
    assert kinds_of({**ROW, "colour": "red"}) == {("extra_column", "colour")}
    assert kinds_of({**ROW, "age": 900}) == {("outside_range", "age")}
    assert kinds_of({**ROW, "visits": None}) == {("missing_values", "visits")}
    assert kinds_of({**ROW, "age": None}) == set()


def test_values_outside_of_training_name_their_distance_and_their_rows() -> None:
    rows = pd.DataFrame([ROW, {**ROW, "age": 900.0, "visits": -50}, {**ROW, "age": FRAME["age"].max() + 0.5}])
    conformed = conform_rows(rows, SCHEMA)
    texts = {warning["column"]: (warning["rows"], warning["text"]) for warning in conformed.warnings}
    assert texts["age"][0] == 2
    assert f"by up to {900 - FRAME['age'].max():g}: the score says nothing of such rows" in texts["age"][1]
    assert texts["visits"][0] == 1
    assert conformed.outside == [{"row": 1, "columns": ["age", "visits"]}, {"row": 2, "columns": ["age"]}]
    nearby = conform_rows(rows.tail(1), SCHEMA).warnings[0]["text"]
    assert nearby.endswith("by up to 0.5.")  # a new extreme comes with many rows


@pytest.mark.parametrize(("ahead", "days", "is_warned"), [(60, 50, False), (60, 900, True), (None, 900, True)])
def test_later_rows_are_expected_as_far_as_the_hold_out_reached(
    ahead: int | None, days: int, is_warned: bool
) -> None:
    frame = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=400), "y": np.arange(400.0), "x": 1.0})
    asked = replace(problem(frame, "y"), time_column="day")
    schema = infer_schema(frame, asked, [])
    if ahead is not None:
        holdout = frame.assign(day=frame["day"] + pd.Timedelta(days=ahead))
        schema[0] |= {JUDGED_AHEAD: judged_ahead(frame, holdout, asked)["day"]}
    later = pd.DataFrame({"day": [frame["day"].max() + pd.Timedelta(days=days)], "x": [1.0]})
    warnings = conform_rows(later, schema, time_column="day").warnings
    assert [warning["kind"] for warning in warnings] == ["later_than_judged"] * is_warned
    if is_warned:
        reach = "rows up to 60 days after it" if ahead else "rows nearer to it"
        assert f"900 days after 2021-02-03, the last in training. The score was measured on {reach}" in str(
            warnings
        )
    # Rows of a model that no time orders are not expected to be later at all.
    assert conform_rows(later, schema).warnings[0]["kind"] == "outside_range"


def test_no_rows_are_refused() -> None:
    assert refusal().code == "no_rows"


def test_booleans_are_parsed_in_all_usual_spellings() -> None:
    frame = pd.DataFrame({"paid": [True, False] * 20, "y": np.arange(40) % 3 % 2})
    schema = infer_schema(frame, problem(frame, "y"), [])
    made = conform_rows(pd.DataFrame({"paid": ["yes", "False", 1, 0.0, True]}), schema).inputs
    assert made["paid"].tolist() == [True, False, True, False, True]
    with pytest.raises(InvalidInput):
        conform_rows(pd.DataFrame({"paid": ["perhaps"]}), schema, (), {"paid"})


def test_a_level_forecast_requires_the_present_value_and_a_direction_does_not() -> None:
    frame = series()
    value = infer_schema(frame, problem(frame, "sales", horizon=1), [])
    direction = infer_schema(frame, problem(frame, "sales", horizon=1, kind="classification"), [])
    assert {column["name"]: column["required"] for column in value}["sales"]
    assert not {column["name"]: column["required"] for column in direction}["sales"]


def test_rows_that_do_not_follow_the_history_are_warned_of() -> None:
    frame = series()
    asked = problem(frame, "sales", horizon=1)
    recipe = make_recipe(asked, [{"op": "lags", "columns": ["sales"]}]).fit(frame.head(150))
    assert time_gap_warnings(frame.iloc[150:160], recipe) == []
    assert time_gap_warnings(frame.iloc[170:180], recipe)[0]["kind"] == "gap_in_time"


def test_a_yes_no_column_lists_the_words_of_its_file_and_takes_all() -> None:
    frame = FRAME.assign(smoker=FRAME["visits"] > 3)
    parser = {"op": "read_boolean", "words": ["N", "Y"], "columns": ["smoker"]}
    schema = infer_schema(frame, replace(problem(FRAME, "left"), parsers=(parser,)), [])
    assert {column["name"]: column["categories"] for column in schema}["smoker"] == ["N", "Y"]
    row = {"name": "x", **ROW}
    made = conform_rows(
        pd.DataFrame([{**row, "smoker": word} for word in ("Y", "no", "true")]), schema, [parser]
    )
    assert made.inputs["smoker"].tolist() == [True, False, True]
    assert [warning for warning in made.warnings if warning["column"] == "smoker"] == []


@pytest.mark.parametrize("years", [[1986, 1987, None], ["1986", "1987", None]])
def test_a_year_alone_is_its_first_day(years: list[object]) -> None:
    by_year = pd.DataFrame({"year": pd.to_datetime(["1980-01-01", "1981-01-01"]), "sheep": [1.0, 2.0]})
    schema = infer_schema(by_year, problem(by_year, "sheep"), [])
    rows = conform_rows(pd.DataFrame({"year": years, "sheep": 3.0}), schema)
    assert rows.inputs["year"].dt.year.tolist()[:2] == [1986, 1987]
    assert rows.inputs["year"].dt.day_of_year.tolist()[:2] == [1, 1]
    assert rows.inputs["year"].isna().tolist() == [False, False, True]


def test_a_number_that_is_no_year_is_no_moment() -> None:
    by_year = pd.DataFrame({"year": pd.to_datetime(["1980-01-01", "1981-01-01"]), "sheep": [1.0, 2.0]})
    schema = infer_schema(by_year, problem(by_year, "sheep"), [])
    with pytest.raises(InvalidInput, match="datetime"):
        conform_rows(pd.DataFrame({"year": [19.5, 300_000], "sheep": 3.0}), schema, (), {"year"})
