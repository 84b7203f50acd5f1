"""What a goal says of costs, quantiles, columns, in other languages; and what is asked when it does not say."""

from typing import Any

import pytest
from langgraph.errors import GraphInterrupt

from app.agents.goals.parser import parse_goal
from app.agents.goals.phrases.costs import parse_costs
from app.agents.goals.tables.column_roles import is_entity
from app.agents.goals.tables.profiles import make_table_profile
from app.sessions.in_memory import MemoryJournal


@pytest.mark.parametrize(
    ("goal", "false_alarm", "missed"),
    [
        ("Predict fraud; missing a fraud costs 10 times a false alarm", 1, 10),
        ("Predict fraud. A false negative is 5 times worse than a false positive.", 1, 5),
        ("A false alarm costs twice as much as a miss; predict churn", 2, 1),
        ("Missed defaults cost $5,000 each, false alarms 200", 200, 5000),
        ("False positives cost 3 EUR, missing one costs 60", 3, 60),
        ("Missing a churner is three times as bad as a false alarm", 1, 3),
    ],
)
def test_costs_of_mistakes_are_read(goal: str, false_alarm: float, missed: float) -> None:
    costs, _ = parse_costs(goal)
    assert costs is not None
    assert (costs.false_alarm, costs.missed) == (false_alarm, missed)
    assert parse_goal(goal).metric is None


@pytest.mark.parametrize(
    "goal", ["Minimise false negatives", "Predict the cost of 10 false alarms", "Predict price"]
)
def test_goals_without_costs_have_none(goal: str) -> None:
    assert parse_costs(goal) == (None, goal)


@pytest.mark.parametrize(
    ("goal", "metric"),
    [
        ("Predict the 90th percentile of delivery_time", "pinball_90"),
        ("Predict the p95 of delivery_time", "pinball_95"),
        ("Predict the 0.1 quantile of delivery_time", "pinball_10"),
        ("Predict the median delivery_time", "pinball_50"),
        ("Predict the 80th percentile of delivery_time", "pinball_75"),
        ("Predict delivery_time, judged by RMSLE", "rmsle"),
        ("Predict delivery_time with a small symmetric mean absolute percentage error", "smape"),
    ],
)
async def test_quantiles_and_further_metrics_are_understood(goal, metric, bench, make_table, make_column):
    bench.shelf.datasets = [make_table("parcels", [make_column("weight"), make_column("delivery_time")])]
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert (plan.target, plan.metric, plan.kind) == ("delivery_time", metric, "regression")
    assert ("80 %" in " ".join(plan.notes)) == ("80th" in goal)


async def test_costs_reach_the_plan_unless_a_preference_says_others(bench, tables):
    bench.shelf.datasets = [tables["customers"]]
    goal = "Predict churn; missing a churner costs 10 times a false alarm"
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert plan.problem_request()["costs"] == {"false_alarm": 1, "missed": 10}
    bench.journal = MemoryJournal()
    wished = {"costs": {"false_alarm": 2, "missed": 3}}
    plan = (await bench.run("planner", {"goal": goal, "preferences": wished})).output
    assert plan.problem_request()["costs"] == wished["costs"]


def visits(make_table: Any, make_column: Any) -> Any:
    return make_table(
        "visits",
        [
            make_column("zper", "category", 300, type="integer"),
            make_column("day", "datetime", 300),
            make_column("income"),
            make_column("mdvis"),
        ],
    )


async def test_a_column_that_is_described_is_not_the_target(bench, make_table, make_column):
    bench.shelf.datasets = [visits(make_table, make_column)]
    goal = "Predict mdvis, the number of visits to a doctor, for people new to us. `zper` is the person."
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert (plan.target, plan.group_column) == ("mdvis", "zper")
    bench.journal = MemoryJournal()
    goal = "Forecast `mdvis` 2 days ahead. `day` orders the rows, `zper` is a person whom we know."
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert (plan.target, plan.time_column, plan.group_column) == ("mdvis", "day", None)


@pytest.mark.parametrize(
    ("goal", "target"),
    [
        ("Sage den Preis voraus", "preis"),
        ("Bestimme die Größe", "groesse_cm"),
        ("Prédire le prix", "preis"),
        ("Predict the prices", "preis"),
        ("Predict Wohnfläche", "wohnflache"),
    ],
)
async def test_names_match_across_accents_plurals_and_languages(goal, target, bench, make_table, make_column):
    columns = [make_column(name) for name in ("wohnflache", "zimmer", "preis")]
    if "cm" in target:
        columns.append(make_column("größe_cm"))
        target = "größe_cm"
    bench.shelf.datasets = [make_table("t", columns)]
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert plan.target == target


async def test_two_columns_that_match_alike_are_asked_about(bench, make_table, make_column):
    bench.shelf.datasets = [
        make_table("t", [make_column("price_net"), make_column("price_gross"), make_column("x")])
    ]
    with pytest.raises(GraphInterrupt):
        await bench.run("planner", {"goal": "Predict the price", "preferences": {}})
    assert set(bench.journal.questions[0].options[:2]) == {"price_net", "price_gross"}


def purchases(make_table: Any, make_column: Any) -> Any:
    columns = [make_column("customer_id", "category", 300, type="integer"), make_column("age")]
    return make_table("purchases", [*columns, make_column("amount")])


