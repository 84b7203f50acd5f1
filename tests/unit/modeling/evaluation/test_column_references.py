"""Predictions by one column: ranked as the column is, and numbers as they are."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.evaluation.column_references import predict_by_columns
from app.modeling.problem.problem import Problem
from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.scoring.scores import SCORERS, Predicted


def make_persons(rows: int = 400) -> pd.DataFrame:
    """Who was there lately comes back, and spends about as much as before."""
    draw = np.random.default_rng(3)
    days, before = draw.exponential(60, rows), draw.gamma(2, 20, rows)
    comes = draw.uniform(size=rows) < np.exp(-days / 60)
    return pd.DataFrame(
        {"days": days, "before": before, "comes": comes, "spent": before * draw.uniform(0, 2, rows)}
    )


def predict(
    target: str, name: str, column: str, metric: str | None = None
) -> tuple[dict[str, Predicted], Problem, pd.DataFrame]:
    persons = make_persons()
    persons["comes"] = np.where(persons["comes"], "yes", "no")
    problem = resolve_problem(persons, {"target": target, **({"metric": metric} if metric else {})})
    train, holdout = persons.iloc[:250], persons.iloc[250:].copy()
    holdout.iloc[:5, holdout.columns.get_loc(target)] = None
    return predict_by_columns(train, holdout, problem, [{"name": name, "column": column}]), problem, holdout


@pytest.mark.parametrize("metric", ["roc_auc", "f1", "log_loss"])
def test_a_class_is_predicted_by_the_column_in_its_own_order(metric: str) -> None:
    predictions, problem, holdout = predict("comes", "days alone", "days", metric)
    predicted = predictions["days alone"]
    assert len(predicted.truth) == len(holdout) - 5
    assert (np.argsort(-predicted.positive_share) == np.argsort(holdout["days"].to_numpy()[5:])).all()
    chance = np.full_like(predicted.output, 0.5)
    always = Predicted.from_problem(problem, predicted.truth, chance, threshold=0.0)
    sign = -1 if metric == "log_loss" else 1
    assert sign * SCORERS[metric](predicted) > sign * SCORERS[metric](always)


def test_a_number_is_predicted_by_the_value_of_the_column() -> None:
    predictions, _, holdout = predict("spent", "as before", "before")
    np.testing.assert_array_equal(predictions["as before"].output, holdout["before"].to_numpy()[5:])


@pytest.mark.parametrize("column", ["nowhere", "gaps"])
def test_a_column_that_does_not_tell_each_row_is_left_out(column: str) -> None:
    persons = make_persons().assign(gaps=lambda rows: rows["days"].where(rows["days"] > 5))
    problem = resolve_problem(persons, {"target": "spent"})
    reference = {"name": "x", "column": column}
    assert not predict_by_columns(persons.iloc[:250], persons.iloc[250:], problem, [reference])  # type: ignore[list-item]  # read from JSON
