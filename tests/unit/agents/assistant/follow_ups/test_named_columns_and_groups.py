"""Follow-ups that name a column by its place, bound groups, ask for shares, and give new names."""

import re
from dataclasses import asdict

import pytest
from langchain_core.messages import AIMessage

from app.agents.assistant.brief import ChatBrief, EarlierTurn
from app.agents.assistant.follow_ups.changed_plan import UnclearChange
from app.agents.assistant.follow_ups.requests import read_follow_up
from app.agents.assistant.offline_rules import decide

from ...conftest import conversation
from ...shop_tables import TABLES
from .test_requests import ask, follow, sql, steps

BY_REGION = "total revenue and number of orders by region"


def columns(changed_sql: str) -> list[str]:
    """Names of the columns of the answer, in their order."""
    return re.findall(r'AS "([^"]+)"', changed_sql.split("FROM")[0])


def test_a_column_is_named_by_its_place() -> None:
    shown = columns(sql(follow(BY_REGION, "sort by region")))
    for message, place in (
        ("sort by the second column", 1),
        ("order by column 3", 2),
        ("sort by the last column", 2),
    ):
        [step] = steps(follow(BY_REGION, message), "sort")
        assert step["keys"][0]["column"] == shown[place], message


def test_a_place_behind_the_last_column_is_refused_with_the_columns() -> None:
    with pytest.raises(UnclearChange, match="The last result has 3 columns: `region`"):
        read_follow_up("sort by the fourth column", ask(BY_REGION), TABLES)


@pytest.mark.parametrize(("message", "descends"), [("longest first", True), ("the cheapest ones first", False)])
def test_an_order_by_size_is_that_of_the_figure(message: str, descends: bool) -> None:
    [step] = steps(follow("total revenue by region", message), "sort")
    assert step["keys"][0] == {"column": "total revenue", "descending": descends}


@pytest.mark.parametrize(
    "message",
    [
        "only regions with more than 500 orders",
        "just those with at least 500 orders",
        "only the ones where the number of orders is above 500",
    ],
)
def test_a_bound_of_groups_keeps_all_figures(message: str) -> None:
    changed = follow(BY_REGION, message)
    [group] = steps(changed, "group")
    assert len(group["aggregations"]) == 2
    [bound] = [step["condition"] for step in steps(changed, "filter") if step["condition"]["kind"] == "compare"]
    assert bound["left"]["name"] == "number of orders"
    assert bound["right"]["value"] == 500


@pytest.mark.parametrize("message", ["just the big ones", "only the small groups", "the important ones"])
def test_a_size_without_a_bound_is_asked_about(message: str) -> None:
    with pytest.raises(UnclearChange, match="`the top 3`"):
        read_follow_up(f"only {message.removeprefix('only ').removeprefix('just ')}", ask(BY_REGION), TABLES)


def test_shares_are_those_of_the_sum_or_of_each_group() -> None:
    assert "with the share" not in str(follow("number of orders by region", "what share is that?").readings)
    assert steps(follow("number of orders by region", "what share is that?"), "window")
    within = follow("number of orders with revenue above 500 by region", "as percentages of each region")
    [group] = steps(within, "group")
    assert [figure["function"] for figure in group["aggregations"]] == ["count", "share_true"]
    assert group["keys"] == ["region"]
    of_all = follow("how many orders have revenue above 500", "what percentage is that?")
    assert [figure["function"] for figure in steps(of_all, "group")[0]["aggregations"]] == [
        "count",
        "share_true",
    ]


@pytest.mark.parametrize(
    ("message", "former"),
    [
        ("call that column money", "total revenue"),
        ("call it money", "total revenue"),
        ("rename total revenue to money", "total revenue"),
        ("call the first column money", "region"),
    ],
)
def test_a_column_of_the_answer_gets_another_name(message: str, former: str) -> None:
    shown = columns(sql(follow("total revenue by region", message)))
    assert "money" in shown
    assert former not in shown


def test_a_new_name_is_the_one_that_later_messages_use() -> None:
    changed = follow("total revenue by region", "call it money", "sort by money", "the top 1")
    assert columns(sql(changed)) == ["region", "money"]


def test_a_column_of_another_table_is_shown_for_each_group() -> None:
    changed = follow("total revenue by product", "with the category of each product")
    assert steps(changed, "join") or "category" in sql(changed)
    assert "`category`" in " ".join(changed.readings)


def answer(message: str, earlier: list[EarlierTurn]) -> AIMessage:
    tables = [
        {
            "table": table.name,
            "rows": table.rows,
            "columns": [
                {"name": c.name, "type": c.type, "hint": c.hint, "distinct": c.distinct, "values": [*c.values]}
                for c in table.columns
            ],
        }
        for table in TABLES
    ]
    decided: AIMessage = decide(conversation(asdict(ChatBrief(message, tables, earlier))))
    return decided


@pytest.mark.parametrize(
    "message", ["only those with a strange shape", "without the purple ones", "keep them warm"]
)
def test_a_change_that_fits_nothing_is_asked_about_and_no_question_of_its_own(message: str) -> None:
    decided = answer(message, ask(BY_REGION))
    assert not decided.tool_calls
    assert "which change of the last result is meant" in decided.text


def test_a_new_name_is_no_call_by_telephone() -> None:
    assert answer("call that column money", ask("total revenue by region")).tool_calls
    assert "does not send messages" in answer("call me tomorrow", ask("total revenue by region")).text