async def test_an_entity_that_repeats_is_left_to_the_measurement_of_the_split(bench, make_table, make_column):
    bench.shelf.datasets = [purchases(make_table, make_column)]
    plan = (await bench.run("planner", {"goal": "Predict the amount", "preferences": {}})).output
    assert bench.journal.questions == []
    assert (plan.meets, plan.group_column, plan.notes) == (None, None, [])


@pytest.mark.parametrize("said", ["for new customers", "for customers we know", "without ids"])
async def test_a_goal_that_says_it_is_not_asked(said, bench, make_table, make_column):
    bench.shelf.datasets = [purchases(make_table, make_column)]
    await bench.run("planner", {"goal": f"Predict the amount {said}", "preferences": {}})
    assert bench.questions == []


async def test_two_date_columns_are_a_question_only_for_a_forecast(bench, make_table, make_column):
    dates = [make_column(name, "datetime", 900) for name in ("ordered", "shipped", "birth_date")]
    bench.shelf.datasets = [make_table("t", [*dates, make_column("demand")])]
    await bench.run("planner", {"goal": "Predict demand", "preferences": {}})
    assert bench.questions == []
    bench.journal = MemoryJournal(answers={"tool:2.0": "shipped"})
    plan = (await bench.run("planner", {"goal": "Predict demand 3 days ahead", "preferences": {}})).output
    assert plan.time_column == "shipped"
    assert "birth_date" not in bench.questions[0]


async def test_dates_that_can_be_read_in_two_ways_are_asked_about(bench, make_table, make_column):
    reading = {"as": "datetime", "confidence": 0.5}
    columns = [make_column("day", "datetime", 40, type="text", reading=reading), make_column("demand")]
    bench.shelf.datasets = [make_table("t", columns)]
    bench.journal = MemoryJournal(answers={"tool:2.0": "day first"})
    plan = (await bench.run("planner", {"goal": "Predict demand", "preferences": {}})).output
    assert plan.problem_request()["column_types"] == {"day": "day_first"}
    bench.journal = MemoryJournal()
    wished = {"column_types": {"Day": "month_first"}}
    plan = (await bench.run("planner", {"goal": "Predict demand", "preferences": wished})).output
    assert plan.column_types == {"day": "month_first"}


async def test_a_price_in_text_can_be_the_target(bench, make_table, make_column):
    reading = {"as": "number", "confidence": 1.0, "min": 1.0, "q50": 20.0, "max": 900.0}
    columns = [make_column("rooms"), make_column("price", "numeric", 900, type="text", reading=reading)]
    bench.shelf.datasets = [make_table("t", columns)]
    goal = {"goal": "Predict whether the price is above 100", "preferences": {}}
    plan = (await bench.run("planner", goal)).output
    assert plan.cut is not None


@pytest.mark.parametrize(
    ("name", "expected"), [("Country", False), ("product", False), ("store_id", True), ("Patient", True)]
)
def test_a_trait_that_repeats_is_no_entity(name, expected, make_column):
    columns = make_table_profile(
        {"table": "t", "rows": 3000, "columns": [make_column(name, "category", 300)]}
    ).columns
    assert is_entity(columns[0], 3000) == expected


def readings(make_table: Any, make_column: Any) -> Any:
    flow = make_column("flow", low=0, high=90)
    return make_table("readings", [make_column("pump", "category", 3, type="text"), make_column("temp"), flow])


async def test_a_bound_that_nothing_takes_up_is_asked_about(bench, make_table, make_column):
    bench.shelf.datasets = [readings(make_table, make_column)]
    goal = {"goal": "Predict the flow when it goes past 40 litres", "preferences": {}}
    with pytest.raises(GraphInterrupt):
        await bench.run("planner", goal)
    asked = bench.journal.questions[0]
    assert asked.text.startswith("What does the number of the goal compare? The goal says above 40 litres")
    for answer, cut, note in (("flow > 40", (True, 40), False), (asked.options[-1], None, True)):
        bench.journal = MemoryJournal(answers={"tool:2.0": answer})
        plan = (await bench.run("planner", goal)).output
        assert (plan.cut and (plan.cut.above, plan.cut.value)) == cut
        assert any("bound 40 is not used" in text for text in plan.notes) == note


async def test_without_questions_a_bound_that_is_not_used_is_noted(bench, make_table, make_column):
    bench.shelf.datasets = [readings(make_table, make_column)]
    goal = {"goal": "Predict the flow when it goes past 40 litres", "preferences": {"clarify": "never"}}
    plan = (await bench.run("planner", goal)).output
    assert plan.cut is None
    assert "The bound 40 is not used: `flow` is predicted as an amount." in plan.notes


@pytest.mark.parametrize(
    ("goal", "explains"),
    [
        ("what moves the day-ahead price", True),
        ("is a warm pump bad for the flow?", True),
        ("Predict the flow", False),
        ("how much flow will we have", False),
    ],
)
async def test_what_a_target_goes_with_is_explained(goal, explains, bench, make_table, make_column):
    columns = [make_column("temp"), make_column("flow"), make_column("day_ahead_price")]
    bench.shelf.datasets = [make_table("readings", columns)]
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert plan.wants_drivers == explains
