"""Messages that ask for the columns themselves."""

import pytest

from app.agents.assistant.tables.overviews import plan_column_overview
from app.agents.questions.tables.table_schemas import make_table_schemas
from app.plans.compiler import compile_plan

from ...shop_tables import ORDERS, TABLES


@pytest.mark.parametrize(
    "message",
    [
        "show me the column types and missing value counts",
        "What are the columns?",
        "data types",
        "any missing values?",
    ],
)
def test_an_overview_has_a_row_for_each_column(message: str) -> None:
    overview = plan_column_overview(message, [ORDERS])
    assert overview is not None
    query = compile_plan(overview.plan, make_table_schemas([ORDERS]))
    assert {"column", "type", "missing"} <= set(query.columns)


def test_several_tables_are_described_together_unless_one_is_named() -> None:
    every = plan_column_overview("column types", TABLES)
    assert every is not None
    assert "table" in compile_plan(every.plan, make_table_schemas(TABLES)).columns
    single = plan_column_overview("columns of products", TABLES)
    assert single is not None
    assert single.plan.source.model_dump()["table"] == "products"


@pytest.mark.parametrize(
    "message",
    ["how many rows are there?", "missing revenue by region", "mean revenue", "number of types", "show me"],
)
def test_other_questions_are_no_overview(message: str) -> None:
    assert plan_column_overview(message, TABLES) is None
