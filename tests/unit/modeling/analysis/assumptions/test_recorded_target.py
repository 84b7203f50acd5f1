"""A target that was recorded for some rows only: the score on rows like the others."""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from app.modeling.analysis.assumptions.recorded_target import measure_recorded_target
from app.modeling.facts.assumptions import AssumptionJson
from app.modeling.problem_definition.resolve_problem import resolve_problem


def measure(is_selective: bool) -> AssumptionJson | None:
    """Errors grow with age; selective records are mostly of young people."""
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 4000)
    table = pd.DataFrame({"age": age, "score": rng.normal(size=4000)})
    table["income"] = 10 * table["score"] + (age - 15) / 4 * rng.normal(size=4000)
    share = 1 / (1 + np.exp((age - 50) / 5)) if is_selective else np.full(4000, 0.5)
    table.loc[rng.random(4000) > share, "income"] = np.nan
    train = table.dropna(subset=["income"]).reset_index(drop=True)
    return measure_recorded_target(train, table, resolve_problem(table, {"target": "income"}))


def test_a_selective_record_has_both_figures() -> None:
    assumption = measure(is_selective=True)
    assert assumption is not None
    assert (assumption["kind"], assumption["column"]) == ("recorded_target", "income")
    assert (assumption["chosen"], assumption["matters"]) == ("holds", True)
    young, old = np.linspace(20, 50, 50), np.linspace(50, 80, 50)
    recorded, others = (float(np.sqrt((((ages - 15) / 4) ** 2).mean())) for ages in (young, old))
    assert recorded * 0.85 < (assumption["holds_score"] or 0) < recorded * 1.35
    assert others * 0.75 < (assumption["otherwise_score"] or 0) < others * 1.35


def test_a_record_at_random_does_not_matter() -> None:
    assumption = measure(is_selective=False)
    assert assumption is not None
    assert not assumption["matters"]


def test_rows_beyond_all_recorded_ones_are_scored_by_models_of_rows_further_away() -> None:
    """Trees stay level where the target goes on: random folds would score these rows like the others."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(5000, 3)), columns=["dose", "age", "weight"])
    truth = 3 * table["dose"] + table["age"] + rng.normal(size=5000)
    is_recorded = table["dose"] + 0.1 * rng.normal(size=5000) < 0
    table["response"] = truth.where(is_recorded)
    train = table[is_recorded].reset_index(drop=True)
    assumption = measure_recorded_target(train, table, resolve_problem(table, {"target": "response"}))
    assert assumption is not None
    assert assumption["matters"]
    assert "no score is known" in assumption["why"]
    model = HistGradientBoostingRegressor(random_state=0).fit(train.drop(columns="response"), train["response"])
    predictions = model.predict(table.loc[~is_recorded].drop(columns="response"))
    error = float(np.sqrt(np.mean((truth[~is_recorded] - predictions) ** 2)))
    assert (assumption["holds_score"] or 0) < 0.6 * error
    # No recorded row lies as far from the others as these: the figure is a lower bound, as the text says.
    assert 0.6 * error < (assumption["otherwise_score"] or 0) < 1.1 * error
    assert "or worse" in assumption["question"]
