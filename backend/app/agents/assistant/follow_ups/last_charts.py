"""The newest result of a conversation, and its chart drawn again."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import TypeAdapter

from app.agents.assistant.brief import EarlierTurn, LastChart
from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.charts.chart_phrases import ChartPhrase
from app.agents.questions.charts.chart_plans import LastResult, PlannedChart, make_chart
from app.agents.questions.tables.table_schemas import make_table_schemas
from app.charts.chart_request import ChartKind
from app.plans.compiler import compile_plan
from app.plans.plan import Plan


def find_last_result(earlier: Sequence[EarlierTurn]) -> LastResult:
    """Find the newest result; that of a program or a SELECT has no plan, and cannot be drawn again."""
    for turn in reversed(earlier):
        if turn.has_result:
            return LastResult(Plan.model_validate(turn.plan) if turn.plan else None)
    return LastResult()


def draw_again(last: LastChart, plan: Plan, tables: Sequence[TableProfile]) -> PlannedChart:
    """Draw a changed plan as its last chart; columns that it has no longer are chosen anew."""
    schema = compile_plan(plan, make_table_schemas(tables)).columns
    kind = TypeAdapter[ChartKind](ChartKind).validate_python(last.kind)
    drawn_again = make_chart(ChartPhrase(kind, ""), plan, tables)
    has_axes = all(name in schema for name in (last.x, *last.y) if name)
    return replace(
        drawn_again,
        x=last.x if has_axes else None,
        y=last.y if has_axes and last.y else drawn_again.y,
        color=last.color if last.color in schema else None,
        moving_average=last.moving_average,
    )
