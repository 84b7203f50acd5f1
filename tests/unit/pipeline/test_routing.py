"""Where a session goes next, and how its time is shared."""

import pytest

from app.agents.frame_size import COLUMNS_PER_TEXT, FrameSize, measure_frame
from app.agents.state import LabState, read_state
from app.agents.time_budget import Budget, make_budget
from app.pipeline.graph import NODES
from app.pipeline.routing import after_evaluation, after_training, after_tuning
from app.pipeline.shape import PIPELINE

FOLDS = {"kind": "time", "count": 5, "seed": 0}
FIT = {"estimator": "Ridge", "metric": "rmse", "folds": FOLDS}
PROBLEM = {"target": "y", "kind": "regression", "metric": "rmse"}


def budget_of(state: LabState) -> Budget:
    return make_budget(read_state(state))


@pytest.mark.parametrize(("tune", "node"), [(True, "hyperparameter_tuning"), (False, "final_evaluation")])
def test_tuning_comes_before_the_hold_out_is_opened(tune, node):
    assert after_evaluation({"verdict": {"tune": tune}}) == node


@pytest.mark.parametrize("route", [after_training, after_tuning, after_evaluation])
def test_the_work_goes_back_where_an_answer_leaves_out_a_used_column(route):
    verdict = {"chosen": "A", "tune": True}
    assert route({"verdict": verdict, "fits": [], "refit_from": "feature_engineering"}) == "feature_engineering"
    assert route({"verdict": verdict, "fits": [FIT], "refit_from": None}) != "feature_engineering"


def test_nothing_but_reporting_follows_the_opened_hold_out():
    assert list(PIPELINE.successors("final_evaluation")) == ["reporting"]
    assert not PIPELINE.successors("reporting")


def test_the_hold_out_is_locked_before_the_analyst_looks():
    order = list(NODES)
    assert order.index("data_retrieval") < order.index("split") < order.index("data_analysis")


def test_time_is_kept_back_for_the_end_by_what_like_work_took():
    quick = make_budget(
        read_state({"preferences": {"time_budget_s": 60}, "worked_s": 10.0, "took": {"data_analysis": 1.0}})
    )
    slow = make_budget(
        read_state({"preferences": {"time_budget_s": 60}, "worked_s": 10.0, "took": {"data_analysis": 6.0}})
    )
    assert 2 < quick.ending_s < slow.ending_s < 12
    assert quick.fit_time_s == 60 - 10 - quick.ending_s


def test_time_is_kept_for_what_has_weight_to_learn_again_from_all_rows():
    fits = [
        {**FIT, "name": "A", "fit_s": 6.0, "run": [0, 1]},
        {**FIT, "name": "B", "fit_s": 9.0, "run": [0]},
    ]
    state = {"preferences": {"time_budget_s": 60}, "fits": fits, "weights": {"A": 1.0, "B": 0.0}}
    without = budget_of({**state, "weights": {}})
    assert budget_of(state).ending_s - without.ending_s == pytest.approx(3.9)
    ordered = {"preferences": {"time_budget_s": 60}, "columns": [{"name": "x"}] * 20, "problem": PROBLEM}
    split = {"kind": "time", "train_rows": 100_000, "folds": FOLDS}
    assert budget_of({**ordered, "split": split}).ending_s > budget_of(ordered).ending_s + 2


def test_in_time_order_time_is_kept_for_a_choice_that_is_as_slow_as_the_slowest_fit():
    fits = [
        {**FIT, "name": "A", "fit_s": 2.0, "run": [0, 1]},
        {**FIT, "name": "B", "fit_s": 5.0, "run": [0]},
    ]
    state = {"preferences": {"time_budget_s": 60}, "problem": PROBLEM, "fits": fits, "weights": {"A": 1.0}}
    split = {"train_rows": 1000, "folds": FOLDS}
    in_time = budget_of({**state, "split": {**split, "kind": "time"}})
    at_random = budget_of({**state, "split": {**split, "kind": "random"}})
    assert in_time.ending_s - at_random.ending_s == pytest.approx(1.3 * (5.0 - 1.0))


def test_a_short_budget_is_not_kept_back_altogether():
    budget = make_budget(
        read_state({"preferences": {"time_budget_s": 5}, "worked_s": 2.0, "took": {"data_analysis": 9.0}})
    )
    assert budget.fit_time_s > 0.5


def test_a_deterministic_session_does_not_look_at_the_clock():
    state = {"preferences": {"time_budget_s": 60, "deterministic": True}, "worked_s": 55.0}
    assert budget_of(state).fit_time_s == budget_of({**state, "worked_s": 1.0}).fit_time_s > 1000


@pytest.mark.parametrize(("rows", "share"), [(1000, 0.4), (1_000_000, 1.0)])
def test_where_one_fold_takes_long_one_fold_is_all_there_is(rows, share):
    budget = budget_of({"preferences": {"time_budget_s": 30}, "worked_s": 5.0})
    first_s = budget.first_round_s(FrameSize(rows, columns=20), fit_slots=2)
    assert first_s == pytest.approx(share * budget.fit_time_s)


@pytest.mark.parametrize(("seconds", "rounds"), [(5, 0), (15, 1), (60, 4)])
def test_a_deterministic_session_counts_rounds_for_its_seconds(seconds, rounds):
    assert budget_of({"preferences": {"time_budget_s": seconds, "deterministic": True}}).max_rounds == rounds


def test_a_column_of_free_text_counts_for_several() -> None:
    columns = [{"name": "a", "type": "number"}, {"name": "b", "type": "text"}]
    split = {"kind": "time", "train_rows": 10, "folds": FOLDS}
    state = read_state({"split": split, "columns": columns, "problem": PROBLEM})
    assert measure_frame(state) == FrameSize(10, 1 + COLUMNS_PER_TEXT)
