"""Titles of charts say the conditions of their rows."""

from app.charts.chart_titles import MAX_CONDITION_CHARS, make_title
from app.charts.encoding import Encoding
from app.plans import build
from app.plans.plan import DatasetSource, Plan, PlanSource

BARS = Encoding("bar", "region", ["rows"])
NORTH = build.keep(build.compare("=", build.column("region"), build.literal("North")))
MANY = build.keep(build.compare(">", build.column("rows"), build.literal(5)))
GROUP = build.group(["region"], [build.aggregation("rows", "count")])


def make_plan(*steps: object) -> Plan:
    return Plan(source=DatasetSource(kind="dataset", table="orders"), steps=[*steps])  # type: ignore[list-item]


def test_conditions_of_rows_groups_and_nested_plans_are_in_the_title() -> None:
    plan = make_plan(NORTH, GROUP, MANY)
    assert make_title(BARS, plan) == "Rows by region, where region is 'North' and rows is above 5"
    nested = Plan(source=PlanSource(kind="plan", plan=plan), steps=[])
    assert make_title(BARS, nested) == make_title(BARS, plan)
    assert make_title(BARS, make_plan(GROUP)) == "Rows by region"


def test_presence_and_ranks_are_no_conditions_that_somebody_asked_for() -> None:
    present = build.keep(build.negate(build.is_missing(build.column("region"))))
    rank = build.window("rank", "rank", order=[("rows", True)])
    first = build.keep(build.compare("<=", build.column("rank"), build.literal(3)))
    assert make_title(BARS, make_plan(present, GROUP, rank, first)) == "Rows by region"


def test_long_conditions_are_cut() -> None:
    values = build.keep(build.is_one_of(build.column("region"), [f"region {n}" for n in range(60)]))
    assert len(make_title(BARS, make_plan(values, GROUP))) < MAX_CONDITION_CHARS + 40
