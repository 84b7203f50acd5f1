"""The SQL of query plans: golden texts, the policy, and refusals with their place."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import ValidationError

from app.computations.sql_policy.sql_functions import FUNCTIONS as ADMITTED
from app.errors import InvalidInput
from app.plans.compiler import compile_plan
from app.plans.describe import describe_plan
from app.plans.functions import FUNCTIONS
from app.plans.plan import MAX_DEPTH, Plan
from app.plans.row_counts import make_counting_plans
from app.plans.select_draft import Draft

from .tables import TABLES, column, compare, compile_admitted, literal, load, make_plan

GOLDEN = json.loads((Path(__file__).parent / "data" / "golden.json").read_text())


DUCKDB_TYPES = {
    "integer": {"BIGINT", "INTEGER", "UBIGINT", "UINTEGER"},
    "number": {"DOUBLE"},
    "text": {"VARCHAR"},
    "boolean": {"BOOLEAN"},
    "datetime": {"TIMESTAMP", "DATE"},
}


@pytest.mark.parametrize("name", GOLDEN)
def test_sql_is_the_golden_text_and_runs(name: str) -> None:
    connection = duckdb.connect()
    for table in TABLES:
        load(connection, table, [])
    plan = Plan.model_validate(GOLDEN[name]["plan"])
    compiled = compile_admitted(plan, connection)
    assert compiled.sql == GOLDEN[name]["sql"]
    assert compile_plan(plan, TABLES).sql == compiled.sql
    cursor = connection.execute(compiled.sql)
    described = {field[0]: str(field[1]) for field in cursor.description or []}
    assert list(described) == list(compiled.columns)
    for column_name, type_ in compiled.columns.items():
        # A column of nulls alone has no type of its own.
        assert described[column_name] in DUCKDB_TYPES.get(type_ or "", {described[column_name]}), column_name


def test_every_function_is_admitted() -> None:
    assert {function.sql for function in FUNCTIONS.values()} <= ADMITTED


@pytest.mark.parametrize(
    ("steps", "place", "words"),
    [
        ([{"kind": "filter", "condition": compare("seelct", "=", "a")}], "steps[0].condition.left", "select"),
        ([{"kind": "group", "keys": ["select"]}, {"kind": "sort", "keys": [{"column": "id"}]}],
         "steps[1].keys[0].column", "There is no column id"),
        ([{"kind": "filter", "condition": compare("id", "=", "a")}], "steps[0].condition", "different types"),
        ([{"kind": "filter", "condition": {"kind": "call", "function": "lowr", "arguments": []}}],
         "steps[0].condition.function", "lower"),
        ([{"kind": "group", "aggregations": [{"name": "s", "function": "sum", "column": "select"}]}],
         "steps[0].aggregations[0].column", "needs numbers"),
        ([{"kind": "select", "columns": [{"name": "id"}, {"name": "at", "rename": "ID"}]}],
         "steps[0].columns[1]", "two columns"),
    ],
)  # fmt: skip
def test_a_refusal_names_its_place(steps: list[dict[str, Any]], place: str, words: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        compile_plan(make_plan(*steps), TABLES)
    assert refusal.value.facts["place"] == place
    assert words in refusal.value.detail


def test_a_deep_plan_is_refused() -> None:
    condition: dict[str, Any] = {"kind": "is_null", "operand": column("id")}
    for _ in range(5 * MAX_DEPTH):
        condition = {"kind": "not", "operand": condition}
    with pytest.raises(ValidationError, match="levels deep"):
        make_plan({"kind": "filter", "condition": condition})


def test_a_column_used_twice_again_and_again_does_not_double_the_text() -> None:
    double = {"kind": "arithmetic", "op": "+", "left": column("id"), "right": column("id")}
    step = {"kind": "derive", "columns": [{"name": "id", "expression": double}]}
    assert len(compile_plan(make_plan(*[step] * 20), TABLES).sql) < 20_000


def test_steps_that_nest_too_deep_are_refused() -> None:
    source: dict[str, Any] = {"kind": "dataset", "table": "orders"}
    for _ in range(10):
        source = {"kind": "plan", "plan": {"source": source, "steps": [{"kind": "limit", "rows": 9}] * 50}}
    with pytest.raises(InvalidInput) as refusal:
        compile_plan(Plan.model_validate({"source": source}), TABLES)
    assert refusal.value.code == "plan_too_large"


def test_a_time_outside_the_calendar_is_refused() -> None:
    time = literal("0001-01-01T00:00:00+05:00") | {"type": "datetime"}
    with pytest.raises(ValidationError, match="outside the years"):
        make_plan({"kind": "derive", "columns": [{"name": "d", "expression": time}]})


def test_counting_plans_stop_before_the_group() -> None:
    keep = {"kind": "filter", "condition": compare("id", ">", 1)}
    counting = make_counting_plans(make_plan(keep, {"kind": "group", "keys": ["select"]}, keep | {}))
    assert compile_plan(counting.rows_used, TABLES).sql == (
        'SELECT count(*) AS "rows" FROM "orders" AS t0 WHERE t0."id" > CAST(1 AS BIGINT)'
    )
    assert compile_plan(counting.rows_there, TABLES).sql == 'SELECT count(*) AS "rows" FROM "orders" AS t0'


def test_counting_plans_count_the_innermost_rows_of_nested_plans() -> None:
    keep = {"kind": "filter", "condition": compare("id", ">", 1)}
    inner = make_plan(keep, {"kind": "limit", "rows": 3}).model_dump()
    counting = make_counting_plans(Plan.model_validate({"source": {"kind": "plan", "plan": inner}}))
    used, there = (compile_plan(plan, TABLES).sql for plan in counting)
    assert used == 'SELECT count(*) AS "rows" FROM "orders" AS t0 WHERE t0."id" > CAST(1 AS BIGINT)'
    assert there == 'SELECT count(*) AS "rows" FROM "orders" AS t0'


def test_quantiles_and_correlations_agree_with_the_rows() -> None:
    connection = duckdb.connect()
    rows = [(1, "a", 1.0, 2.0, None), (2, "b", 2.0, 4.0, None), (3, "b", 4.0, 8.0, None)]
    load(connection, "orders", rows)
    aggregations = [
        {"name": "q", "function": "quantile", "column": "id", "share": 0.25},
        {"name": "c", "function": "correlation", "column": 'a"b', "other": "Größe"},
        {"name": "v", "function": "variance", "column": "id"},
    ]
    plan = make_plan({"kind": "group", "aggregations": aggregations})
    [figures] = connection.execute(compile_admitted(plan, connection).sql).fetchall()
    assert figures == pytest.approx((1.5, 1.0, 1.0))


@pytest.mark.parametrize("figure", [{"function": "quantile"}, {"function": "mean", "share": 0.5}])
def test_a_share_belongs_to_a_quantile_and_to_nothing_else(figure: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="share"):
        make_plan({"kind": "group", "aggregations": [{"name": "q", "column": "id", **figure}]})


def test_a_plan_is_described_in_a_sentence() -> None:
    plan = make_plan(
        {"kind": "filter", "condition": compare("id", ">", 1)},
        {
            "kind": "group",
            "keys": ["select"],
            "aggregations": [{"name": "m", "function": "mean", "column": "id"}],
        },
    )
    assert describe_plan(plan) == "the mean of `id` for each `select`, where `id` is above 1, from `orders`"


def test_a_constant_key_is_no_position() -> None:
    connection = duckdb.connect()
    load(connection, "orders", [(1, "a", 1.0, 1.0, None), (2, "b", 1.0, 1.0, None)])
    one = {"kind": "derive", "columns": [{"name": "one", "expression": literal(2)}]}
    group = {"kind": "group", "keys": ["one"], "aggregations": [{"name": "n", "function": "count"}]}
    assert connection.execute(compile_admitted(make_plan(one, group), connection).sql).fetchall() == [(2, 2)]


def test_a_plan_that_is_too_long_for_a_wide_table_is_refused_before_its_subqueries_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    select, selects = Draft.select, []

    def count(draft: Draft) -> object:
        selects.append(len(draft.columns))
        return select(draft)

    monkeypatch.setattr(Draft, "select", count)
    wide = {"wide": {f"c{n}": "number" for n in range(3_000)}}
    steps = [{"kind": "limit", "rows": 5}, {"kind": "distinct"}] * 25
    with pytest.raises(InvalidInput, match="characters"):
        compile_plan(
            Plan.model_validate({"source": {"kind": "dataset", "table": "wide"}, "steps": steps}), wide
        )
    assert selects == []


def test_tables_that_are_joined_may_have_a_bounded_number_of_columns() -> None:
    source = {"kind": "dataset", "table": "wide"}
    joins = [
        {"kind": "join", "source": source, "on": [{"left": "c0", "right": "c0"}], "suffix": f"_{n}"}
        for n in range(20)
    ]
    wide = {"wide": {f"c{n}": "number" for n in range(3_000)}}
    with pytest.raises(InvalidInput, match="more than 30,000 columns together"):
        compile_plan(Plan.model_validate({"source": source, "steps": joins}), wide)


def test_rows_behind_nested_plans_of_many_steps_are_counted() -> None:
    steps = [{"kind": "filter", "condition": {"kind": "literal", "value": True}}] * 40
    inner = {"source": {"kind": "dataset", "table": "orders"}, "steps": steps}
    plan = Plan.model_validate({"source": {"kind": "plan", "plan": inner}, "steps": steps})
    assert compile_plan(make_counting_plans(plan).rows_used, TABLES).sql.count("TRUE") == 80
