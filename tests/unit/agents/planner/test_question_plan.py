"""Plans that answer a question from the tables: the parsed question travels in the plan."""

import json
from typing import Any

import pytest

from app.agents.data_analyst.offline_rules import decide_answer
from app.agents.planner import offline_rules
from app.agents.planner.output import Plan
from app.agents.planner.plan_editing import SETTINGS, edit_plan

QUESTION = "What is the mean fare where the age is above 30, by class?"
SCHEMA: dict[str, Any] = {
    "table": "titanic",
    "rows": 900,
    "columns": [
        {"name": "fare", "type": "number", "hint": "numeric", "distinct": 200, "min": 0.0, "max": 512.0},
        {"name": "age", "type": "integer", "hint": "numeric", "distinct": 80, "min": 0, "max": 80},
        {"name": "class", "type": "text", "hint": "category", "distinct": 3, "top": [{"value": "1st"}]},
    ],
}
TABLES = {"titanic": [column["name"] for column in SCHEMA["columns"]]}


def plan_of(next_call) -> Plan:
    name, arguments = next_call(
        offline_rules.decide,
        {"goal": QUESTION, "preferences": {}},
        ("list_datasets", {}, {"datasets": [{"table": "titanic", "rows": 900}]}),
        ("get_dataset_schema", {"dataset": "titanic"}, SCHEMA),
    )
    assert name == "Plan"
    return Plan.model_validate(arguments)


