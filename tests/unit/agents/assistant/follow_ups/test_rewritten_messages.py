"""Messages that ask the question before once more with another part."""

import pytest

from app.agents.assistant.brief import EarlierTurn, LastChart
from app.agents.assistant.follow_ups.rewritten_messages import describe_look, rewrite_message

PLAN = {"source": {"kind": "dataset", "table": "orders"}}


def answer(message: str, kind: str | None = None) -> list[EarlierTurn]:
    chart = LastChart(kind) if kind else None
    return [EarlierTurn(message, columns=("total",), sql="SELECT 1", plan=PLAN, chart=chart)]


@pytest.mark.parametrize(
    ("message", "question", "rewritten"),
    [
        ("versus 2023", "total revenue in 2024", "total revenue in 2023 vs 2024"),
        ("now compare it with 2025", "revenue by region for 2024", "revenue by region in 2024 vs 2025"),
        ("compare 2023 with 2024", "how many orders were there?", "how many orders were there in 2023 vs 2024"),
        ("versus 2024", "total revenue in 2024", None),
        ("compare with 2023", "total revenue", None),
        ("only 2023", "total revenue in 2024", None),
    ],
)
def test_years_are_compared_in_the_question_before(message: str, question: str, rewritten: str | None) -> None:
    assert rewrite_message(message, answer(question)) == rewritten


@pytest.mark.parametrize(
    "message",
    [
        "color it by region",
        "Colour the points by region.",
        "one line per region",
        "with a line for each region",
    ],
)
def test_a_chart_gets_a_color_for_each_group(message: str) -> None:
    earlier = answer("scatter plot of price vs size", "scatter")
    assert rewrite_message(message, earlier) == "scatter plot of price vs size colored by region"


def test_a_table_has_no_colors() -> None:
    assert rewrite_message("color it by region", answer("total price by size")) is None


@pytest.mark.parametrize(
    "message",
    ["now with 10 bins", "make the bars red", "use a log scale", "set the title to Sales", "horizontal please"],
)
def test_wishes_for_the_look_of_a_chart_are_answered_with_what_can_be_changed(message: str) -> None:
    text = describe_look(message, answer("histogram of price", "histogram"))
    assert text is not None
    assert "Vega-Lite" in text
    assert describe_look(message, answer("total price by size")) is None


@pytest.mark.parametrize(
    "message",
    ["as a line chart", "only 2024", "by region", "top 10", "what is the mean price of the red ones by size"],
)
def test_changes_of_what_a_chart_shows_are_no_wishes_for_its_look(message: str) -> None:
    assert describe_look(message, answer("histogram of price", "histogram")) is None
