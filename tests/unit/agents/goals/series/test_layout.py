"""Layouts of series in tables."""

from tests.corpora.conversations import run_planner

from app.agents.planner.output import Plan


def test_yes_no_columns_make_no_panel_by_chance() -> None:
    """Four sailings a day are no series for each pair of fog and cancellation."""

    def flag(name: str) -> dict[str, object]:
        values = [{"value": 0}, {"value": 1}]
        return {
            "name": name,
            "type": "integer",
            "hint": "boolean",
            "distinct": 2,
            "top": values,
            "min": 0,
            "max": 1,
        }

    day = {"name": "sailed_on", "type": "datetime", "hint": "datetime", "distinct": 300}
    riders = {"name": "riders", "type": "integer", "hint": "numeric", "distinct": 77, "min": 136, "max": 220}
    table = {
        "table": "sailings",
        "rows": 1_200,
        "columns": [{**day, "min": "2022-05-01", "max": "2023-02-24"}, riders, flag("fog"), flag("cancelled")],
    }
    plan = run_planner("how many riders in the next 7 days", [table])
    assert isinstance(plan, Plan)
    assert plan.aggregation is not None
    assert (plan.aggregation.measure, plan.aggregation.column, plan.aggregation.keys) == ("sum", "riders", [])
