"""The inputs of a plan: those that the goal lists alone, and those that it leaves out."""

from typing import Any

import pytest
from tests.corpora.conversations import run_planner

from app.agents.planner.output import Plan


def _column(name: str, type_: str = "number", **facts: Any) -> dict[str, Any]:
    hints = {"datetime": "datetime", "text": "category"}
    base = {"name": name, "type": type_, "hint": hints.get(type_, "numeric"), "distinct": 300, "missing": 0.0}
    return {**base, "unique": False, "top": None, "min": 1.0, "max": 90.0, "q50": 20.0, **facts}


ORCHARDS = {
    "table": "orchards",
    "rows": 2_000,
    "columns": [
        _column("picked_on", "datetime", min="2022-01-01", max="2024-12-31"),
        _column(
            "variety", "text", distinct=3, top=[{"value": "Elstar"}, {"value": "Jonagold"}, {"value": "Gala"}]
        ),
        _column("tree_age", "integer"),
        _column("rainfall_mm"),
        _column("wind_ms"),
        _column("sugar_score"),
        _column("acid_score"),
        _column("firmness_score"),
        _column("harvest_kg"),
    ],
}
SPRAYINGS = {
    "table": "sprayings",
    "rows": 900,
    "columns": [_column("tree_age", "integer"), _column("litres")],
}


def _plan(goal: str, *tables: dict[str, Any]) -> Plan:
    planned = run_planner(goal, tables or [ORCHARDS])
    assert isinstance(planned, Plan), planned
    return planned


def _inputs(plan: Plan) -> set[str]:
    names = {str(column["name"]) for column in ORCHARDS["columns"]}
    return names - {plan.target} - set(plan.exclude)


@pytest.mark.parametrize(
    ("goal", "inputs"),
    [
        ("Predict the harvest from rainfall and tree age", {"rainfall_mm", "tree_age"}),
        ("How well can we predict the harvest from rainfall alone?", {"rainfall_mm"}),
        ("Predict harvest_kg using only variety", {"variety"}),
        ("harvest_kg ~ rainfall_mm + tree_age", {"rainfall_mm", "tree_age"}),
        ("Predict the harvest of a variety, given rainfall", {"rainfall_mm", "variety"}),
        ("using rainfall and variety, predict the harvest", {"rainfall_mm", "variety"}),
        ("Predict the harvest from weather conditions only", {"rainfall_mm", "wind_ms"}),
        ("Predict the harvest from weather and variety", {"rainfall_mm", "wind_ms", "variety"}),
    ],
)
def test_a_model_has_the_inputs_alone_that_a_goal_lists(goal: str, inputs: set[str]) -> None:
    plan = _plan(goal)
    assert plan.target == "harvest_kg"
    assert _inputs(plan) == inputs
    assert plan.understanding
    assert all(f"`{name}`" in plan.understanding.text for name in inputs)
    assert "only" in plan.understanding.text


@pytest.mark.parametrize(
    "goal",
    [
        "Predict the harvest from the data of last years",
        "Predict the harvest from rainfall among others",
        "Predict the harvest given rainfall and whether the trees are old",
        "Predict the harvest using rainfall and soil tests",
        "Predict the harvest, using rainfall too",
        "Predict harvest_kg from everything we know",
    ],
)
def test_inputs_that_are_no_whole_list_of_columns_limit_nothing(goal: str) -> None:
    assert not _plan(goal).exclude


def test_the_only_input_that_no_column_has_is_named() -> None:
    plan = _plan("Predict the harvest from soil tests alone")
    assert not plan.exclude
    assert any("soil tests" in note for note in plan.notes)


def test_a_table_without_a_listed_input_is_not_joined() -> None:
    assert _plan("Predict harvest_kg from rainfall_mm", ORCHARDS, SPRAYINGS).tables == ["orchards"]
    both = _plan("Predict harvest_kg from rainfall_mm and litres", ORCHARDS, SPRAYINGS)
    assert both.tables == ["orchards", "sprayings"]


def test_the_others_of_the_targets_kind_are_left_out() -> None:
    plan = _plan("Predict sugar_score without the other scores")
    assert plan.target == "sugar_score"
    assert set(plan.exclude) == {"acid_score", "firmness_score"}
    assert plan.notes == []


def test_an_excluded_value_is_no_missing_column() -> None:
    plan = _plan("Predict the harvest excluding Gala and Elstar")
    assert [(c.operator, set(c.values)) for c in plan.filter] == [("not_in", {"Gala", "Elstar"})]
    assert not plan.exclude
    assert plan.notes == []


def test_a_step_counts_many_excluded_columns() -> None:
    fetch = _plan("Predict the harvest from rainfall alone").steps[0]
    assert fetch == "Fetch `orchards`, without 7 of its columns."


def test_columns_of_a_topic_are_left_out() -> None:
    plan = _plan("Predict harvest_kg without the weather")
    assert set(plan.exclude) == {"rainfall_mm", "wind_ms"}
    assert any("'weather' is taken for `rainfall_mm` and `wind_ms`" in note for note in plan.notes)


def test_a_column_in_other_words_is_left_out_and_said() -> None:
    plan = _plan("Predict harvest_kg without looking at the sugars")
    assert plan.exclude == ["sugar_score"]
    assert any("`sugar_score`, and left out" in note for note in plan.notes)
