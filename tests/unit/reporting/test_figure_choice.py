import copy
from typing import Any

import pytest

from app.recorded_call import RecordedCall
from app.reporting.figure_choice import comparison_figures, evaluation_figures, importance_figures

from .conftest import recorded


def result(calls: list[RecordedCall], tool: str) -> Any:
    return copy.deepcopy([call.result for call in calls if call.tool == tool][-1])


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("titanic", ["roc", "precision_recall", "confusion", "calibration"]),
        ("diabetes", ["predicted_vs_actual", "residuals"]),
    ],
)
def test_the_figures_of_an_evaluation_depend_on_the_problem(name: str, kinds: list[str]) -> None:
    made = evaluation_figures(result(recorded(name), "final_evaluation"), "y")

    assert [each.kind for each in made] == kinds


def test_a_residual_is_the_actual_minus_the_predicted_value(diabetes: list[RecordedCall]) -> None:
    final = result(diabetes, "final_evaluation")

    (_, residuals) = evaluation_figures(final, "y")

    point = final["residuals"]["points"][0]
    assert residuals.facts["residuals"][0] == pytest.approx(point["truth"] - point["prediction"])


def test_missing_measurements_are_not_drawn(titanic: list[RecordedCall]) -> None:
    final = result(titanic, "final_evaluation")
    final["metrics"]["roc_auc"]["value"] = None
    final |= {"precision_recall": None, "calibration": None, "confusion": None}

    assert evaluation_figures(final, "y") == []
    assert importance_figures({"metric": "rmse", "importances": []}) == []


def test_many_candidates_are_cut_but_the_baseline_stays(titanic: list[RecordedCall]) -> None:
    compared = result(titanic, "compare_models")
    row = compared["leaderboard"][0]
    compared["leaderboard"] = [{**row, "name": f"m{n}"} for n in range(30)] + [{**row, "name": "baseline"}]
    compared["leaderboard"].append({**row, "name": "broken", "score": None})

    (board,) = comparison_figures(compared, [])

    names = [entry.name for entry in board.facts["entries"]]
    assert len(names) == 15
    assert names[-1] == "baseline"
    assert board.facts["metric"] == "ROC AUC"
