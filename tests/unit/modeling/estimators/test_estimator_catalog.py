"""Comparison, tuning, estimator names and time limits."""

from typing import Any

import pytest

from app.errors import InvalidInput
from app.modeling.estimators.estimator_catalog import (
    ESTIMATORS,
    SearchRange,
    get_estimator_spec,
    make_estimator,
)
from app.modeling.estimators.families.log_target import LogTargetModel
from app.modeling.evaluation.comparison import compare_candidates
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.fits import CandidateFit, FittedSpec
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.training import time_limits
from app.modeling.training.fitting import CandidateSpec
from app.modeling.training.fitting import fit as fit_model
from app.modeling.training.time_limits import reduce_to_limit, reduce_work
from app.modeling.training.training_set import TrainingSet
from app.modeling.training.tuning import UNTUNED, enumerate_grid, propose_hyperparameters

from ..frames import candidate_fit, people, problem, series


def fit(name: str, scores: list[float | None], estimator: str = "XGBoost", **more: Any) -> CandidateFit:
    return candidate_fit(name, scores, estimator=estimator, **more)


NAIVE = fit("baseline", [0.5] * 5, "baseline")
GOOD = fit("good", [0.80, 0.82, 0.78, 0.81, 0.79])
CLOSE = fit("close", [0.81, 0.80, 0.79, 0.80, 0.79], "LogisticRegression")
BAD = fit("bad", [0.60, 0.61, 0.58, 0.62, 0.59], "Ridge")


def test_the_leaderboard_marks_candidates_that_the_folds_distinguish() -> None:
    facts = compare_candidates([NAIVE, BAD, CLOSE, GOOD])
    assert [row["name"] for row in facts["leaderboard"]] == ["good", "close", "bad", "baseline"]
    distinguishable = {row["name"]: row["distinguishable"] for row in facts["leaderboard"]}
    assert distinguishable == {"good": False, "close": False, "bad": True, "baseline": True}
    assert (facts["best"], facts["beats_baseline"], facts["baseline"]) == ("good", True, "baseline")
    assert "close" in facts["reason"]
    assert "bad" not in facts["reason"]


def test_the_best_of_single_models_is_chosen() -> None:
    assert compare_candidates([NAIVE, BAD, CLOSE, GOOD])["chosen"] == "good"


def test_a_model_like_the_baseline_does_not_beat_it() -> None:
    facts = compare_candidates([NAIVE, fit("guess", [0.52, 0.47, 0.51, 0.5, 0.53])])
    assert facts["beats_baseline"] is False
    assert "baseline" in facts["reason"]


def test_a_candidate_without_a_score_is_not_compared() -> None:
    facts = compare_candidates(
        [GOOD, fit("broken", [None] * 5)], [{"name": "late", "reason": "It did not come in time."}]
    )
    assert [row["name"] for row in facts["leaderboard"]] == ["good"]
    assert facts["left_out"][0]["name"] == "late"
    with pytest.raises(InvalidInput, match="No candidate"):
        compare_candidates([fit("broken", [None] * 5)])


def test_an_ensemble_is_chosen_that_nothing_beats_beyond_noise() -> None:
    blended = fit("Ensemble", [0.82, 0.84, 0.80, 0.83, 0.81], "Ensemble", weights={"good": 1.0})
    facts = compare_candidates([NAIVE, GOOD, CLOSE, blended])
    assert (facts["best"], facts["chosen"], facts["beats_baseline"]) == ("Ensemble", "Ensemble", True)
    kinds = {row["name"]: (row["kind"], row["weight"], row["folds"]) for row in facts["leaderboard"]}
    assert kinds["good"] == ("member", 1.0, 5)
    assert kinds["close"] == ("candidate", None, 5)
    assert kinds["Ensemble"][0] == "ensemble"
    equal = fit("Ensemble", [0.80, 0.83, 0.77, 0.81, 0.79], "Ensemble", weights={"good": 1.0})
    tied = compare_candidates([NAIVE, GOOD, equal])
    assert tied["chosen"] == "Ensemble"
    assert tied["best"] == "Ensemble" or "averages several" in tied["reason"]
    behind = fit("Ensemble", [0.70, 0.72, 0.68, 0.71, 0.69], "Ensemble", weights={"good": 1.0})
    assert compare_candidates([NAIVE, GOOD, behind])["chosen"] == "good"


def test_an_ensemble_that_does_not_beat_the_plain_candidate_is_not_delivered() -> None:
    plain = fit("PlainBoosting", [0.81, 0.83, 0.79, 0.82, 0.80], "PlainBoosting")
    for blended_score, chosen in ((0.80, "PlainBoosting"), (0.85, "Ensemble")):
        blended = fit("Ensemble", [blended_score] * 5, "Ensemble", weights={"good": 1.0})
        assert compare_candidates([NAIVE, BAD, plain, blended])["chosen"] == chosen


def test_more_folds_of_the_plain_candidate_leave_the_others_compared() -> None:
    plain = fit("PlainBoosting", [0.7] * 5, "PlainBoosting")
    facts = compare_candidates([plain, fit("one", [0.8, 0.8, None, None, None])])
    assert all(row["is_compared"] for row in facts["leaderboard"])
    assert facts["folds_compared"] == 2


