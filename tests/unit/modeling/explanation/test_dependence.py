"""Dependence follows what the model really does with a column."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.modeling.explanation.dependence import partial_dependence
from app.modeling.explanation.explained_model import ExplainedModel
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.training.deadline import Deadline

from .conftest import NUMBER


def test_dependence_rises_with_a_used_number_and_is_flat_for_an_ignored_one(
    subject: ExplainedModel, rows: pd.DataFrame
) -> None:
    along, ignored = partial_dependence(subject, rows, ["a", "noise_3"])

    assert along["kind"] == "number"
    assert along["lines"][0]["class"] == "1"
    mean = along["lines"][0]["mean"]
    assert mean == sorted(mean)
    assert mean[-1] - mean[0] > 0.7
    assert np.ptp(ignored["lines"][0]["mean"]) == pytest.approx(0)


def test_the_mean_is_over_all_rows_set_to_the_value(subject: ExplainedModel, rows: pd.DataFrame) -> None:
    few = rows.head(150)
    (facts,) = partial_dependence(subject, few, ["kind"])

    assert set(facts["at"]) == {"x", "y", "z"}
    for value, mean, low, high in zip(
        facts["at"], *(facts["lines"][0][name] for name in ("mean", "low", "high")), strict=True
    ):
        said = subject.predict(few.assign(kind=value))[:, 1]
        assert mean == pytest.approx(said.mean(), abs=1e-5)
        assert (low, high) == pytest.approx(tuple(np.quantile(said, (0.1, 0.9))), abs=1e-5)
    assert facts["density"]["counts"] == [int((few["kind"] == value).sum()) for value in facts["at"]]


def test_a_regression_has_one_line_and_many_classes_one_each(rows: pd.DataFrame) -> None:
    number = ExplainedModel(lambda given: given["a"].to_numpy() * 2, NUMBER)
    three = Problem("y", ProblemKind.CLASSIFICATION, "log_loss", ("p", "q", "r"))

    def say(given: pd.DataFrame) -> np.ndarray:
        raw = np.exp(np.column_stack([given["a"], -given["a"], np.zeros(len(given))]))
        return raw / raw.sum(axis=1, keepdims=True)

    (of_number,) = partial_dependence(number, rows, ["a"])
    (of_classes,) = partial_dependence(ExplainedModel(say, three), rows, ["a"])

    assert [line["class"] for line in of_number["lines"]] == [None]
    assert of_number["lines"][0]["mean"] == pytest.approx([2 * at for at in of_number["at"]], rel=1e-5)
    assert [line["class"] for line in of_classes["lines"]] == ["p", "q", "r"]
    sums = np.sum([line["mean"] for line in of_classes["lines"]], axis=0)
    assert sums == pytest.approx(1, abs=1e-4)


def test_dates_missing_values_and_booleans_are_stepped_through_and_free_text_is_not(rows: pd.DataFrame) -> None:
    table = rows.head(300).assign(
        at=pd.date_range("2024-01-01", periods=300, freq="D"),
        gappy=rows["a"].head(300).mask(rows.index[:300] % 3 == 0),
        flag=rows["a"].head(300) > 0,
        words=[f"row number {place} of them" for place in range(300)],
        empty=np.nan,
        integer=pd.array(range(300), dtype="Int64"),
        grade=pd.Categorical(["low", "high", "low"] * 100),
    )
    model = ExplainedModel(lambda given: given["flag"].astype("float64").to_numpy(), NUMBER)
    names = ["at", "gappy", "words", "empty", "flag", "integer", "grade"]

    found = partial_dependence(model, table, names)

    assert {each["column"]: each["kind"] for each in found} == {
        "at": "datetime",
        "gappy": "number",
        "flag": "category",
        "integer": "number",
        "grade": "category",
    }


def test_a_deadline_leaves_out_columns_but_never_the_first(subject: ExplainedModel, rows: pd.DataFrame) -> None:
    now = 0.0

    def say(given: pd.DataFrame) -> np.ndarray:
        nonlocal now
        now += 5e-4 * len(given)
        return subject.predict(given)

    found = partial_dependence(
        ExplainedModel(say, subject.problem), rows, list(rows.columns), deadline=Deadline(0.3, lambda: now)
    )

    assert found[0]["column"] == "a"
    assert 1 <= len(found) < 6
    assert now < 0.5


def test_yes_and_no_are_told_in_the_words_of_their_file(rows: pd.DataFrame) -> None:
    table = rows.assign(smoker=rows["kind"] == "z")
    parser = {"op": "read_boolean", "words": ["no", "yes"], "columns": ["smoker"]}
    subject = ExplainedModel(lambda given: given["smoker"].to_numpy() * 2.0, replace(NUMBER, parsers=(parser,)))

    (facts,) = partial_dependence(subject, table, ["smoker"])

    assert dict(zip(facts["at"], facts["lines"][0]["mean"], strict=True)) == {"no": 0.0, "yes": 2.0}
