"""The effect of changed settings, preferences and notes on the recorded state of a session."""

from typing import Any

import pytest

from app.agents.planner.output import Plan
from app.errors import InvalidInput
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.pipeline.fork_changes import decide_effect, reads_datasets
from app.sessions.forks.schemas import ForkChange
from app.sessions.forks.source import ForkEffect, ForkSource, RecordedStep, SourceDataset
from app.sessions.lifecycle import SessionStatus
from app.sessions.schemas import Preferences

COLUMNS = ("churned", "tenure", "fee", "region", "signed_at")
PLAN = Plan(tables=["customers"], target="churned", kind="classification", time_column="signed_at")
PROBLEM = Problem(
    "churned", ProblemKind.CLASSIFICATION, "roc_auc", classes=("no", "yes"), time_column="signed_at"
)
UPDATES: list[tuple[str, dict[str, Any]]] = [
    ("planning", {"plan": PLAN.model_dump(mode="json")}),
    ("data_retrieval", {"retrieved": {"frame": "t", "target": "churned", "exclude": [], "note": ""}}),
    ("split", {"problem": PROBLEM.to_json(), "columns": [{"name": name} for name in COLUMNS]}),
    ("data_analysis", {"problem": PROBLEM.to_json()}),
    ("feature_engineering", {"frame": "train"}),
    ("model_training", {"fits": []}),
    ("model_evaluation", {"verdict": {}}),
]


def source(step: int, *updates: tuple[str, dict[str, Any]]) -> ForkSource:
    recorded = [
        RecordedStep(seq, node, update) for seq, (node, update) in enumerate(updates or UPDATES, start=1)
    ]
    return ForkSource(
        graph="pipeline",
        goal="Which customers leave?",
        preferences=Preferences().model_dump(mode="json", exclude_none=True),
        status=SessionStatus.COMPLETED,
        step=step,
        last_seq=len(recorded),
        has_ended=True,
        steps=[entry for entry in recorded if entry.seq < step],
        datasets=[SourceDataset("customers", COLUMNS)],
    )


def effect(step: int, **change: Any) -> ForkEffect:
    return decide_effect(source(step), ForkChange(**change))


def refusal(step: int, **change: Any) -> str:
    with pytest.raises(InvalidInput) as refused:
        effect(step, **change)
    return refused.value.detail


@pytest.mark.parametrize("step", [2, 3, 4])
def test_a_column_is_left_out_of_plan_table_and_problem(step: int) -> None:
    overlay = effect(step, settings={"leave_out": ["tenure"]}).overlay
    assert overlay["plan"]["exclude"] == ["tenure"]
    assert set(overlay) == {"plan", "retrieved", "problem"} - ({"problem"} if step < 4 else set()) - (
        {"retrieved"} if step < 3 else set()
    )
    if step == 4:
        assert overlay["problem"]["exclude"] == ["tenure"]
        assert overlay["problem"]["metric"] == "roc_auc"


def test_a_column_is_left_out_under_the_names_that_a_select_gave_it() -> None:
    sql = "SELECT *, tenure AS loyalty FROM customers"
    updates = [
        (
            node,
            {**update, "retrieved": {**update["retrieved"], "sql": sql}} if "retrieved" in update else update,
        )
        for node, update in UPDATES
    ]
    overlay = decide_effect(source(4, *updates), ForkChange(settings={"leave_out": ["tenure"]})).overlay
    assert overlay["problem"]["exclude"] == overlay["retrieved"]["exclude"] == ["tenure", "loyalty"]


def test_settings_are_refused_with_the_step_at_which_they_can_change() -> None:
    assert "Fork at step 4 or earlier" in refusal(5, settings={"leave_out": ["tenure"]})
    assert "Fork at step 6 or earlier" in refusal(7, settings={"metric": "f1"})
    assert "Fork at step 6 or earlier" in refusal(7, settings={"families": ["LogisticRegression"]})
    assert "Fork at step 6 or earlier" in refusal(8, preferences={"model": "single"})
    assert "fork at step 1" in refusal(4, settings={"leave_out": ["signed_at"]})
    assert "fork at step 2" in refusal(1, settings={"stages": [*PLAN.stages]})


