"""A plan that its user changes: what is followed, and why the rest is not."""

import pytest

from app.agents.planner.output import Plan
from app.agents.planner.plan_editing import InvalidPlan, changes_schema, edit_plan
from app.agents.planner.stages import STAGES, next_stage, stages_error
from app.errors import InvalidInput
from app.sessions.answer_validation import check_answer

TABLES = {"sales": ["day", "store", "units", "price", "sold_out"]}
PLAN = Plan(
    tables=["sales"], target="units", kind="regression", metric="rmse", exclude=["sold_out"], steps=["It is."]
)
EXPLORE = ["data_retrieval", "split", "data_analysis", "reporting"]


def test_what_is_given_changes_and_the_rest_stays():
    made = edit_plan(PLAN, {"metric": "mae", "families": ["Ridge"]}, TABLES)
    assert (made.metric, made.families, made.target, made.exclude) == ("mae", ["Ridge"], "units", ["sold_out"])
    assert "Fit Ridge and compare by cross-validation, judged by mae." in made.steps


def test_families_for_either_kind_of_target_are_no_reason_to_refuse_another_change():
    preferred = PLAN.model_copy(update={"families": ["LogisticRegression", "Ridge"]})
    assert edit_plan(preferred, {"metric": "mae"}, TABLES).families == ["LogisticRegression", "Ridge"]
    with pytest.raises(InvalidPlan, match="Ridge does not do classification"):
        edit_plan(preferred, {"kind": "classification", "metric": "f1"}, TABLES)


def test_another_target_takes_nothing_over_that_was_chosen_for_the_first():
    made = edit_plan(PLAN, {"target": "sold_out"}, TABLES)
    assert (made.kind, made.metric, made.exclude) == (None, None, [])


def test_stages_that_are_left_out_leave_the_steps():
    made = edit_plan(PLAN, {"stages": EXPLORE}, TABLES)
    assert len(made.steps) == len(EXPLORE)
    assert next_stage(made.stages, "data_analysis") == "reporting"
    assert next_stage(STAGES, "data_analysis") == "feature_engineering"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"targt": "price"}, "no setting 'targt'; the nearest are target"),
        ({"steps": ["Win."]}, "no setting 'steps'"),
        ({"target": "unit"}, "'unit' (nearest: units)"),
        ({"exclude": ["prise"]}, "'prise' (nearest: price)"),
        ({"exclude": ["units"]}, "`units` is what is predicted, so it cannot be left out"),
        ({"group_column": "units"}, "cannot be ordered or grouped by it"),
        ({"column_types": {"stor": "category"}}, "'stor' (nearest: store"),
        ({"column_types": {"store": "colour"}}, "column_types.store: Input should be 'number'"),
        ({"tables": ["sale"]}, "not read: sale"),
        ({"horizon": 3}, "A horizon needs a time_column"),
        ({"horizon": 0}, "horizon: Input should be greater than or equal to 1"),
        ({"outlook": "direction"}, "needs a horizon"),
        ({"every_step": True}, "Every step can be forecast"),
        ({"barriers": {"stop_loss": 0.01}}, "Barriers are of trades"),
        ({"metric": "roc_auc"}, "roc_auc does not judge regression"),
        ({"families": ["LightGMB"]}, "no family of models 'LightGMB'; the nearest are LightGBM"),
        ({"families": ["LogisticRegression"]}, "LogisticRegression does not do regression; these do: LightGBM"),
        ({"families": ["XGBoost"], "model": "interpretable"}, "one of LogisticRegression, Ridge"),
    ],
)
def test_what_the_data_or_the_graph_cannot_bear_is_refused_by_name(changes, reason):
    with pytest.raises(InvalidPlan) as raised:
        edit_plan(PLAN, changes, TABLES)
    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("stages", "reason"),
    [
        ([*EXPLORE, "win"], "no stage 'win'"),
        (["data_retrieval", "reporting"], "split cannot be left out: a score is valid only on rows"),
        (["data_retrieval", "data_analysis", "split", "reporting"], "order is fixed: data_retrieval, split"),
        ([*EXPLORE[:-1], "model_training", "reporting"], "model_training needs model_evaluation"),
        ([*EXPLORE[:-1], "hyperparameter_tuning", "reporting"], "hyperparameter_tuning needs model_training"),
        (["data_retrieval", "split", "split", "reporting"], "Each stage stands once"),
    ],
)
def test_stages_that_the_graph_cannot_go_through_are_refused_by_name(stages, reason):
    assert reason in str(stages_error(stages))


@pytest.mark.parametrize("without", ["data_analysis", "feature_engineering", "hyperparameter_tuning"])
def test_each_of_these_may_be_left_out(without):
    assert stages_error([name for name in STAGES if name != without]) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"target": "unit"}, "answer.target: 'unit' is not one of"),
        ({"target": "unit"}, "Did you mean units?"),
        ({"metrik": "mae"}, "Did you mean metric"),
        ({"stages": ["data_analysys"]}, "Did you mean data_analysis"),
        ({"families": "Ridge"}, "'Ridge' is not of type 'array'"),
        ({}, "answer"),
    ],
)
def test_the_schema_of_a_change_says_what_is_nearest(changes, reason):
    with pytest.raises(InvalidInput) as raised:
        check_answer(changes_schema(TABLES, list(TABLES)), changes)
    assert reason in raised.value.detail


def test_of_a_table_too_wide_to_list_names_are_checked_when_the_answer_is_read():
    wide = {"wide": [f"c{number}" for number in range(2_000)]}
    assert len(str(changes_schema(wide, ["wide"]))) < 8_500
    check_answer(changes_schema(wide, ["wide"]), {"target": "c1x"})
