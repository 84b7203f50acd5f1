"""Where a model errs is named where it really errs, and nowhere else."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.modeling.explanation.explained_model import ExplainedModel
from app.modeling.explanation.segments import find_worst_segments
from app.modeling.scoring.independent_units import IndependentUnits, UnitKind
from app.modeling.scoring.scores import Predicted

from .conftest import BINARY, NUMBER


def test_the_value_that_the_model_gets_wrong_is_named_with_its_rows(
    subject: ExplainedModel, rows: pd.DataFrame, truth: np.ndarray
) -> None:
    predicted = Predicted(truth, subject.predict(rows))
    facts = find_worst_segments(rows, predicted, BINARY)

    worst = facts["worst"][0]
    inside = (rows["kind"] == "z").to_numpy()
    wrong = predicted.choice != truth
    assert (worst["column"], worst["text"], worst["rows"]) == ("kind", "is z", int(inside.sum()))
    assert worst["error"] == pytest.approx(wrong[inside].mean(), abs=1e-5)
    assert worst["elsewhere"] == pytest.approx(wrong[~inside].mean(), abs=1e-5)
    assert worst["low"] < worst["error"] < worst["high"]
    assert facts["overall"] == pytest.approx(wrong.mean(), abs=1e-5)


def test_a_model_that_errs_evenly_has_hardly_ever_a_segment_named(rows: pd.DataFrame) -> None:
    named = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=len(rows))
        predicted = Predicted(truth, truth + rng.normal(size=len(rows)))
        named += bool(find_worst_segments(rows, predicted, NUMBER)["worst"])
    assert named <= 4


def test_errors_of_entities_seldom_make_a_segment() -> None:
    """By single rows 99 of 100 such tables have one."""
    entities, with_segments = np.repeat(np.arange(40), 50), 0
    units = IndependentUnits.of_clusters(entities, UnitKind.GROUPS)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame({f"x{place}": rng.normal(size=40)[entities] for place in range(4)})
        error = rng.normal(size=40)[entities] + rng.normal(size=2000)
        facts = find_worst_segments(table, Predicted(np.zeros(2000), error), NUMBER, units)
        with_segments += bool(facts["worst"])
    assert with_segments <= 4


def test_a_segment_of_entities_has_an_interval_of_their_number() -> None:
    rng, entities = np.random.default_rng(0), np.repeat(np.arange(40), 50)
    is_poor = entities < 10
    error = rng.normal(size=2000) * np.where(is_poor, 6, 1) + 2 * rng.normal(size=40)[entities]
    table = pd.DataFrame({"plan": np.where(is_poor, "basic", "pro")})
    predicted, widths = Predicted(np.zeros(2000), error), []
    for units in (None, IndependentUnits.of_clusters(entities, UnitKind.GROUPS)):
        worst = find_worst_segments(table, predicted, NUMBER, units)["worst"][0]
        assert (worst["column"], worst["text"]) == ("plan", "is basic")
        assert worst["low"] is not None
        assert worst["high"] is not None
        widths.append(worst["high"] - worst["low"])
    assert widths[1] > 1.2 * widths[0]


def test_a_range_of_a_number_a_period_and_a_gap_can_be_worst(rows: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    table = rows.assign(
        at=pd.date_range("2024-01-01", periods=len(rows), freq="h"),
        gappy=rows["noise_1"].where(rng.random(len(rows)) > 0.2),
    )
    cases = {
        "a": rows["a"] > rows["a"].quantile(0.75),
        "at": table["at"] >= table["at"].iloc[1125],
        "gappy": table["gappy"].isna(),
    }
    for name, inside in cases.items():
        error = rng.normal(size=len(rows)) * np.where(inside, 5, 1)
        facts = find_worst_segments(table, Predicted(np.zeros(len(rows)), error), NUMBER)
        assert facts["worst"][0]["column"] == name
        assert facts["worst"][0]["rows"] == pytest.approx(int(inside.sum()), abs=2)
        assert facts["measure"] == "absolute_error"


def test_overlapping_segments_are_listed_once(rows: pd.DataFrame) -> None:
    table = rows.assign(copy=rows["kind"].str.upper())
    error = np.random.default_rng(0).normal(size=len(rows)) * np.where(rows["kind"] == "y", 4, 1)

    facts = find_worst_segments(table, Predicted(np.zeros(len(rows)), error), NUMBER)

    assert [segment["column"] for segment in facts["worst"]] == ["kind"]


def test_a_few_rows_are_not_a_segment(rows: pd.DataFrame) -> None:
    table = pd.DataFrame({"rare": ["odd"] * 10 + ["plain"] * 290})
    error = np.where(table["rare"] == "odd", 100.0, 1.0) + np.arange(300) / 300

    facts = find_worst_segments(table, Predicted(np.zeros(300), error), NUMBER)

    assert facts["worst"] == []
    assert facts["tested"] == 0


def test_yes_and_no_are_named_in_the_words_of_their_file(rows: pd.DataFrame) -> None:
    table = pd.DataFrame({"smoker": rows["kind"] == "z"})
    parser = {"op": "read_boolean", "words": ["N", "Y"], "columns": ["smoker"]}
    error = np.random.default_rng(0).normal(size=len(rows)) * np.where(table["smoker"], 4, 1)
    predicted = Predicted(np.zeros(len(rows)), error)

    texts = [
        find_worst_segments(table, predicted, replace(NUMBER, parsers=parsers))["worst"][0]["text"]
        for parsers in ((parser,), ())
    ]

    assert texts == ["is Y", "is True"]