def test_wrong_values_name_the_nearest_ones() -> None:
    assert "nearest: tenure" in refusal(4, settings={"leave_out": ["tenur"]})
    assert "what is predicted" in refusal(4, settings={"leave_out": ["churned"]})
    assert "nearest are LogisticRegression" in refusal(4, settings={"families": ["LogisticRegresion"]})
    assert "does not judge classification" in refusal(4, settings={"metric": "rmse"})
    assert "does not judge classification" in refusal(2, settings={"metric": "rmse"})
    assert "needs `settings.costs`" in refusal(4, settings={"metric": "cost"})


def test_metric_families_and_costs_change_plan_and_problem() -> None:
    costs = {"false_alarm": 1, "missed": 5}
    overlay = effect(6, settings={"metric": "f1", "families": ["LogisticRegression"], "costs": costs}).overlay
    assert (overlay["problem"]["metric"], overlay["problem"]["costs"]) == ("f1", [1.0, 5.0])
    assert overlay["plan"]["families"] == ["LogisticRegression"]
    assert "compared by roc_auc" in effect(6, settings={"costs": costs}).notes[0]


def test_stages_that_have_run_stay() -> None:
    stages = [*PLAN.stages]
    without_tuning = [stage for stage in stages if stage != "hyperparameter_tuning"]
    assert effect(7, settings={"stages": without_tuning}).overlay["plan"]["stages"] == without_tuning
    without_analysis = [stage for stage in stages if stage != "data_analysis"]
    assert "fork at step 4" in refusal(6, settings={"stages": without_analysis})
    assert "needs" in refusal(
        4, settings={"stages": [stage for stage in stages if stage != "model_evaluation"]}
    )


def test_settings_at_the_first_step_are_preferences() -> None:
    decided = effect(1, settings={"leave_out": ["fee"], "families": ["Ridge"]}, preferences={"metric": "f1"})
    assert not decided.overlay
    assert decided.preferences["exclude"] == ["fee"]
    assert (decided.preferences["metric"], decided.preferences["families"]) == ("f1", ["Ridge"])


def test_later_preferences_only_are_read_by_later_steps() -> None:
    decided = effect(6, preferences={"time_budget_s": 7, "model": "interpretable"})
    assert decided.preferences["time_budget_s"] == 7
    assert decided.overlay["plan"]["model"] == "interpretable"
    assert "fork at step 1, or send it as `settings.leave_out`" in refusal(4, preferences={"exclude": ["fee"]})
    assert "keeps the seed" in refusal(1, preferences={"seed": 4})


def test_a_note_changes_the_settings_that_it_names() -> None:
    decided = effect(4, note="Leave out the fee, and judge by F1. Only linear models, please.")
    assert decided.overlay["plan"]["exclude"] == ["fee"]
    assert decided.overlay["problem"]["metric"] == "f1"
    assert decided.overlay["plan"]["model"] == "interpretable"
    assert decided.notes == ()


def test_the_parts_of_a_note_without_an_effect_are_named() -> None:
    late = effect(5, note="Leave out the fee.")
    assert not late.overlay
    assert "Fork at step 4 or earlier" in late.notes[0]
    assert "no column has that name" in effect(4, note="Leave out the zodiac.").notes[0]
    assert "No setting of the plan follows" in effect(4, note="Try harder.").notes[0]


def test_a_question_about_the_data_has_no_settings() -> None:
    question = PLAN.model_copy(update={"question": "How many customers left?"}).model_dump(mode="json")
    asked = source(2, ("planning", {"plan": question}), ("data_retrieval", {}), ("answering", {}))
    with pytest.raises(InvalidInput, match="answers a question"):
        decide_effect(asked, ForkChange(settings={"metric": "f1"}))
    assert reads_datasets(asked)


def test_the_datasets_are_needed_until_they_are_retrieved() -> None:
    assert [reads_datasets(source(step)) for step in (1, 2, 3, 7)] == [True, True, False, False]