def answer_call(next_call, plan: Plan, schemas: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    brief = {
        "goal": QUESTION,
        "question": plan.question,
        "stage": "answer",
        "plan": plan.model_dump(mode="json"),
        "tables": schemas,
    }
    return next_call(decide_answer, brief)


def test_a_parsed_question_survives_the_stored_plan(next_call):
    plan = plan_of(next_call)
    assert plan.parsed_question is not None
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    condition = plan.model_dump(mode="json")["parsed_question"]["plan"]["steps"][0]["condition"]
    assert (condition["left"]["name"], condition["op"], condition["right"]["value"]) == ("age", ">", 30)


def test_the_analyst_queries_by_the_plan_without_parsing_the_question_again(next_call):
    plan = plan_of(next_call)
    name, arguments = answer_call(next_call, plan, schemas=[])
    assert name == "answer_by_plan"
    assert arguments == answer_call(next_call, plan.model_copy(update={"parsed_question": None}), [SCHEMA])[1]


def test_the_analyst_parses_a_question_whose_plan_has_only_its_text(next_call):
    stored = plan_of(next_call).model_dump(mode="json")
    del stored["parsed_question"]
    name, arguments = answer_call(next_call, Plan.model_validate(stored), [SCHEMA])
    assert (name, '"fare"' in json.dumps(arguments["plan"])) == ("answer_by_plan", True)


def test_a_question_stored_before_query_plans_is_read_from_its_text(next_call):
    stored = plan_of(next_call).model_dump(mode="json")
    stored["parsed_question"] = {"table": "titanic", "measures": [{"function": "count"}], "conditions": []}
    plan = Plan.model_validate(stored)
    assert plan.parsed_question is None
    assert answer_call(next_call, plan, [SCHEMA])[0] == "answer_by_plan"


def test_an_edited_question_drops_its_parse(next_call):
    plan = plan_of(next_call)
    assert edit_plan(plan, {"exclude": []}, TABLES).parsed_question == plan.parsed_question
    edited = edit_plan(plan, {"question": "How many rows are there?"}, TABLES)
    assert (edited.question, edited.parsed_question) == ("How many rows are there?", None)


def test_a_parsed_question_is_neither_requested_of_a_chat_model_nor_a_setting_of_the_user():
    assert "parsed_question" not in Plan.model_json_schema()["properties"]
    assert "parsed_question" not in SETTINGS


METALS: dict[str, Any] = {
    "table": "materials",
    "rows": 60,
    "columns": [
        {
            "name": "name",
            "type": "text",
            "hint": "id",
            "distinct": 60,
            "unique": True,
            "top": [{"value": value} for value in ("Tungsten", "Oak", "Copper")],
            "values": ["Tungsten", "Oak", "Copper"],
        },
        {"name": "density", "type": "number", "hint": "numeric", "distinct": 55, "min": 0.1, "max": 22.5},
        {"name": "melting point", "type": "integer", "hint": "numeric", "distinct": 50, "min": 3, "max": 3900},
    ],
}


def plan_materials(next_call, goal: str) -> tuple[str, dict[str, Any]]:
    return next_call(
        offline_rules.decide,
        {"goal": goal, "preferences": {}},
        ("list_datasets", {}, {"datasets": [{"table": "materials", "rows": 60}]}),
        ("get_dataset_schema", {"dataset": "materials"}, METALS),
    )


@pytest.mark.parametrize(
    "goal",
    [
        "What is the melting point of tungsten?",
        "melting point of copper",
        "Give me the density of oak",
        "Tell me the density of tungsten",
    ],
)
def test_a_stored_row_by_its_name_is_looked_up_and_never_predicted(next_call, goal: str) -> None:
    name, arguments = plan_materials(next_call, goal)
    assert name == "Plan"
    assert Plan.model_validate(arguments).parsed_question is not None


def test_a_look_up_that_is_not_understood_is_asked_about(next_call) -> None:
    name, arguments = plan_materials(next_call, "What is the price of copper?")
    assert (name, "How is the question meant?" in arguments["question"]) == ("ask_user", True)


FREIGHT: dict[str, Any] = {
    "table": "shipments",
    "rows": 140,
    "columns": [
        {"name": "shipped", "type": "datetime", "hint": "datetime", "distinct": 105}
        | {"min": "2023-09-01", "max": "2024-05-07"},
        {"name": "carrier", "type": "text", "hint": "category", "distinct": 2, "values": ["DHL", "UPS"]},
        {
            "name": "freight_cost",
            "type": "number",
            "hint": "numeric",
            "distinct": 140,
            "min": 80.1,
            "max": 1500,
        },
    ],
}


@pytest.mark.parametrize("goal", ["what do we spend on freight per month?", "what did we spend on UPS?"])
def test_what_we_spent_is_never_predicted(next_call, goal: str) -> None:
    name, arguments = next_call(
        offline_rules.decide,
        {"goal": goal, "preferences": {}},
        ("list_datasets", {}, {"datasets": [{"table": "shipments", "rows": 140}]}),
        ("get_dataset_schema", {"dataset": "shipments"}, FREIGHT),
    )
    is_answered = name == "Plan" and Plan.model_validate(arguments).parsed_question is not None
    assert is_answered or (name == "ask_user" and "How is the question meant?" in arguments["question"])


def test_a_named_row_is_predicted_where_a_prediction_is_asked_for(next_call) -> None:
    name, arguments = plan_materials(next_call, "Predict the density of tungsten")
    assert (name, Plan.model_validate(arguments).question) == ("Plan", None)


def test_a_chart_is_planned_computed_and_drawn(next_call) -> None:
    name, arguments = plan_materials(next_call, "Plot the density against the melting point")
    assert name == "Plan"
    parsed = Plan.model_validate(arguments).parsed_question
    assert parsed is not None
    assert parsed.chart is not None
    brief = {"goal": "g", "question": "q", "stage": "answer", "plan": arguments, "tables": [METALS]}
    value = {"columns": [], "rows": [], "row_count": 3}
    computed = ("answer_by_plan", {"plan": arguments["parsed_question"]["plan"]}, value)
    name, chart = next_call(decide_answer, brief, computed)
    assert (name, chart["kind"]) == ("draw_answer", "scatter")
    drawn = ("draw_answer", chart, {"kind": "scatter", "title": "t"})
    assert next_call(decide_answer, brief, computed, drawn)[0] == "Answer"


def test_a_forecast_that_is_to_be_drawn_stays_a_forecast(next_call) -> None:
    _, arguments = plan_materials(next_call, "Predict the density as a line chart")
    assert Plan.model_validate(arguments).parsed_question is None
