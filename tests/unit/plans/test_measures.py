"""Measures of the columns that plans compute."""

from app.plans import build
from app.plans.measures import find_measures
from app.plans.plan import (
    Aggregation,
    DatasetSource,
    DerivedColumn,
    DeriveStep,
    GroupStep,
    Plan,
    PlanSource,
    WindowColumn,
    WindowStep,
)

ORDERS = DatasetSource(kind="dataset", table="orders")


def grouped(*aggregations: Aggregation, keys: tuple[str, ...] = ("region",)) -> Plan:
    return Plan(source=ORDERS, steps=[GroupStep(kind="group", keys=[*keys], aggregations=[*aggregations])])


LATE = Aggregation(name="late", function="share_true", column="is_late")
ROWS = Aggregation(name="rows", function="count")


def test_groups_have_keys_shares_counts_and_figures() -> None:
    mean = Aggregation(name="mean price", function="mean", column="price")
    assert find_measures(grouped(LATE, ROWS, mean)) == {
        "region": "key",
        "late": "share",
        "rows": "count",
        "mean price": "figure",
    }


def test_rows_as_they_are_stored_have_no_measures() -> None:
    assert find_measures(Plan(source=ORDERS)) == {}


def test_the_mean_of_shares_of_groups_is_a_share_and_their_number_a_count() -> None:
    outer = GroupStep(
        kind="group",
        aggregations=[
            Aggregation(name="mean", function="mean", column="late"),
            Aggregation(name="groups", function="count_distinct", column="region"),
        ],
    )
    plan = Plan(source=PlanSource(kind="plan", plan=grouped(LATE)), steps=[outer])
    assert find_measures(plan) == {"mean": "share", "groups": "count"}


def test_a_computation_with_a_share_of_a_total_is_a_figure_or_a_verdict() -> None:
    total = Aggregation(name="total", function="sum", column="price")
    window = WindowStep(kind="window", columns=[WindowColumn(name="part", function="share", column="total")])
    ratio = build.arithmetic("/", build.column("part"), build.column("total"))
    is_dear = build.compare(">", build.column("total"), build.column("part"))
    derive = DeriveStep(
        kind="derive",
        columns=[
            DerivedColumn(name="ratio", expression=ratio),
            DerivedColumn(name="copy", expression=build.column("part")),
            DerivedColumn(name="dear", expression=is_dear),
        ],
    )
    plan = grouped(total)
    measures = find_measures(plan.model_copy(update={"steps": [*plan.steps, window, derive]}))
    assert (measures["part"], measures["ratio"], measures["copy"]) == ("share", "figure", "share")
    assert measures["dear"] == "verdict"


def test_a_total_of_some_rows_by_that_of_all_is_a_share() -> None:
    in_york = build.compare("=", build.column("city"), build.literal("York"))
    york = build.aggregation("York", "sum", "revenue", in_york)
    every, orders = build.aggregation("all", "sum", "revenue"), build.aggregation("orders", "count")
    plan = Plan(
        source=ORDERS,
        steps=[
            build.group([], [york, every, orders]),
            build.derive("share", build.arithmetic("/", build.column("York"), build.column("all"))),
            build.derive("per order", build.arithmetic("/", build.column("all"), build.column("orders"))),
        ],
    )
    measures = find_measures(plan)
    assert (measures["share"], measures["per order"]) == ("share", "figure")
