"""What a look at the training rows finds, and what it suggests to do about it."""

import json

import numpy as np
import pandas as pd
import pytest

from app.modeling.analysis.cleaning import is_date_like, is_number_text, suggest_cleaning
from app.modeling.analysis.exploration import describe_unmeasured, explore
from app.modeling.analysis.findings import find_all
from app.modeling.analysis.recipe_effects import extend_recipe
from app.modeling.analysis.suggested_features import suggest_features
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.training.deadline import Deadline

from .frames import houses, people, problem, series


def kinds_of(frame: pd.DataFrame, target: str) -> set[tuple[str, str | None]]:
    return {(finding["kind"], finding["column"]) for finding in find_all(frame, problem(frame, target))}


def messy(rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = people(rows)
    frame["row"] = range(rows)
    frame["always"] = "x"
    frame["spent"] = [f"$1,{amount:03d}.00" for amount in rng.integers(0, 999, rows)]
    frame["joined"] = (
        pd.Series(pd.date_range("2020-01-01", periods=rows))
        .sample(frac=1, random_state=0)
        .dt.strftime("%Y-%m-%d")
        .to_numpy()
    )
    frame["age_in_months"] = frame["age"] * 12
    frame.loc[:4, "visits"] = 900
    return frame


def test_a_messy_table_is_described_finding_by_finding() -> None:
    found = kinds_of(messy(), "left")
    assert found >= {
        ("identifier", "row"),
        ("constant", "always"),
        ("number_as_text", "spent"),
        ("date_as_text", "joined"),
        ("near_duplicate_columns", "age_in_months"),
        ("outliers", "visits"),
        ("missing", "age"),
    }


def test_a_tidy_table_has_no_findings() -> None:
    assert kinds_of(houses(), "price") == set()


def test_rare_classes_few_rows_and_lopsided_targets_are_warned_of() -> None:
    frame = people(400)
    frame["fraud"] = [1] * 12 + [0] * 388
    assert ("imbalance", "fraud") in kinds_of(frame, "fraud")
    assert ("small", None) in kinds_of(people(100), "left")
    frame["income"] = np.exp(np.random.default_rng(0).normal(size=400) * 2)
    assert ("skewed_target", "income") in kinds_of(frame, "income")


def test_rows_with_equal_inputs_and_other_outcomes_are_counted() -> None:
    frame = pd.DataFrame({"sex": ["f", "m"] * 150, "alive": ([1, 0] * 100) + ([0, 1] * 50)})
    assert ("conflicting", "alive") in kinds_of(frame, "alive")


def test_suggested_cleaning_fixes_the_findings() -> None:
    frame = messy()
    asked = problem(frame, "left")
    made, facts = extend_recipe(frame, asked, [], suggest_cleaning(frame, asked))
    assert {"row", "always", "joined"} <= set(facts["dropped_columns"])
    assert {"age_missing", "joined_month"} <= set(facts["new_columns"])
    assert column_kind(made["spent"]) is ColumnKind.NUMBER


def test_columns_that_must_be_kept_are_kept() -> None:
    frame = messy()
    drops = [
        step for step in suggest_cleaning(frame, problem(frame, "left"), keep=["row"]) if step["op"] == "drop"
    ]
    assert drops == [{"op": "drop", "columns": ["always", "age_in_months"]}]


def test_suggested_features_read_names_texts_and_many_categories() -> None:
    rng = np.random.default_rng(0)
    frame = people(300)
    frame["full_name"] = [f"Roe{number}, {rng.choice(['Mr', 'Mrs', 'Dr'])} Sam" for number in range(300)]
    frame["city"] = rng.choice([f"city {number}" for number in range(40)], 300)
    operations = suggest_features(frame, problem(frame, "left"))
    assert {"op": "extract", "columns": ["full_name"], "what": "title"} in operations
    assert {"op": "frequency", "columns": ["city"]} in operations


def test_days_between_dates_are_suggested_where_they_vary() -> None:
    rng = np.random.default_rng(3)
    visit = pd.Timestamp("2025-01-06") + pd.to_timedelta(rng.integers(0, 400, 400), "D")
    wait = rng.integers(0, 60, 400)
    frame = pd.DataFrame(
        {
            "booked": visit - pd.to_timedelta(wait, "D"),
            "visit": visit,
            "reminded": visit - pd.Timedelta(days=2),
            "missed": (wait > 30).astype(int),
        }
    )
    operations = suggest_features(frame, problem(frame, "missed"))
    # Two days before every visit: that span is always equal.
    assert operations[0] == {"op": "days_between", "pairs": [("visit", "booked"), ("reminded", "booked")]}
    extended, facts = extend_recipe(frame, problem(frame, "missed"), [], operations)
    assert extended["visit_since_booked"].tolist() == wait.tolist()
    assert "Added the days between visit and booked, reminded and booked." in facts["effects"]


def test_the_past_is_suggested_only_where_there_is_a_horizon() -> None:
    frame = series()
    ahead = [step["op"] for step in suggest_features(frame, problem(frame, "sales", horizon=1), [1, 7])]
    assert ahead == ["parse_dates", "lags", "changes", "rolling", "ahead"]
    now = [step["op"] for step in suggest_features(frame, problem(frame, "sales", time_column="day"))]
    assert now == ["parse_dates"]


@pytest.mark.parametrize(
    ("values", "number", "date"),
    [
        (["1", "2.5", "-3"] * 20, True, False),
        (["$1,200.50", "$ 7", "-$12.25"] * 20, True, False),
        (["$1,200.50", "€ 7", "12%"] * 20, False, False),
        (["2024-01-31", "2024-02-01", "2024-02-03"] * 20, False, True),
        (["31.01.2024", "1/2/24", "03.04.2024"] * 20, False, True),
        (["1st", "2nd", "3rd"] * 20, False, False),
        (["A-1", "B-2", "C-3"] * 20, False, False),
        ([1, 2, 3] * 20, False, False),
    ],
)
def test_numbers_and_dates_in_text_are_distinguished_from_text(values: list, number: bool, date: bool) -> None:
    column = pd.Series(values)
    assert (is_number_text(column), is_date_like(column)) == (number, date)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, None], ColumnKind.NUMBER),
        ([True, False], ColumnKind.BOOLEAN),
        ([None, None], ColumnKind.EMPTY),
        (["a", "b"] * 10, ColumnKind.CATEGORY),
        ([f"name {number}" for number in range(100)], ColumnKind.TEXT),
        (pd.date_range("2024", periods=3), ColumnKind.DATETIME),
    ],
)
def test_a_column_is_judged_by_its_values(values: object, kind: ColumnKind) -> None:
    assert column_kind(pd.Series(values)) is kind  # type: ignore[call-overload]


