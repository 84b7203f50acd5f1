"""Sentences of plans that look for rows of another table."""

import pytest

from app.plans import build
from app.plans.describe import describe_plan
from app.plans.plan import DatasetSource, JoinKey, JoinStep, Plan, PlanSource, WorkspaceSource

ORDERS = DatasetSource(kind="dataset", table="orders")
KEYS = [JoinKey(left="id", right="customer_id")]
TENTS = Plan(
    source=ORDERS, steps=[build.keep(build.compare("=", build.column("product"), build.literal("tent")))]
)


@pytest.mark.parametrize(
    ("join", "sentence"),
    [
        (
            JoinStep(kind="join", source=ORDERS, on=KEYS, how="anti"),
            "the rows, without any row of `orders`, from `customers`",
        ),
        (
            JoinStep(kind="join", source=PlanSource(kind="plan", plan=TENTS), on=KEYS, how="semi"),
            "the rows, with a row of `orders` where `product` is 'tent', from `customers`",
        ),
    ],
)
def test_a_join_that_looks_for_rows_is_named(join: JoinStep, sentence: str) -> None:
    plan = Plan(source=DatasetSource(kind="dataset", table="customers"), steps=[join])
    assert describe_plan(plan) == sentence


def test_a_join_that_adds_columns_names_its_table_wherever_it_lies() -> None:
    customers = DatasetSource(kind="dataset", table="customers")
    for source in (ORDERS, WorkspaceSource(kind="workspace", table="orders")):
        plan = Plan(source=customers, steps=[JoinStep(kind="join", source=source, on=KEYS, how="left")])
        assert describe_plan(plan) == "the rows, from `customers` and `orders`"
