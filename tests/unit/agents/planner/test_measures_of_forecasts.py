"""The question what to forecast, where words of the goal have to do with no part of the forecast."""

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from tests.corpora.conversations import PlannerQuestion, run_planner
from tests.unit.agents.goals.series.test_unread_words import WALKS

from app.agents.planner.clarification import STOP, WHICH_MEASURE
from app.agents.planner.offline_rules import decide
from app.agents.planner.output import Plan
from app.agents.runtime.conversation import make_brief_message, to_data_block

GOAL = "treats we need each month for the coming 4 months"


def test_an_unread_thing_is_asked_about() -> None:
    question = run_planner(GOAL, [WALKS])
    assert isinstance(question, PlannerQuestion)
    assert question.text.startswith(f"{WHICH_MEASURE} No column or value of the table has to do with 'treats'.")
    assert question.options[0] == "the number of rows in each month"
    assert question.options[-1] == STOP


def test_the_chosen_measure_is_forecast() -> None:
    plan = run_planner(GOAL, [WALKS], ["the sum of `fee_eur` in each month"])
    assert isinstance(plan, Plan)
    assert plan.aggregation is not None
    assert (plan.aggregation.measure, plan.aggregation.column, plan.horizon) == ("sum", "fee_eur", 4)


def test_an_answer_in_other_words_is_read_with_the_goal() -> None:
    plan = run_planner(GOAL, [WALKS], ["walks with poodles"])
    assert isinstance(plan, Plan)
    assert plan.aggregation is not None
    assert plan.aggregation.measure == "count"
    assert [(condition.column, condition.values) for condition in plan.filter] == [("breed", ["poodle"])]
    assert plan.horizon == 4


def test_the_user_may_end_here() -> None:
    plan = run_planner(GOAL, [WALKS], [STOP])
    assert isinstance(plan, Plan)
    assert plan.target == "?"


def test_nothing_is_forecast_by_default() -> None:
    messages = [make_brief_message({"goal": GOAL, "preferences": {"clarify": "never"}})]
    for name, arguments, value in (
        ("list_datasets", {}, {"datasets": [{"table": "dog_walks"}]}),
        ("get_dataset_schema", {"dataset": "dog_walks"}, WALKS),
    ):
        call = tool_call(name=name, args=arguments, id=name)
        messages += [
            AIMessage("", tool_calls=[call]),
            ToolMessage(to_data_block(value), tool_call_id=name),
        ]
    (plan,) = decide(messages).tool_calls
    assert plan["args"]["target"] == "?"
    assert "'treats'" in plan["args"]["notes"][0]
