"""A table that was joined in is a condition, with the score of rows without a match."""

from dataclasses import replace

import numpy as np

from app.modeling.analysis.assumptions.joined_tables import JoinedTable, measure_joined_tables
from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.training.deadline import Deadline

from .planted import auc_of_risk, customers, is_inside


def test_a_joined_table_that_carries_the_score_is_measured_with_and_without_it() -> None:
    frame = customers(1200)
    problem = resolve_problem(frame, {"target": "left", "metric": "roc_auc"})
    accounts = JoinedTable("accounts", ("risk", "of another table"))
    (condition,) = measure_joined_tables(frame, problem, [accounts])
    assert (condition["kind"], condition["columns"]) == ("joined_table", ["risk"])
    assert (condition["chosen"], condition["matters"]) == ("holds", True)
    assert is_inside(condition, "holds", auc_of_risk(frame))
    assert is_inside(condition, "otherwise", 0.5)
    assert "`accounts` was joined in" in condition["why"]
    assert measure_joined_tables(frame, problem, [accounts], deadline=Deadline(0.0)) == []


def test_a_joined_table_is_judged_by_the_groups_of_rows() -> None:
    frame = customers(1200)
    problem = replace(resolve_problem(frame, {"target": "left", "metric": "roc_auc"}), group_column="branch")
    accounts = JoinedTable("accounts", ("risk",))
    many, few = (frame.assign(branch=np.arange(1200) % count) for count in (40, 4))
    assert [condition["matters"] for condition in measure_joined_tables(many, problem, [accounts])] == [True]
    # Four branches say nothing about others, however many rows they have.
    assert measure_joined_tables(few, problem, [accounts]) == []
