"""A plan keeps what its user requires, whatever the chat model that made it left out or changed."""

from typing import Any

import pytest

from app.agents.goals.parser import parse_goal
from app.agents.goals.phrases.model_families import requested_families
from app.agents.goals.tables.profiles import TableProfile, make_table_profile
from app.agents.planner.output import Plan
from app.agents.planner.preferences import PlanPreferences
from app.agents.planner.user_requirements import UserRequirements

GOAL = "Predict the survivors of the Titanic"


@pytest.fixture
def profiles(tables) -> dict[str, TableProfile]:
    return {
        name: make_table_profile({"table": name, "rows": ref.rows, "columns": ref.profile["columns"]})
        for name, ref in tables.items()
    }


def applied(
    profile: TableProfile,
    plan: Plan,
    preferences: dict[str, Any] | None = None,
    goal: str = GOAL,
    answers: tuple[str, ...] = (),
) -> Plan:
    requirements = UserRequirements(PlanPreferences(**(preferences or {})), goal, answers)
    return requirements.apply(plan, [profile])


CARELESS = Plan(target="survived", tables=["titanic"], kind="classification", metric="accuracy", steps=["Go."])


@pytest.mark.parametrize(
    ("preferences", "expected"),
    [
        ({"exclude": ["SEX", "cabin"]}, {"exclude": ["sex", "cabin"]}),
        ({"metric": "log_loss"}, {"metric": "log_loss"}),
        ({"metric": "rmse"}, {"metric": "rmse", "kind": "regression"}),
        ({"target": "fare"}, {"target": "fare", "metric": None, "kind": None}),
        ({"problem": "regression"}, {"kind": "regression"}),
        ({"families": ["LightGBM"]}, {"families": ["LightGBM"]}),
        ({"model": "interpretable"}, {"model": "interpretable"}),
        ({"horizon": 3, "time_column": "age"}, {"horizon": 3, "time_column": "age"}),
        ({"group_column": "cabin"}, {"group_column": "cabin"}),
        ({"positive_class": 0}, {"positive_class": 0}),
        ({"costs": {"false_alarm": 1, "missed": 9}}, {"costs": {"false_alarm": 1, "missed": 9}}),
        ({"column_types": {"pclass": "category"}}, {"column_types": {"pclass": "category"}}),
    ],
)
def test_a_preference_replaces_what_the_planner_chose(profiles, preferences, expected):
    plan = applied(profiles["titanic"], CARELESS, preferences)
    assert {name: getattr(plan, name) for name in expected} == expected
    assert "follows what you asked for" in plan.notes[0]
    assert plan.steps != ["Go."]


@pytest.mark.parametrize(
    ("table", "plan", "goal", "expected"),
    [
        ("titanic", CARELESS, f"{GOAL}. Do not use sex and cabin.", {"exclude": ["sex", "cabin"]}),
        ("titanic", CARELESS, f"{GOAL}, judged by log loss", {"metric": "log_loss"}),
        ("titanic", CARELESS, f"{GOAL} with LightGBM", {"families": ["LightGBM"]}),
        (
            "titanic",
            CARELESS,
            f"{GOAL}. A missed survivor costs five times as much as a false alarm.",
            {"costs": {"false_alarm": 1.0, "missed": 5.0}},
        ),
        (
            "stock",
            Plan(target="close", tables=["stock"]),
            "Predict the close 5 days ahead",
            {"horizon": 5, "time_column": "date"},
        ),
    ],
)
def test_words_of_the_goal_are_kept_where_the_planner_overlooked_them(profiles, table, plan, goal, expected):
    changed = applied(profiles[table], plan, None, goal)
    assert {name: getattr(changed, name) for name in expected} == expected


OTHERWISE = CARELESS.model_copy(
    update={"costs": {"false_alarm": 1, "missed": 1}, "families": ["XGBoost"], "time_limit_s": 3600}
)
COSTS = {"costs": {"false_alarm": 1.0, "missed": 5.0}}


