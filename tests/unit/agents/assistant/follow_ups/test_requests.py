"""Messages that change the last result: by what they name, whatever the sentence around it."""

from collections.abc import Sequence
from typing import Any

import pytest

from app.agents.assistant.brief import EarlierTurn, LastChart
from app.agents.assistant.follow_ups.requests import FollowUp, read_follow_up
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.agents.questions.tables.table_schemas import make_table_schemas
from app.plans.compiler import compile_plan
from app.plans.plan import Plan

from ...shop_tables import TABLES


def ask(question: str, chart: LastChart | None = None) -> list[EarlierTurn]:
    """The turn of a question that was answered."""
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    return [turn_of(parsed.plan, question, chart)]


def turn_of(plan: Plan, message: str = "", chart: LastChart | None = None) -> EarlierTurn:
    columns = [*compile_plan(plan, make_table_schemas(TABLES)).columns]
    return EarlierTurn(message, sql="SELECT 1", plan=plan.model_dump(mode="json"), columns=columns, chart=chart)


def follow(question: str, *messages: str) -> FollowUp:
    """The last of several follow-ups, each of the answer before it."""
    earlier: Sequence[EarlierTurn] = ask(question)
    changed = None
    for message in messages:
        changed = read_follow_up(message, earlier, TABLES)
        assert changed is not None, message
        earlier = [*earlier, turn_of(changed.plan, message)]
    assert changed is not None
    return changed


def sql(changed: FollowUp) -> str:
    return compile_plan(changed.plan, make_table_schemas(TABLES)).sql


def steps(changed: FollowUp, kind: str) -> list[dict[str, Any]]:
    return [step for step in changed.plan.model_dump(mode="json")["steps"] if step["kind"] == kind]


def test_a_condition_is_added_and_one_that_excludes_it_is_replaced() -> None:
    changed = follow("total revenue by region", "only 2024")
    assert "2024-01-01" in sql(changed)
    assert [step["keys"] for step in steps(changed, "group")] == [["region"]]
    changed = follow("total revenue by region", "only 2024", "what about 2023?", "just the north")
    assert "2024-01-01" in sql(changed)
    assert "2023-01-01" in sql(changed)
    assert "2025-01-01" not in sql(changed)
    assert "'north'" in sql(changed)
    changed = follow("total revenue in 2023 by region", "without the north")
    assert "NOT (t0.\"region\" = 'north')" in sql(changed)
    assert "WHERE" not in sql(follow("total revenue in 2023", "without the filter"))


def test_groups_are_replaced_or_added_with_the_join_that_they_need() -> None:
    changed = follow("total revenue by region", "by category instead")
    assert steps(changed, "group")[0]["keys"] == ["category"]
    assert steps(changed, "join")[0]["source"]["table"] == "products"
    changed = follow("total revenue by region", "and also by month", "only the first 3")
    assert steps(changed, "group")[0]["keys"] == ["region", "month"]
    assert steps(changed, "limit")[0]["rows"] == 3


def test_figures_are_replaced_or_added() -> None:
    assert "avg(" in sql(follow("total revenue by region", "the average instead"))
    assert 'sum(t0."cost")' in sql(follow("total revenue by region", "what about cost?"))
    both = follow("total revenue by region", "with the total cost")
    assert [figure["name"] for figure in steps(both, "group")[0]["aggregations"]] == [
        "total revenue",
        "total cost",
    ]
    ranked = follow("top 5 categories by revenue", "median instead")
    assert steps(ranked, "sort")[0]["keys"][0] == {"column": "median revenue", "descending": True}


def test_shares_bounds_and_extremes_of_groups_are_read() -> None:
    assert (
        steps(follow("total revenue by region", "in percent"), "window")[0]["columns"][0]["function"] == "share"
    )
    assert "HAVING" in sql(follow("total revenue by region", "just the ones above 900"))
    assert sql(follow("total revenue by region", "which one is highest?")).endswith("LIMIT 1")
    assert sql(follow("top 10 products by revenue", "show me 3")).endswith("LIMIT 3")
    split = follow("total revenue by region", "split by category")
    assert steps(split, "group")[0]["keys"] == ["region", "category"]
    counted = follow("number of orders in 2023", "how many of them were in the north?")
    assert "'north'" in sql(counted)
    assert "2023-01-01" in sql(counted)
    assert "avg(" in sql(follow("total revenue by region", "average instead of total"))
    assert "'north'" in sql(follow("total revenue in 2023", "same thing but only for the north"))


def test_order_and_size_are_changed() -> None:
    query = sql(follow("total revenue by region", "sort by revenue, highest first"))
    assert query.endswith('ORDER BY sum(t0."revenue") DESC, t0."region" ASC')
    query = sql(follow("top 10 products by revenue", "the lowest 3"))
    assert query.endswith("ASC LIMIT 3")
    assert "LIMIT" not in sql(follow("top 10 products by revenue", "all of them"))
    turned = sql(follow("top 10 products by revenue", "in reverse order"))
    assert "ASC, " in turned.split("ORDER BY")[1]


def test_a_column_of_another_table_is_joined() -> None:
    group = {
        "kind": "group",
        "keys": ["product_id"],
        "aggregations": [{"name": "t", "function": "sum", "column": "revenue"}],
    }
    plan = Plan.model_validate({"source": {"kind": "dataset", "table": "orders"}, "steps": [group]})
    changed = read_follow_up("those again, but with the product name", [turn_of(plan)], TABLES)
    assert changed is not None
    assert steps(changed, "join")[0]["on"] == [{"left": "product_id", "right": "product_id"}]
    assert steps(changed, "group")[0]["keys"] == ["product_id", "product_name"]
    shown = follow("top 10 products by revenue", "those again, but with the product name")
    assert shown.readings == ["`product_name` is shown already."]


def test_several_changes_of_one_message_are_all_made() -> None:
    query = sql(follow("total revenue by region", "by month, but only 2024 and sort by month descending"))
    assert "2024-01-01" in query
    assert query.rstrip().endswith("DESC")


def test_a_chart_stays_a_chart_until_it_is_asked_for_as_a_table() -> None:
    earlier = ask("total revenue by region", LastChart("bar"))
    changed = read_follow_up("only 2024", earlier, TABLES)
    assert changed is not None
    assert changed.chart == LastChart("bar")
    drawn = read_follow_up("only 2024 as a line chart", earlier, TABLES)
    assert drawn is not None
    assert drawn.phrase is not None
    assert drawn.phrase.kind == "line"
    table = read_follow_up("show that as a table", earlier, TABLES)
    assert table is not None
    assert (table.chart, table.phrase) == (None, None)


@pytest.mark.parametrize(
    "message",
    ["only the weather", "and the meaning of life", "with sugar", "total cost by category", "sort by the moon"],
)
def test_words_that_fit_nothing_and_new_questions_change_nothing(message: str) -> None:
    assert read_follow_up(message, ask("total revenue by region"), TABLES) is None


def test_only_a_plan_is_changed() -> None:
    assert read_follow_up("only 2024", [], TABLES) is None
    direct = EarlierTurn("SQL: select 1", mode="sql", sql="select 1")
    assert read_follow_up("only 2024", [*ask("total revenue"), direct], TABLES) is None
