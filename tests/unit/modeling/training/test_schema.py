"""Rows to predict are checked against what the model learned from."""

import numpy as np
import pandas as pd
import pytest

from app.errors import InvalidInput
from app.modeling.recipe.recipe import make_recipe
from app.modeling.training.schema import conform_rows, infer_schema, time_gap_warnings

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
    made, warnings, problems = conform_rows(FRAME.drop(columns="left"), SCHEMA)
    assert (warnings, problems) == ([], [])
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
    inputs, warnings, problems = conform_rows(rows, SCHEMA)
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