@pytest.mark.parametrize(
    ("table", "plan", "words", "expected"),
    [
        ("titanic", CARELESS, "survived, but leave sex out", {"exclude": ["sex"]}),
        ("titanic", OTHERWISE, "Judge it by log loss.", {"metric": "log_loss"}),
        ("titanic", OTHERWISE, "Only with LightGBM.", {"families": ["LightGBM"]}),
        ("titanic", OTHERWISE, "A missed survivor costs five times as much as a false alarm.", COSTS),
        ("titanic", OTHERWISE, "Take at most 20 seconds.", {"time_limit_s": 20}),
        ("stock", Plan(target="close", tables=["stock"], horizon=1), "5 days ahead", {"horizon": 5}),
    ],
)
def test_words_of_goal_and_answers_replace_what_the_planner_chose_otherwise(
    profiles, table, plan, words, expected
):
    for goal, answers in (
        (f"{GOAL if table == 'titanic' else 'Predict the close'}. {words}", ()),
        (GOAL, (words,)),
    ):
        changed = applied(profiles[table], plan, None, goal, answers)
        assert {name: getattr(changed, name) for name in expected} == expected


def test_the_latest_words_decide(profiles):
    replies = ("judge it by log loss", "no: judge it by f1, with XGBoost")
    plan = applied(profiles["titanic"], CARELESS, None, f"{GOAL} with LightGBM, judged by accuracy", replies)
    assert (plan.metric, plan.families) == ("f1", ["XGBoost"])


def test_a_horizon_in_trading_days_is_kept(profiles):
    plan = Plan(target="close", tables=["stock"], time_column="date", horizon=5)
    assert applied(profiles["stock"], plan, None, "Predict the close in 7 days").horizon == 5


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Predict the fare. Take at most 30 seconds.", 30),
        ("Predict the fare. The time budget is 2 min.", 120),
        ("Predict the fare, spend no more than half an hour", 1800),
        ("Predict the fare, in 20 seconds at most", 20),
        ("Predict the fare. Train for up to 1.5 h", 5400),
        ("Predict trips that take less than ten minutes", None),
        ("Predict whether patients spend at most 30 minutes in the waiting room", None),
    ],
)
def test_limits_on_the_time_of_the_session_are_read_from_words(text, seconds):
    assert parse_goal(text).time_limit_s == seconds


def test_a_planner_never_lengthens_a_session(profiles):
    assert applied(profiles["titanic"], OTHERWISE, {"time_budget_s": 30}).time_limit_s is None
    changed = applied(profiles["titanic"], CARELESS, {"time_budget_s": 10}, f"{GOAL}. Take at most a minute.")
    assert changed.time_limit_s is None


def test_columns_to_leave_out_are_those_of_preferences_words_and_plan(profiles):
    plan = CARELESS.model_copy(update={"exclude": ["fare"]})
    changed = applied(profiles["titanic"], plan, {"exclude": ["cabin"]}, f"{GOAL} without the sex")
    assert sorted(changed.exclude) == ["cabin", "fare", "sex"]


def test_preferences_take_precedence_over_words(profiles):
    plan = applied(profiles["titanic"], CARELESS, {"metric": "f1"}, f"{GOAL}, judged by log loss")
    assert plan.metric == "f1"


def test_a_plan_that_keeps_everything_is_not_changed(profiles):
    plan = CARELESS.model_copy(update={"exclude": ["sex"], "metric": "f1"})
    assert applied(profiles["titanic"], plan, {"exclude": ["sex"], "metric": "f1"}) == plan


def test_the_target_is_never_left_out(profiles):
    assert applied(profiles["titanic"], CARELESS, {"exclude": ["survived"]}).exclude == []


def test_an_edited_plan_keeps_the_columns_that_preferences_leave_out(profiles):
    requirements = UserRequirements(PlanPreferences(exclude=("sex",)), GOAL)
    plan = requirements.keep_exclusions(CARELESS, [profiles["titanic"]])
    assert plan.exclude == ["sex"]
    assert "stays left out" in plan.notes[-1]


def test_a_question_about_stored_rows_has_no_model_to_require_anything_of(profiles):
    plan = CARELESS.model_copy(update={"question": "How many survived?"})
    assert applied(profiles["titanic"], plan, {"metric": "f1"}) == plan


@pytest.mark.parametrize(
    ("goal", "families"),
    [
        ("Predict price with XGBoost", ("XGBoost",)),
        ("Compare LightGBM and logistic regression for churn", ("LightGBM", "LogisticRegression")),
        ("Predict price with a random forest", ("RandomForest",)),
        ("Use gradient boosting to predict churn", ("GradientBoosting",)),
        ("Predict price, but not with XGBoost", ()),
        ("Which bridge is longest? The ridge height matters.", ()),
        ("Can you beat the XGBoost that we use?", ()),
    ],
)
def test_families_are_read_from_words_that_ask_for_them(goal, families):
    assert requested_families(goal) == families
