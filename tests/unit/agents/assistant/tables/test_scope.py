"""The tables that a message is about."""

from app.agents.assistant.brief import EarlierTurn
from app.agents.assistant.tables.scope import drop_superseded, list_joinable_groups, list_narrower_scopes
from app.agents.goals.tables.profiles import Column, TableProfile

from ...shop_tables import ORDERS, PRODUCTS

COPY = TableProfile("recent", 10, ORDERS.columns)
SALES = TableProfile(
    "sales", 10, (Column("date", "datetime", "datetime"), Column("sales", "number", "numeric"))
)
EARLIER = [EarlierTurn("SQL: create table recent as ...", mode="sql", sql="SELECT 1", changed=["recent"])]


def names(tables: object) -> list[str]:
    return [table.name for table in tables]  # type: ignore[attr-defined]


def test_a_newer_copy_takes_the_place_of_a_table_that_is_not_named() -> None:
    tables = [ORDERS, PRODUCTS, COPY]
    assert names(drop_superseded("total revenue", tables, EARLIER)) == ["products", "recent"]
    assert names(drop_superseded("total revenue of orders", tables, EARLIER)) == names(tables)
    assert names(drop_superseded("total revenue", tables, [])) == names(tables)


def test_the_newest_tables_of_the_conversation_are_tried_alone() -> None:
    assert [names(scope) for scope in list_narrower_scopes([ORDERS, COPY], EARLIER)] == [["recent"]]
    assert list(list_narrower_scopes([COPY], EARLIER)) == []


def test_tables_without_a_common_identifier_are_apart() -> None:
    assert [sorted(names(group)) for group in list_joinable_groups([ORDERS, SALES, PRODUCTS])] == [
        ["sales"],
        ["orders", "products"],
    ]
    assert list_joinable_groups([ORDERS, PRODUCTS]) == []
