import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.quality.scoring import score_predictions


def facts(**more: Any) -> dict[str, Any]:
    return {"target": "y", "kind": "regression", "metric": "rmse", "cut": "random", "by": None, **more}


def truth(folder: Path, **columns: Any) -> Path:
    pd.DataFrame(columns).to_csv(folder / "truth.csv", index=False)
    return folder


def test_an_error_is_measured_on_the_targets_own_scale(tmp_path: Path) -> None:
    scored = score_predictions(
        truth(tmp_path, y=[1.0, 2.0, 3.0]), pd.DataFrame({"prediction": [2.0, 3.0, 4.0]}), facts()
    )
    assert scored.score == 1.0
    assert scored.standard_error == 0.0


def test_classes_are_found_by_name_and_a_missing_one_costs_dearly(tmp_path: Path) -> None:
    table = truth(tmp_path, y=["b", "a", "c"])
    probabilities = pd.DataFrame({"c": [0.1, 0.1, 0.8], "a": [0.1, 0.8, 0.1], "b": [0.8, 0.1, 0.1]})
    multiclass_facts = facts(kind="multiclass", metric="log_loss")
    assert score_predictions(table, probabilities, multiclass_facts).score == pytest.approx(-np.log(0.8))
    assert score_predictions(table, probabilities[["a", "b"]], multiclass_facts).score > 4


def test_rows_of_one_group_count_as_one_independent_unit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    by_group = np.repeat(rng.normal(size=20), 50)
    table = truth(tmp_path, y=by_group, person=np.repeat(np.arange(20), 50))
    constant_predictions = pd.DataFrame({"prediction": np.zeros(1000)})
    by_row = score_predictions(table, constant_predictions, facts(metric="mae"))
    by_person = score_predictions(
        table, constant_predictions, facts(metric="mae", by="person", cut="new groups")
    )
    assert by_person.standard_error > 4 * by_row.standard_error


def test_too_few_predictions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="1 predictions for 2 rows"):
        score_predictions(truth(tmp_path, y=[1, 2]), pd.DataFrame({"prediction": [1.0]}), facts())


def test_results_survive_a_run_in_parts(tmp_path: Path) -> None:
    from benchmarks.quality import result_log

    path = tmp_path / "results.jsonl"
    result = {"table": "t", "contender": "c", "budget_s": 60.0, "score": 1.0}
    result_log.append_result(path, result)
    result_log.append_result(path, {**result, "score": 2.0})
    assert [stored["score"] for stored in result_log.read_results(path).values()] == [2.0]
    assert len(path.read_text().splitlines()) == 2
    assert json.loads(path.read_text().splitlines()[0]) == result


def test_labcrew_at_one_budget_is_compared_with_peers_at_another() -> None:
    from benchmarks.quality import result_log

    results = [
        {"table": "t", "contender": name, "budget_s": budget_s, "score": 1.0}
        for name, budget_s in (("labcrew", 20.0), ("labcrew", 60.0), ("flaml", 60.0), ("naive", 0.0))
    ]
    row = result_log.results_by_budget(results, 20.0, 60.0)["t"]
    assert {name: result["budget_s"] for name, result in row.items()} == {
        "labcrew": 20.0,
        "flaml": 60.0,
        "naive": 0.0,
    }


def test_the_rows_of_a_single_year_are_drawn_one_by_one(tmp_path: Path) -> None:
    table = truth(tmp_path, y=[1.0, 2.0, 3.0, 9.0], year=[2020] * 4)
    scored = score_predictions(
        table, pd.DataFrame({"prediction": [1.0, 2.0, 3.0, 4.0]}), facts(cut="latest", by="year")
    )
    assert scored.standard_error > 0
