"""Columns that matter rank first, and noise is said not to help."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from app.modeling.explanation.explained_model import ExplainedModel
from app.modeling.explanation.importance import permutation_importance
from app.modeling.training.deadline import Deadline

from .conftest import BINARY


def test_used_columns_rank_first_and_noise_does_not_help(
    subject: ExplainedModel, rows: pd.DataFrame, truth: np.ndarray
) -> None:
    facts = permutation_importance(subject, rows, truth, list(rows.columns))

    names = [entry["column"] for entry in facts["importances"]]
    assert names[:2] == ["a", "kind"]
    assert [entry["column"] for entry in facts["importances"] if entry["helps"]] == ["a", "kind"]
    assert facts["importances"][0]["std"] > 0.001
    assert facts["repeats"] == 5


def test_noise_does_not_help_a_model_fitted_on_noise(rows: pd.DataFrame) -> None:
    """Answers lean on eight columns that have nothing to do with the truth: over many tables of them, one in
    twenty may be mistaken, not one in three."""
    mistaken = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights = rng.normal(size=8)

        def say(given: pd.DataFrame, weights: np.ndarray = weights) -> np.ndarray:
            share = 1 / (1 + np.exp(-given.filter(like="noise").to_numpy() @ weights))
            return np.column_stack([1 - share, share])

        truth = (rng.random(len(rows)) < 0.5).astype("float64")
        columns = [name for name in rows.columns if name.startswith("noise")]
        facts = permutation_importance(ExplainedModel(say, BINARY), rows, truth, columns, repeats=2, seed=seed)
        mistaken += any(entry["helps"] for entry in facts["importances"])
    assert mistaken <= 3


def test_the_base_score_is_that_of_unshuffled_rows(
    subject: ExplainedModel, rows: pd.DataFrame, truth: np.ndarray
) -> None:
    facts = permutation_importance(subject, rows.head(400), truth[:400], ["a"])

    assert facts["rows"] == 400
    expected = roc_auc_score(truth[:400], subject.predict(rows.head(400))[:, 1])
    assert facts["base_score"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("limit_s", "all_rows"), [(1.0, False), (2.0, True), (20.0, True)])
def test_a_slow_model_gives_up_columns_that_are_behind_before_rows(
    limit_s: float, all_rows: bool, subject: ExplainedModel, rows: pd.DataFrame, truth: np.ndarray
) -> None:
    now = 0.0

    def say(given: pd.DataFrame) -> np.ndarray:
        nonlocal now
        now += 2e-4 * len(given)
        return subject.predict(given)

    deadline = Deadline(limit_s, lambda: now)
    slow = replace(subject, predict=say)
    facts = permutation_importance(slow, rows, truth, list(rows.columns), deadline=deadline)

    assert (facts["rows"] == len(rows)) is all_rows
    assert len(facts["importances"]) == rows.shape[1]
    assert [entry["column"] for entry in facts["importances"][:2]] == ["a", "kind"]
    assert facts["importances"][0]["rows"] == facts["rows"] >= facts["importances"][-1]["rows"]
    assert now <= limit_s * 1.1


def test_a_very_slow_model_is_explained_on_fewer_rows_and_columns_and_says_so(
    subject: ExplainedModel, rows: pd.DataFrame, truth: np.ndarray
) -> None:
    now = 0.0

    def say(given: pd.DataFrame) -> np.ndarray:
        nonlocal now
        now += 5e-3 * len(given)
        return subject.predict(given)

    wide = rows.head(200).assign(**{f"more_{place}": 0.0 for place in range(40)})
    wide = wide[["kind", "a", *wide.columns.drop(["kind", "a"])]]
    slow = replace(subject, predict=say)
    facts = permutation_importance(
        slow, wide, truth[:200], list(wide.columns), deadline=Deadline(3.0, lambda: now)
    )

    assert now < 3.5
    assert 40 <= facts["rows"] < 200
    assert {"a", "kind"} <= {entry["column"] for entry in facts["importances"]}
    assert len(facts["importances"]) + facts["left_out"] == wide.shape[1]


def test_a_cost_of_each_call_takes_no_rows_from_a_small_table(
    subject: ExplainedModel, rows: pd.DataFrame, truth: np.ndarray
) -> None:
    now = 0.0

    def answer(frame: pd.DataFrame) -> np.ndarray:
        nonlocal now
        now += 0.2 + 1e-4 * len(frame)
        return subject.predict(frame)

    few = rows.head(180)
    slow = replace(subject, predict=answer)
    facts = permutation_importance(
        slow, few, truth[:180], list(few.columns), deadline=Deadline(1.2, lambda: now)
    )
    assert {entry["rows"] for entry in facts["importances"]} == {180}
    assert now < 1.4


@pytest.mark.parametrize("count", [25, 90, 400, 1500])
def test_an_interval_is_above_zero_exactly_where_a_column_helps(
    count: int, subject: ExplainedModel, rows: pd.DataFrame, truth: np.ndarray
) -> None:
    facts = permutation_importance(subject, rows.head(count), truth[:count], list(rows.columns))
    for entry in facts["importances"]:
        low = entry["low"]
        assert entry["helps"] == (low is not None and low > 0)
        assert entry["is_tested"] == (low is not None) == (count > 30)


def test_rows_of_order_dependent_models_keep_their_order(
    subject: ExplainedModel, rows: pd.DataFrame, truth: np.ndarray
) -> None:
    seen: list[pd.DataFrame] = []

    def say(given: pd.DataFrame) -> np.ndarray:
        seen.append(given)
        return subject.predict(given)

    permutation_importance(replace(subject, predict=say, keeps_order=True), rows, truth, ["a"], repeats=2)

    # The first two calls measure the speed.
    assert {len(given) for given in seen[2:]} == {len(rows)}
    for given in seen[2:]:
        assert given["kind"].tolist() == rows["kind"].tolist()


def test_equal_inputs_give_equal_facts(subject: ExplainedModel, rows: pd.DataFrame, truth: np.ndarray) -> None:
    once, again = (permutation_importance(subject, rows, truth, ["a", "kind"], seed=5) for _ in range(2))

    assert once == again
