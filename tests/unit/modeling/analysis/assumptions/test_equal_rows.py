"""Equal rows: the score with them on both sides of a split, and on one side."""

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.equal_rows import measure_equal_rows
from app.modeling.problem_definition.resolve_problem import resolve_problem


def measurements(rows: int = 800) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    length, width = rng.normal(size=rows), rng.normal(size=rows)
    return pd.DataFrame({"length": length, "width": width, "weight": length + 2 * rng.normal(size=rows)})


def test_rows_that_were_copied_have_both_figures() -> None:
    frame = pd.concat([measurements()] * 3, ignore_index=True).sample(frac=1, random_state=0, ignore_index=True)
    assumption = measure_equal_rows(frame, resolve_problem(frame, {"target": "weight"}))
    assert assumption is not None
    assert (assumption["kind"], assumption["chosen"], assumption["matters"]) == (
        "equal_rows",
        "otherwise",
        True,
    )
    assert (assumption["holds_score"] or 9) < 1.8
    assert 1.9 < (assumption["otherwise_score"] or 0) < 2.6


def test_rows_that_coincide_are_no_condition() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"type": rng.choice(list("abcd"), 2000), "size": rng.integers(1, 9, 2000)})
    frame["score"] = rng.integers(60, 100, 2000)
    assert measure_equal_rows(frame, resolve_problem(frame, {"target": "score"})) is None
