"""A target that was recorded for some rows only: the score on rows like the others."""

import numpy as np
import pandas as pd

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