def test_a_fit_that_its_time_cut_is_not_compared_as_if_it_were_finished() -> None:
    cut = fit("cut", [0.93] * 5, "LightGBM", is_cut=True, rows=1000, learned_share=0.5)
    facts = compare_candidates([NAIVE, GOOD, cut])
    row = facts["leaderboard"][-1]
    assert (row["name"], row["is_cut"], row["is_compared"], row["learned_rows"]) == ("cut", True, False, 500)
    assert facts["chosen"] == "good"
    assert "not compared as if finished: cut" in facts["reason"]


def test_where_time_cut_every_model_they_are_compared_with_each_other() -> None:
    cut = fit("cut", [0.93] * 5, "LightGBM", is_cut=True)
    assert compare_candidates([NAIVE, cut])["chosen"] == "cut"


def test_candidates_with_fewer_folds_stand_apart() -> None:
    lucky = fit("lucky", [0.93, None, None, None, None], "LightGBM")
    facts = compare_candidates([lucky, NAIVE, GOOD, CLOSE])
    assert [row["name"] for row in facts["leaderboard"]] == ["good", "close", "baseline", "lucky"]
    row = facts["leaderboard"][-1]
    assert (row["is_compared"], row["folds"], row["fold_count"]) == (False, 1, 5)
    assert (row["difference"], row["std"]) == (None, None)
    assert facts["folds_compared"] == 5
    assert "not compared: lucky" in facts["reason"]
    assert facts["chosen"] != "lucky"


def test_all_scores_are_of_the_folds_of_the_ensemble() -> None:
    blended = fit("Ensemble", [0.83, 0.84, None, None, None], "Ensemble", weights={"good": 1.0})
    facts = compare_candidates([NAIVE, GOOD, blended])
    scores = {row["name"]: row["score"] for row in facts["leaderboard"]}
    assert scores["good"] == pytest.approx((0.80 + 0.82) / 2)
    assert {row["folds"] for row in facts["leaderboard"]} == {2}
    assert all(row["is_compared"] for row in facts["leaderboard"])


def test_a_single_fold_has_no_deviation() -> None:
    facts = compare_candidates([fit("one", [0.8, None]), fit("two", [0.7, None], "Ridge", std=0.0)])
    assert [row["std"] for row in facts["leaderboard"]] == [None, None]


def test_tuning_is_deterministic_and_proposes_as_much_as_fits() -> None:
    facts = [NAIVE, GOOD, CLOSE]
    proposed = propose_hyperparameters(facts, budget_s=6, seed=3)
    assert proposed == propose_hyperparameters(facts, budget_s=6, seed=3)
    assert len(proposed) == 4
    assert proposed != propose_hyperparameters(facts, budget_s=6, seed=4)
    assert {entry["estimator"] for entry in proposed} == {"XGBoost", "LogisticRegression"}
    assert len(propose_hyperparameters(facts, budget_s=1000, max_candidates=5)) == 5
    assert propose_hyperparameters(facts, budget_s=0.5) == []
    assert propose_hyperparameters([NAIVE], budget_s=100) == []


def test_tuning_stays_in_the_grid_and_repeats_nothing() -> None:
    proposed = propose_hyperparameters(
        [GOOD], budget_s=1000, max_candidates=12, param_grid={"max_depth": [2, 3], "n_estimators": [50]}
    )
    assert sorted(entry["hyperparameters"]["max_depth"] for entry in proposed) == [2, 3]
    assert len({entry["name"] for entry in proposed}) == 2
    previous = [parse_facts(FittedSpec, proposal) for proposal in proposed]
    grid = {"max_depth": [2, 3], "n_estimators": [50]}
    assert propose_hyperparameters([GOOD], budget_s=1000, previous=previous, param_grid=grid) == []


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in UNTUNED])
def test_every_estimator_accepts_every_proposal(name: str) -> None:
    spec = ESTIMATORS[name]
    proposals = propose_hyperparameters([fit("x", [0.7] * 5, name)], budget_s=1000, max_candidates=6)
    assert proposals
    for kind in spec.kinds:
        target_problem = problem(people(60), "left" if kind is ProblemKind.CLASSIFICATION else "age")
        for entry in proposals:
            make_estimator(name, target_problem, entry["hyperparameters"], 0, 1)
    for parameter, values in spec.search_space.items():
        if isinstance(values, SearchRange):
            assert all(values.low <= entry["hyperparameters"][parameter] <= values.high for entry in proposals)


def test_estimators_are_found_by_common_aliases() -> None:
    assert get_estimator_spec("xgb", ProblemKind.REGRESSION).name == "XGBoost"
    assert get_estimator_spec("Random Forest", ProblemKind.CLASSIFICATION).name == "RandomForest"
    assert (
        get_estimator_spec("GradientBoostingClassifier", ProblemKind.CLASSIFICATION).name == "GradientBoosting"
    )
    with pytest.raises(InvalidInput, match="Choose from"):
        get_estimator_spec("Ridge", ProblemKind.CLASSIFICATION)


