"""Questions for an effect in words are answered by figures of it for each group of its cause."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from tests.corpora.conversations import run_planner

from app.agents.planner.output import Plan
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import ingest
from app.plans.compiler import compile_plan
from app.plans.schema import read_table_schema


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], pd.DataFrame, Path]:
    """Schema, rows and Parquet file of bus drivers, of whom those with more night shifts quit more often."""
    chance = np.random.default_rng(5)
    rows = 400
    nights = chance.integers(0, 21, rows)
    table = pd.DataFrame(
        {
            "driver_id": np.arange(1, rows + 1),
            "gender": chance.choice(["female", "male"], rows),
            "night_shifts": nights,
            "salary": chance.normal(30000, 3000, rows).round(),
            "training": chance.choice(["none", "low", "high"], rows),
            "depot": chance.choice(["East", "West"], rows),
            "quit": np.where(chance.random(rows) < nights / 25, "yes", "no"),
        }
    )
    folder = tmp_path_factory.mktemp("drivers")
    table.to_csv(folder / "drivers.csv", index=False)
    facts: Any = ingest(CellWorkspace({"upload": folder / "drivers.csv"}, folder), "drivers.csv")
    schema = {"table": "drivers", "rows": facts["rows"], "columns": facts["profile"]["columns"]}
    return schema, table, folder / "table.parquet"


def _answer(goal: str, drivers: tuple[dict[str, Any], pd.DataFrame, Path]) -> tuple[Plan, pd.DataFrame]:
    schema, _, path = drivers
    plan = run_planner(goal, [schema])
    assert isinstance(plan, Plan), plan
    assert plan.parsed_question is not None, plan
    sql = compile_plan(plan.parsed_question.plan, {"drivers": read_table_schema(schema["columns"])}).sql
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE drivers AS FROM '{path}'")
        return plan, database.execute(sql).df()


def test_a_number_is_cut_into_groups_and_a_class_becomes_a_share(drivers) -> None:
    plan, answer = _answer("do drivers with more night shifts quit more often", drivers)
    _, table, _ = drivers
    assert plan.target == "quit"
    assert answer.columns[0] == "quartile of night_shifts"
    assert answer["rows"].sum() == len(table)
    lowest = table[table["night_shifts"] <= answer["highest night_shifts"][0]]
    assert answer["share of quit yes"][0] == pytest.approx((lowest["quit"] == "yes").mean())


def test_the_answer_says_what_it_does_not_prove_and_names_the_model(drivers) -> None:
    plan, _ = _answer("do drivers with more night shifts quit more often", drivers)
    note = next(note for note in plan.notes if note.startswith("A difference between groups is no proof"))
    assert '"What drives quit?"' in note


@pytest.mark.parametrize(
    "goal", ["gender pay gap", "is there a gender pay gap?", "women versus men, who earns more"]
)
def test_groups_are_compared_by_their_mean(drivers, goal: str) -> None:
    plan, answer = _answer(goal, drivers)
    _, table, _ = drivers
    assert plan.target == "salary"
    assert dict(zip(answer["gender"], answer["mean salary"], strict=True)) == pytest.approx(
        table.groupby("gender")["salary"].mean().to_dict()
    )


def test_steps_of_a_scale_stand_in_its_order(drivers) -> None:
    _, answer = _answer("does training raise the salary", drivers)
    assert [*answer["training"]] == ["none", "low", "high"]


def test_a_stored_value_beside_the_effect_selects_rows(drivers) -> None:
    _, answer = _answer("do drivers in the East depot with more night shifts quit more often", drivers)
    _, table, _ = drivers
    assert answer["rows"].sum() == (table["depot"] == "East").sum()


@pytest.mark.parametrize("goal", ["what drives salary", "why do drivers quit?"])
def test_a_goal_without_a_cause_is_explained_by_a_model(drivers, goal: str) -> None:
    plan = run_planner(goal, [drivers[0]])
    assert isinstance(plan, Plan)
    assert (plan.question, plan.wants_drivers) == (None, True)


def test_a_bound_on_a_scale_selects_the_rows_of_a_model(drivers) -> None:
    plan = run_planner("Predict salary of drivers with low or higher training", [drivers[0]])
    assert isinstance(plan, Plan)
    assert [(c.column, c.values) for c in plan.filter] == [("training", ["low", "high"])]


def test_a_bound_on_a_scale_selects_rows_that_are_counted(drivers) -> None:
    _, answer = _answer("how many drivers have at least low training?", drivers)
    assert drivers[1]["training"].isin(["low", "high"]).sum() in [*answer.iloc[0]]


def test_figures_of_groups_stand_in_the_order_of_the_scale(drivers) -> None:
    _, answer = _answer("average salary by training", drivers)
    assert [*answer["training"]] == ["none", "low", "high"]


def test_a_column_and_a_bound_are_a_prediction(drivers) -> None:
    plan = run_planner("salary above 31000", [drivers[0]])
    assert isinstance(plan, Plan)
    assert plan.cut is not None
    assert (plan.question, plan.target, plan.cut.value) == (None, "salary", 31000)


def test_the_rows_whose_risk_is_asked_for_are_selected(drivers) -> None:
    plan = run_planner("women at risk of quitting", [drivers[0]])
    assert isinstance(plan, Plan)
    assert plan.target == "quit"
    assert [(c.column, c.values) for c in plan.filter] == [("gender", ["female"])]


EPISODES: dict[str, Any] = {
    "table": "episodes",
    "rows": 900,
    "columns": [
        {
            "name": "genre",
            "type": "text",
            "hint": "category",
            "distinct": 4,
            "top": [{"value": value} for value in ("comedy", "history", "interview", "news")],
        },
        {"name": "length_min", "type": "number", "hint": "numeric", "distinct": 400, "min": 8.0, "max": 120.0},
        {"name": "full_listens", "type": "integer", "hint": "numeric", "distinct": 700, "min": 0, "max": 9000},
    ],
}


@pytest.mark.parametrize(
    "goal",
    [
        "do interviews run longer than history episodes?",
        "do news episodes run longer in total than comedy ones?",
    ],
)
def test_values_that_are_compared_are_no_rows_of_another_effect(goal: str) -> None:
    plan = run_planner(goal, [EPISODES])
    asked = plan.parsed_question if isinstance(plan, Plan) else None
    assert asked is None or not asked.description.startswith("the mean `length_min` and the number of rows")