def test_an_exploration_is_strict_json() -> None:
    frame = messy()
    facts = explore(frame, problem(frame, "left"), [])
    json.dumps(facts, allow_nan=False)
    assert next(column for column in facts["columns"] if column["name"] == "age")["relation"] > 0.7  # type: ignore[operator]
    assert facts["target"]["classes"].keys() == {"0", "1"}


def test_many_rows_are_sampled_with_a_finding() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(25_000, 3)), columns=list("abc"))
    frame.loc[::4, "a"] = np.nan
    frame["y"] = (frame["b"] > 0).astype(int)
    facts = explore(frame, problem(frame, "y"), [])
    assert (facts["rows"], facts["looked_at"]) == (25_000, 20_000)
    assert facts["findings"][-1]["text"] == "Columns were analysed on 20,000 of 25,000 training rows."
    assert next(column["missing"] for column in facts["columns"] if column["name"] == "a") == 0.25


def test_wide_tables_are_scored_by_column() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 400)), columns=[f"c{place}" for place in range(400)])
    frame["y"] = (frame["c7"] + 0.3 * rng.normal(size=300) > 0).astype(int)
    related = {
        column["name"]: column["relation"] for column in explore(frame, problem(frame, "y"), [])["columns"]
    }
    assert max(related, key=lambda name: related[name] or 0) == "c7"


def test_columns_that_no_time_is_left_for_are_named() -> None:
    frame = pd.DataFrame({"a": range(60), "b": range(60), "y": [0, 1] * 30})
    facts = explore(frame, problem(frame, "y"), [], deadline=Deadline(0.0))
    assert len(facts["notes"]) == 1
    assert "'a', 'b'" in facts["notes"][0]
    assert explore(frame, problem(frame, "y"), [])["notes"] == []


def test_an_identifier_that_predicts_is_kept_and_one_that_does_not_is_dropped() -> None:
    rng = np.random.default_rng(0)
    number = rng.choice(np.arange(10_000, 40_000), 600, replace=False)  # assigned in the order of the years
    frame = pd.DataFrame({"id": number, "title": rng.choice(list("abcdef"), 600)})
    frame["year"] = 1900 + (number - 10_000) // 300 + rng.integers(-3, 4, 600)
    frame["other_id"] = rng.choice(np.arange(70_000, 99_000), 600, replace=False)
    suggested = explore(frame, problem(frame, "year"), [])["suggested_cleaning"]
    dropped = {name for operation in suggested if operation["op"] == "drop" for name in operation["columns"]}
    assert "other_id" in dropped
    assert "id" not in dropped


def test_a_suspected_column_that_could_not_be_measured_is_named() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=["a", "b", "delay"])
    frame["late"] = np.where(frame["delay"] > 0, "yes", "no")
    asked = problem(frame, "late")
    [measured] = explore(frame, asked, [])["assumptions"]
    assert measured["columns"] == ["delay"]
    busy = Deadline(1000.0, slowness=1e6)  # the columns are scored, and no rows are left to measure on
    facts = explore(frame, asked, [], deadline=busy)
    assert facts["assumptions"] == []
    assert [note for note in facts["notes"] if "'delay' alone predicts" in note and "was not measured" in note]
    frame["reason"] = frame["late"].map({"yes": "fog", "no": None})
    facts = explore(frame, problem(frame, "late"), [], deadline=busy)
    assert facts["assumptions"] == []
    [left_out] = [note for note in facts["notes"] if "'reason'" in note]
    assert left_out.endswith("It is left out, and what the score is with it was not measured.")


def test_a_column_that_another_one_hides_is_named_by_its_own_score() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=["a", "b", "delay"])
    frame["late"] = np.where(frame["delay"] > 0, "yes", "no")
    scores = {"delay": 0.99, "a": 0.51}
    [note] = describe_unmeasured(scores, problem(frame, "late"), [], [])
    assert note == "'delay' alone tells nearly all of 'late'. What the score is without it was not measured."
    [measured] = explore(frame, problem(frame, "late"), [])["assumptions"]
    assert describe_unmeasured(scores, problem(frame, "late"), [], [measured]) == []
