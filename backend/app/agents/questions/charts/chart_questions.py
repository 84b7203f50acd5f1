"""Questions whose answer is to be drawn: the language of charts, for studies as for conversations."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.agents.goals.tables import TableProfile
from app.agents.questions.charts.chart_phrases import parse_chart_phrase
from app.agents.questions.charts.chart_plans import LastResult, PlannedChart, plan_chart
from app.agents.questions.parsed_question import ParsedQuestion
from app.charts.chart_request import ChartKind, ChartRequest
from app.plans.describe import describe_plan
from app.plans.plan import Plan, SelectedColumn, SelectStep

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
    columns = [name for name in (planned.x, *planned.y, planned.color) if name and _is_stored(name, tables)]
    return ParsedQuestion(
        plan=_keep_columns(planned.plan, columns) if planned.kind in _OF_ROWS and columns else planned.plan,
        description=_describe(planned, columns),
        tables=tuple(dict.fromkeys(_read_tables(planned.plan.model_dump()))),
        columns=tuple(dict.fromkeys(columns)),
        interpretations=tuple(planned.readings),
        confidence=CHART_CONFIDENCE,
        chart=_make_request(planned),
    )


def _keep_columns(plan: Plan, columns: Sequence[str]) -> Plan:
    """Return the plan of the rows of a chart with the columns that it shows."""
    keep = SelectStep(kind="select", columns=[SelectedColumn(name=name) for name in dict.fromkeys(columns)])
    return Plan(source=plan.source, steps=[*plan.steps, keep])


def _describe(planned: PlannedChart, columns: Sequence[str]) -> str:
    form, rows = _FORMS[planned.kind], describe_plan(planned.plan)
    if planned.kind not in _OF_ROWS or not columns:
        return f"{rows}, drawn as {form}"
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


def _read_tables(document: Any) -> Iterator[str]:
    """Yield the names of the tables that the document of a plan reads, that of its source first."""
    if isinstance(document, Mapping):
        if document.get("kind") == "dataset" and "table" in document:
            yield str(document["table"])
        for part in document.values():
            yield from _read_tables(part)
    elif isinstance(document, Sequence) and not isinstance(document, str):
        for part in document:
            yield from _read_tables(part)
