"""Words of messages that ask for charts, and the charts that are planned for them."""

from dataclasses import replace

import pytest

from app.agents.questions.charts.chart_phrases import parse_chart_phrase
from app.agents.questions.charts.chart_plans import LastResult, PlannedChart, plan_chart
from app.agents.questions.charts.chart_questions import parse_chart_question
from app.agents.questions.tables.table_schemas import make_table_schemas
from app.plans.compiler import compile_plan

from .shop_tables import TABLES


def plan(message: str) -> PlannedChart:
    phrase = parse_chart_phrase(message)
    assert phrase is not None, message
    planned = plan_chart(phrase, TABLES, LastResult())
    assert isinstance(planned, PlannedChart), planned
    return planned


@pytest.mark.parametrize(
    ("message", "kind", "x", "y"),
    [
        ("correlation matrix of all numeric columns as a heatmap", "heatmap", None, []),
        ("time series of revenue with a 7-day moving average", "line", None, []),
        ("plot revenue against cost", "scatter", "cost", ["revenue"]),
        ("histogram of revenue", "histogram", "revenue", []),
        ("show the distribution of cost as a histogram", "histogram", "cost", []),
        ("box plot of revenue by category", "box", "category", ["revenue"]),
        ("bar chart of total revenue by region", "bar", None, []),
        ("plot revenue over time", "line", None, []),
        ("plot cost", "histogram", "cost", []),
        ("draw a chart of revenue by month", "line", None, []),
        ("total revenue by region as a pie chart", "bar", None, []),
    ],
)
def test_a_sentence_becomes_a_chart(message: str, kind: str, x: str | None, y: list[str]) -> None:
    planned = plan(message)
    assert (planned.kind, planned.x, list(planned.y)) == (kind, x, y)


def test_a_moving_average_keeps_the_width_and_the_unit_of_its_message() -> None:
    planned = plan("time series of revenue with a 7-day moving average")
    assert planned.moving_average == 7
    assert '"day"' in planned.plan.model_dump_json()


def test_the_column_of_the_colors_is_one_more_group_of_figures() -> None:
    planned = plan("total revenue by month as a line chart colored by region")
    columns = compile_plan(planned.plan, make_table_schemas(TABLES)).columns
    assert planned.color == "region"
    assert {"month", "region"} <= set(columns)


def test_conditions_keep_rows_of_a_distribution() -> None:
    planned = plan("histogram of revenue in 2024")
    assert [step.kind for step in planned.plan.steps] == ["filter"]


@pytest.mark.parametrize(
    "message", ["as a bar chart", "turn it into an area chart", "give me a graph", "as bars"]
)
def test_a_message_without_a_subject_draws_the_last_result(message: str) -> None:
    phrase = parse_chart_phrase(message)
    assert phrase is not None
    assert phrase.shows_last_result


@pytest.mark.parametrize(
    "message",
    [
        "total revenue by region",
        "how many plots are there",
        "what is a histogram?",
        "how many rows are on the chart table",
    ],
)
def test_other_messages_ask_for_no_chart(message: str) -> None:
    assert parse_chart_phrase(message) is None


@pytest.mark.parametrize(
    "message", ["plot a rebellion", "bar chart of happiness by planet", "plot foo against bar"]
)
def test_what_names_no_column_is_not_drawn(message: str) -> None:
    phrase = parse_chart_phrase(message)
    assert phrase is not None
    assert not isinstance(plan_chart(phrase, TABLES, LastResult()), PlannedChart)


@pytest.mark.parametrize(
    ("text", "kind", "description"),
    [
        (
            "Draw revenue by region as bars",
            "bar",
            "the total of `revenue` for each `region`, from `orders`, drawn as bars",
        ),
        ("show a histogram of revenue", "histogram", "a histogram of `revenue`, of the rows, from `orders`"),
        ("plot revenue against cost", "scatter", "points of `cost` and `revenue`, of the rows, from `orders`"),
    ],
)
def test_a_study_understands_the_charts_of_conversations(text: str, kind: str, description: str) -> None:
    parsed = parse_chart_question(text, TABLES)
    assert parsed is not None
    assert parsed.chart is not None
    assert (parsed.chart.kind, parsed.description, parsed.tables) == (kind, description, ("orders",))


@pytest.mark.parametrize("text", ["total revenue by region", "draw it as bars", "draw the moon as bars"])
def test_a_text_without_a_chart_of_the_tables_is_none(text: str) -> None:
    assert parse_chart_question(text, TABLES) is None


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("show a histogram of revenue", ["median revenue", "mean revenue", "lowest revenue"]),
        ("histogram of region", ["region", "rows"]),
        ("histogram of date", ["first date", "last date", "number of rows with date"]),
        ("box plot of revenue by region", ["region", "median revenue", "mean revenue"]),
        ("plot revenue against cost", ["correlation of cost and revenue", "number of rows with revenue"]),
        ("correlation heatmap", ["first", "second", "correlation", "rows"]),
        ("plot revenue against date", ["date", "revenue"]),
    ],
)
def test_the_answer_of_a_chart_of_rows_is_a_summary(text: str, columns: list[str]) -> None:
    parsed = parse_chart_question(text, TABLES)
    assert parsed is not None
    query = compile_plan(parsed.plan, make_table_schemas(TABLES))
    assert [*query.columns][: len(columns)] == columns


def test_a_chart_without_fitting_columns_is_no_answer() -> None:
    assert parse_chart_question("draw region as a scatter plot", TABLES) is None


def test_what_two_steps_of_a_plan_say_is_said_once() -> None:
    planned = plan("total revenue by region as a pie chart")
    twice = replace(planned, readings=[*planned.readings, *planned.readings])
    assert planned.readings
    assert twice.arguments()["readings"] == planned.arguments()["readings"]
