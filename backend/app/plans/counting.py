"""The two plans that count the rows behind an answer."""

from typing import NamedTuple

from app.plans.plan import Aggregation, DeriveStep, FilterStep, GroupStep, JoinStep, Plan, SelectStep


class CountingPlans(NamedTuple):
    """`rows_used`: rows after joins and filters. `rows_there`: rows of the source."""

    rows_used: Plan
    rows_there: Plan


def make_counting_plans(plan: Plan) -> CountingPlans:
    """Plans whose one row holds a count; rows are counted before the first step that merges or drops them
    otherwise than by a condition."""
    end = 0
    while end < len(plan.steps) and isinstance(
        plan.steps[end], JoinStep | FilterStep | DeriveStep | SelectStep
    ):
        end += 1
    total = GroupStep(kind="group", aggregations=[Aggregation(name="rows", function="count")])
    return CountingPlans(
        Plan(source=plan.source, steps=[*plan.steps[:end], total]), Plan(source=plan.source, steps=[total])
    )