@pytest.mark.parametrize("name", ["depth", "n_jobs", "random_state"])
def test_reserved_and_unknown_hyperparameters_are_refused(name: str) -> None:
    for estimator in ("RandomForest", "XGBoost"):
        with pytest.raises(InvalidInput, match=f"no hyperparameter '{name}'"):
            make_estimator(estimator, problem(people(60), "left"), {name: 3}, 0, 1)


@pytest.mark.parametrize("estimator", ["RandomForest", "XGBoost", "GradientBoosting"])
def test_an_invalid_hyperparameter_value_is_refused(estimator: str) -> None:
    frame = people(60)
    wrong = {"max_depth": "deep"} if estimator != "XGBoost" else {"max_depth": -5}
    with pytest.raises(InvalidInput, match=f"{estimator} does not accept this") as caught:
        fit_model(TrainingSet.from_frame(frame, problem(frame, "left")), CandidateSpec(estimator, wrong))
    assert caught.value.code == "bad_hyperparameter"


def test_a_time_limit_cuts_rounds_before_rows_and_reports_it() -> None:
    target_problem = problem(people(), "left")
    spec = CandidateSpec("ExtraTrees", {"n_estimators": 200})
    assert reduce_work(target_problem, spec, 1.5) == (spec, None)
    half, note = reduce_work(target_problem, spec, 0.5)
    assert (half.hyperparameters["n_estimators"], half.row_share) == (100, 1.0)
    assert note == "Trained with 100 of 200 rounds to keep its time limit."
    tenth, note = reduce_work(target_problem, spec, 0.03)
    assert (tenth.hyperparameters["n_estimators"], round(tenth.row_share, 2)) == (60, 0.1)
    assert note is not None
    assert "10% of the rows" in note


def test_a_limit_that_is_too_short_is_kept_approximately() -> None:
    frame = people(400)
    target_problem = problem(frame, "left")
    data = TrainingSet.from_frame(frame, target_problem, FoldPlan(SplitKind.STRATIFIED, 5, 0))
    spec, note = reduce_to_limit(
        data, CandidateSpec("RandomForest", {"n_estimators": 1000}), data.folds, limit_s=0.1
    )
    assert spec.hyperparameters["n_estimators"] == 300
    assert note is not None


@pytest.mark.parametrize("estimator", ["LightGBM", "RandomForest"])
def test_rows_are_cut_so_that_wide_features_fit_into_memory(
    estimator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = series(3000)
    forecast = problem(frame, "sales", time_column="day", horizon=1)
    data = TrainingSet.from_frame(frame, forecast, FoldPlan(SplitKind.TIME, 3, 0))
    wide = [{"op": "lags", "columns": ["sales"], "periods": list(range(1, 40))}]
    monkeypatch.setattr(time_limits, "MAX_CELLS", 30_000)
    monkeypatch.setattr(time_limits, "LARGE_CELLS", 3_000)
    monkeypatch.setattr(time_limits, "MIN_TRAINING_ROWS", 500)
    narrow, _ = reduce_to_limit(data, CandidateSpec(estimator), data.folds, None)
    cut_to_fit, note = reduce_to_limit(data, CandidateSpec(estimator, recipe=wide), data.folds, None)
    assert narrow.row_share == 1
    assert 0.2 < cut_to_fit.row_share < 0.5
    assert note is not None


def test_a_grid_search_has_every_combination_but_those_that_were_fitted() -> None:
    grid = {"max_depth": [2, 3], "min_child_weight": [1, 5, 9]}
    previous = [FittedSpec(estimator="XGBoost", hyperparameters={"max_depth": 3, "min_child_weight": 5})]
    proposed = enumerate_grid([NAIVE, BAD, GOOD], grid, previous)
    pairs = {(p["hyperparameters"]["max_depth"], p["hyperparameters"]["min_child_weight"]) for p in proposed}
    assert pairs == {(2, 1), (2, 5), (2, 9), (3, 1), (3, 9)}
    assert {proposal["estimator"] for proposal in proposed} == {"XGBoost"}


def test_forecasts_learn_changes_so_that_neither_rates_nor_logarithms_apply() -> None:
    forecast = Problem(
        "y", ProblemKind.REGRESSION, "poisson_deviance", time_column="day", horizon=7, outlook=Outlook.VALUE
    )
    count = Problem("y", ProblemKind.REGRESSION, "poisson_deviance")
    for asked, aim in ((forecast, "mean"), (count, "poisson")):
        assert make_estimator("XGBoost", asked, {}, 0, 1)[0].aim == aim
    assert isinstance(make_estimator("XGBoost", count, {"on_log": True}, 0, 1)[0], LogTargetModel)
    with pytest.raises(InvalidInput) as refused:
        make_estimator("XGBoost", forecast, {"on_log": True}, 0, 1)
    assert isinstance(
        make_estimator("XGBoost", forecast, {"on_log": True, "factor": 1.0}, 0, 1)[0], LogTargetModel
    )
    assert refused.value.code == "bad_hyperparameter"
