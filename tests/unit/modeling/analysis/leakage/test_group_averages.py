"""Averages of the target over groups of rows are found; what groups are known by otherwise is not."""

import numpy as np
import pandas as pd

from app.modeling.analysis.exploration import explore
from app.modeling.analysis.leakage.group_averages import find_group_averages
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.problem_definition.resolve_problem import resolve_problem

AMOUNT = Problem("amount", ProblemKind.REGRESSION, "rmse")
FLAG = Problem("flag", ProblemKind.CLASSIFICATION, "roc_auc", ("no", "yes"))


def batches(rows: int = 2000, count: int = 400) -> tuple[pd.DataFrame, pd.Series, np.ndarray]:
    """Rows of batches, their amounts, and the level of each row's batch."""
    rng = np.random.default_rng(0)
    batch = rng.integers(0, count, rows)
    level = rng.normal(0, 3, count)[batch]
    frame = pd.DataFrame({"batch": [f"b{number}" for number in batch], "size": rng.normal(size=rows)})
    return frame, pd.Series(level + rng.normal(0, 2, rows)), level


def test_an_average_with_the_row_itself_is_left_out() -> None:
    frame, amount, _ = batches()
    frame["batch_amount"] = amount.groupby(frame["batch"]).transform("mean").round(3)
    # Of the rows that a hold-out takes away, the average knows the amounts too.
    training = np.random.default_rng(1).permutation(len(frame))[:1600]
    [leak] = find_group_averages(frame.iloc[training], amount.iloc[training], AMOUNT)
    assert (leak["column"], leak["kind"], leak["certain"]) == ("batch_amount", "group_average", True)
    assert "the average of 'amount' over the rows of each 'batch', with the row itself" in leak["text"]
    table = frame.assign(amount=amount)
    facts = explore(table, resolve_problem(table, {"target": "amount"}), [])
    [condition] = [entry for entry in facts["assumptions"] if entry["columns"] == ["batch_amount"]]
    assert condition["chosen"] == "otherwise"


def test_a_rate_of_a_class_is_found_and_one_of_several_classes_is_not_looked_for() -> None:
    frame, amount, _ = batches()
    flag = (amount > 0).astype(int)
    frame["rate"] = flag.groupby(frame["batch"]).transform("mean")
    [leak] = find_group_averages(frame, flag, FLAG)
    assert leak["column"] == "rate"
    three = Problem("flag", ProblemKind.CLASSIFICATION, "log_loss", ("a", "b", "c"))
    assert find_group_averages(frame, flag, three) == []


def test_what_a_group_is_known_by_is_no_average_of_its_rows() -> None:
    frame, amount, level = batches()
    rng = np.random.default_rng(2)
    codes = pd.factorize(frame["batch"])[0]
    earlier = level + rng.normal(0, 0.4, codes.max() + 1)[codes]
    assert find_group_averages(frame.assign(level=level, earlier=earlier), amount, AMOUNT) == []


def test_a_target_that_never_changes_within_a_group_has_no_average() -> None:
    frame, _, level = batches()
    assert find_group_averages(frame.assign(level=level), pd.Series(level), AMOUNT) == []
