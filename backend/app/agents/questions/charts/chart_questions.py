"""Questions whose answer is to be drawn: the language of charts, for studies as for conversations."""

from collections.abc import Mapping, Sequence

from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.charts.chart_answers import plan_figures
from app.agents.questions.charts.chart_phrases import parse_chart_phrase
from app.agents.questions.charts.chart_plans import LastResult, PlannedChart, plan_chart
from app.agents.questions.composition.composer import plan_tables
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.tables.table_schemas import make_table_schemas
from app.charts.chart_request import ChartKind, ChartRequest
from app.errors import InvalidInput
from app.plans.compiler import compile_plan
from app.plans.describe import describe_plan
from app.plans.plan import Plan

CHART_CONFIDENCE = 0.9
"""Confidence in a chart whose words are all understood, as in a question without a doubtful word."""
_OF_ROWS = frozenset[ChartKind]({"box", "histogram", "scatter"})
"""Kinds that show rows as they are, and no figures of groups."""
_FORMS: Mapping[ChartKind, str] = {
    "area": "an area",
    "bar": "bars",
    "box": "boxes",
    "heatmap": "a heat map",
    "histogram": "a histogram",
    "line": "a line",
    "scatter": "points",
}


def parse_chart_question(text: str, tables: Sequence[TableProfile]) -> ParsedQuestion | None:
    """Parse a text that asks for a chart of the tables; None if it asks for none, or not for one of these."""
    phrase = parse_chart_phrase(text)
    if phrase is None or phrase.shows_last_result:
        return None
    planned = plan_chart(phrase, tables, LastResult())
    if not isinstance(planned, PlannedChart):
        return None
    request = _make_request(planned)
    try:
        schema = compile_plan(request.plan, make_table_schemas(tables)).columns
        figures = plan_figures(request, schema)
    except InvalidInput:
        return None
    columns = [name for name in (planned.x, *planned.y, planned.color) if name and _is_stored(name, tables)]
    return ParsedQuestion(
        plan=figures,
        description=_describe(planned, figures, columns),
        tables=tuple(plan_tables(planned.plan)),
        columns=tuple(dict.fromkeys(columns)),
        interpretations=tuple(planned.readings),
        confidence=CHART_CONFIDENCE,
        chart=request,
    )


def _describe(planned: PlannedChart, figures: Plan, columns: Sequence[str]) -> str:
    form, rows = _FORMS[planned.kind], describe_plan(planned.plan)
    if planned.kind not in _OF_ROWS or not columns:
        return f"{describe_plan(figures)}, drawn as {form}"
    return f"{form} of {' and '.join(f'`{name}`' for name in dict.fromkeys(columns))}, of {rows}"


def _make_request(planned: PlannedChart) -> ChartRequest:
    return ChartRequest(
        kind=planned.kind,
        plan=planned.plan,
        x=planned.x,
        y=[*planned.y],
        color=planned.color,
        moving_average=planned.moving_average,
    )


def _is_stored(name: str, tables: Sequence[TableProfile]) -> bool:
    return any(column.name == name for table in tables for column in table.columns)
