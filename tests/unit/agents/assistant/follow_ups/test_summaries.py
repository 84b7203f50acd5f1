"""Figures over the groups of an answer, the rows behind it, and groups within it."""

import pytest

from app.agents.assistant.follow_ups.changed_plan import UnclearChange
from app.agents.assistant.follow_ups.requests import read_follow_up

from ...shop_tables import TABLES
from .test_requests import ask, follow, sql, steps


@pytest.mark.parametrize(
    ("message", "function"),
    [
        ("what's the total of that?", "sum"),
        ("sum them up", "sum"),
        ("average of these", "mean"),
        ("and the median of those?", "median"),
    ],
)
def test_the_figures_of_all_groups_are_summarized(message: str, function: str) -> None:
    changed = follow("total revenue by region in 2024", message)
    assert changed.plan.source.kind == "plan"
    [group] = steps(changed, "group")
    assert [(f["function"], f["column"]) for f in group["aggregations"]] == [(function, "total revenue")]
    assert "2024-01-01" in sql(changed)


def test_means_have_no_total_and_rows_need_a_column() -> None:
    with pytest.raises(UnclearChange, match="is a mean"):
        read_follow_up("what is the total of that?", ask("average revenue by region"), TABLES)
    with pytest.raises(UnclearChange, match="Of which column"):
        read_follow_up("what is the total of that?", ask("orders in 2024"), TABLES)
    assert follow("total revenue", "what is the sum of that?").readings == [
        "The last answer is a single figure."
    ]


@pytest.mark.parametrize("question", ["total revenue by region in 2024", "orders in 2024"])
def test_rows_that_are_left_are_counted(question: str) -> None:
    changed = follow(question, "how many rows are left?")
    [group] = steps(changed, "group")
    assert (group["keys"], [figure["function"] for figure in group["aggregations"]]) == ([], ["count"])
    assert "2024-01-01" in sql(changed)


def test_drilling_down_to_another_column_groups_within_the_answer() -> None:
    assert steps(follow("total revenue by region", "drill down to category"), "group")[0]["keys"] == [
        "region",
        "category",
    ]
