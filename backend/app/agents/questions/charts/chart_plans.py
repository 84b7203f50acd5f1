"""The rows and the axes of a chart that a message asks for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.questions.charts.chart_phrases import ChartPhrase
from app.agents.questions.examples import example_questions
from app.agents.questions.matching.column_mentions import find_column
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question
from app.agents.questions.tables.table_schemas import make_table_schemas
from app.charts.chart_request import ChartKind
from app.plans.compiler import compile_plan
from app.plans.expressions import ColumnType
from app.plans.plan import (
    MAX_CORRELATED_COLUMNS,
    DatasetSource,
    DistinctStep,
    GroupStep,
    LimitStep,
    Plan,
    SelectedColumn,
    SelectStep,
    Step,
    TopKStep,
)

_AGAINST = re.compile(r" (?:against|versus|vs\.?) ", re.IGNORECASE)
_AND = re.compile(r" (?:and|with|by|to|over) ", re.IGNORECASE)
_OVER_TIME = re.compile(r",? ?\b(?:over time|through time|by date|per date|along time)\b", re.IGNORECASE)
_DISTRIBUTION = re.compile(
    r"^\W{0,5}(?:(?:the|its|their|values?|spread) )*(?:distributions?|spread|values)?(?: of)?\b ?(?:the\b ?)?",
    re.IGNORECASE,
)
_CORRELATION = re.compile(r"\bcorrelat\w{0,10}", re.IGNORECASE)
_GROUPED = re.compile(r"\b(?:by|per|for each)\b", re.IGNORECASE)
MAX_DAYS_BY_DAY = 400
"""Days of a time series that is shown day by day; longer ones by month."""
_PIE_READING = "Shares are drawn as bars, whose lengths are compared more surely than the slices of a pie."


@dataclass(frozen=True)
class PlannedChart:
    """The arguments of `make_chart`."""

    kind: ChartKind
    plan: Plan
    x: str | None = None
    y: Sequence[str] = ()
    color: str | None = None
    moving_average: int | None = None
    readings: Sequence[str] = field(default=())

    def arguments(self) -> dict[str, Any]:
        optional = {"x": self.x, "color": self.color, "moving_average": self.moving_average}
        return {
            "kind": self.kind,
            "plan": self.plan.model_dump(mode="json", exclude_none=True),
            "y": [*self.y],
            # A chart of the last result is planned in two steps, which may say the same.
            "readings": [*dict.fromkeys(self.readings)],
            **{name: value for name, value in optional.items() if value is not None},
        }


@dataclass(frozen=True)
class LastResult:
    """The plan of the newest turn that has one."""

    plan: Plan | None = None


def plan_chart(
    phrase: ChartPhrase, tables: Sequence[TableProfile], last: LastResult
) -> PlannedChart | UnparsedQuestion:
    """Plan a chart. Returns the reason where its words are not understood."""
    if phrase.shows_last_result and not _CORRELATION.search(phrase.subject):
        return _draw_last(phrase, tables, last)
    planned = _plan_subject(phrase, tables, last)
    if isinstance(planned, PlannedChart) and phrase.is_pie:
        return PlannedChart(**{**vars(planned), "readings": (*planned.readings, _PIE_READING)})
    return planned


def _plan_subject(
    phrase: ChartPhrase, tables: Sequence[TableProfile], last: LastResult
) -> PlannedChart | UnparsedQuestion:
    subject = phrase.subject
    if _CORRELATION.search(subject) and phrase.kind in (None, "heatmap"):
        return _plan_correlations(subject, tables)
    if _AGAINST.search(subject) or phrase.kind == "scatter":
        if pair := _plan_pair(phrase, tables):
            return pair
        return _not_understood(subject, tables)
    if phrase.kind in ("histogram", "box"):
        return _plan_distribution(phrase, tables, last)
    return _plan_question(phrase, tables)


def _draw_last(
    phrase: ChartPhrase, tables: Sequence[TableProfile], last: LastResult
) -> PlannedChart | UnparsedQuestion:
    if last.plan is None:
        return UnparsedQuestion("There is no result yet that could be drawn. Say what the chart should show.")
    return make_chart(phrase, last.plan, tables)


def make_chart(
    phrase: ChartPhrase, plan: Plan, tables: Sequence[TableProfile], readings: Sequence[str] = ()
) -> PlannedChart:
    """Choose kind and axes of a chart of a plan's rows, where its words leave them open."""
    schema = compile_plan(plan, make_table_schemas(tables)).columns
    kind = phrase.kind or _choose_kind(plan, schema)
    color = find_column(phrase.color, [*schema]) if phrase.color else None
    is_line = kind in ("line", "area")
    notes = [*readings]
    if phrase.is_pie:
        notes.append(_PIE_READING)
    measures = [name for name, type_ in schema.items() if type_ in ("integer", "number")]
    y = measures if kind in ("bar", "line", "area") and _is_several_measures(plan, measures) else ()
    return PlannedChart(
        kind,
        plan,
        y=y[:4],
        color=color,
        moving_average=phrase.moving_average if is_line else None,
        readings=notes,
    )


def _is_several_measures(plan: Plan, measures: Sequence[str]) -> bool:
    """Test for a plan that groups rows and has several figures of each group, none of which is a key."""
    group = next((step for step in reversed(plan.steps) if isinstance(step, GroupStep)), None)
    return group is not None and len(measures) > 1 and not set(measures) & set(group.keys)


def _choose_kind(plan: Plan, schema: dict[str, ColumnType]) -> ChartKind:
    """Lines along time, bars for figures of groups, points for pairs of numbers, else a distribution."""
    types = list(schema.values())
    numbers = [type_ for type_ in types if type_ in ("integer", "number")]
    if {"first", "second", "correlation"} <= set(schema):
        return "heatmap"
    if "datetime" in types and numbers:
        return "line"
    if len(types) == 1:
        return "histogram"
    is_grouped = any(isinstance(step, GroupStep) for step in plan.steps)
    return "scatter" if len(numbers) == len(types) and not is_grouped else "bar"


def _plan_question(phrase: ChartPhrase, tables: Sequence[TableProfile]) -> PlannedChart | UnparsedQuestion:
    """A chart of the figures that a question asks for; along time where it names no groups."""
    subject, failure = phrase.subject, None
    # `sales over time` is no question: forms of it with an aggregate and a period are tried.
    for text in _spellings(phrase, tables):
        parsed = _parse_colored(text, phrase.color, tables) or parse_question(text, tables)
        if isinstance(parsed, ParsedQuestion) and _has_axis(parsed.plan, tables):
            return make_chart(phrase, parsed.plan, tables, parsed.interpretations)
        failure = failure or (parsed if isinstance(parsed, UnparsedQuestion) else None)
    column = find_column(subject, [c.name for t in tables for c in t.columns])
    if column is not None and phrase.kind is None:
        return _plan_distribution(ChartPhrase("histogram", subject), tables, LastResult())
    return failure or _not_understood(subject, tables)


def _parse_colored(text: str, color: str, tables: Sequence[TableProfile]) -> ParsedQuestion | None:
    """Read a question with the column of the colors as one more group; None where it has it or is none."""
    if not color or not _GROUPED.search(text):
        return None
    parsed = parse_question(f"{text} and {color}", tables)
    if not isinstance(parsed, ParsedQuestion):
        return None
    columns = compile_plan(parsed.plan, make_table_schemas(tables)).columns
    return parsed if find_column(color, [*columns]) else None


def _spellings(phrase: ChartPhrase, tables: Sequence[TableProfile]) -> Iterator[str]:
    """The subject as questions, the likeliest first."""
    subject = phrase.subject
    over_time = _OVER_TIME.search(subject)
    plain = _OVER_TIME.sub("", subject)
    if over_time is None and (phrase.kind not in ("line", "area") or _GROUPED.search(subject)):
        yield subject
        return
    if over_time is None:
        yield subject
    unit = phrase.unit or _choose_unit(tables)
    yield from (f"{plain} by {unit}", f"total {plain} by {unit}", f"number of {plain} by {unit}")


def _choose_unit(tables: Sequence[TableProfile]) -> str:
    dates = [column for table in tables for column in table.dates]
    days = min((_count_days(column) for column in dates), default=0.0)
    return "day" if days <= MAX_DAYS_BY_DAY else "month"


def _count_days(column: Column) -> float:
    try:
        low, high = (datetime.fromisoformat(str(end)) for end in (column.low, column.high))
        return (high.replace(tzinfo=None) - low.replace(tzinfo=None)).total_seconds() / 86_400
    except ValueError:
        return 0.0


def _has_axis(plan: Plan, tables: Sequence[TableProfile]) -> bool:
    return len(compile_plan(plan, make_table_schemas(tables)).columns) >= 2


def _plan_pair(phrase: ChartPhrase, tables: Sequence[TableProfile]) -> PlannedChart | None:
    """`revenue against cost`: the first on the vertical axis, the second on the horizontal one."""
    against = _AGAINST.search(phrase.subject)
    parts = (_AGAINST if against else _AND).split(phrase.subject, maxsplit=1)
    if len(parts) != 2:
        return None
    for table in sorted(tables, key=lambda table: -table.rows):
        names = [column.name for column in table.columns]
        first, second = (find_column(part, names) for part in parts)
        if first is None or second is None or first == second:
            continue
        # `revenue against cost` has the first on the vertical axis, `cost and revenue` the second.
        y, x = (first, second) if against else (second, first)
        columns = {column.name: column for column in table.columns}
        if not columns[y].is_number:
            x, y = y, x
        if not columns[y].is_number:
            return None
        color = find_column(phrase.color, names) if phrase.color else None
        plan = _read(table)
        if not columns[x].is_number and columns[x].type != "datetime" and phrase.kind in (None, "box"):
            return PlannedChart("box", plan, x=x, y=(y,))
        kind = phrase.kind or ("line" if columns[x].type == "datetime" else "scatter")
        return PlannedChart(kind, plan, x=x, y=(y,), color=color)
    return None


def _plan_distribution(
    phrase: ChartPhrase, tables: Sequence[TableProfile], last: LastResult
) -> PlannedChart | UnparsedQuestion:
    """A histogram or boxes of a column, of the rows that its words keep."""
    subject = _DISTRIBUTION.sub("", phrase.subject).strip()
    if not subject:
        return _draw_last(phrase, tables, last)
    # A median of the same words finds the column, the conditions and the groups of a distribution.
    parsed = parse_question(f"median of {subject}", tables)
    rows = _rows_before_group(parsed.plan) if isinstance(parsed, ParsedQuestion) else None
    if rows is not None:
        plan, group = rows
        aggregation = group.aggregations[0]
        keys = list(group.keys)
        key = keys[0] if keys else None
        if phrase.kind == "histogram":
            return PlannedChart("histogram", plan, x=aggregation.column, color=key)
        return PlannedChart("box", plan, x=key, y=[aggregation.column or ""])
    for table in tables:
        if column := find_column(subject, [column.name for column in table.columns]):
            return PlannedChart(phrase.kind or "histogram", _read(table), x=column)
    return parsed if isinstance(parsed, UnparsedQuestion) else _not_understood(subject, tables)


def _rows_before_group(plan: Plan) -> tuple[Plan, GroupStep] | None:
    """The rows behind the only figure of a plan, and the step that computes it."""
    for place, step in enumerate(plan.steps):
        if isinstance(step, GroupStep):
            is_single = len(step.aggregations) == 1 and step.aggregations[0].column is not None
            where = step.aggregations[0].where if step.aggregations else None
            return (
                (Plan(source=plan.source, steps=plan.steps[:place]), step) if is_single and not where else None
            )
        # Rows that a ranking or a limit chose are not those of the whole distribution.
        if isinstance(step, (TopKStep, LimitStep, DistinctStep)):
            return None
    return None


def _plan_correlations(subject: str, tables: Sequence[TableProfile]) -> PlannedChart | UnparsedQuestion:
    """The correlations of the numbers of a table; identifiers are left out, since their size says nothing."""
    spelled = subject.casefold()
    mentioned = [table for table in tables if table.name.casefold() in spelled]
    by_numbers = sorted(mentioned or tables, key=lambda table: -len(_numbers(table)))
    table = by_numbers[0]
    columns = _numbers(table)
    if len(columns) < 2:
        return UnparsedQuestion("Correlations need a table with two columns of numbers.")
    readings = []
    if len(tables) > 1 and not mentioned:
        readings.append(f"Read as the columns of `{table.name}`.")
    identifiers = [column.name for column in table.columns if column.is_number and _is_identifier(column)]
    if identifiers:
        readings.append(f"Identifiers are left out: {', '.join(f'`{name}`' for name in identifiers)}.")
    if len(columns) > MAX_CORRELATED_COLUMNS:
        readings.append(f"The first {MAX_CORRELATED_COLUMNS} of {len(columns)} columns of numbers are shown.")
    correlated = columns[:MAX_CORRELATED_COLUMNS]
    keep = SelectStep(kind="select", columns=[SelectedColumn(name=name) for name in correlated])
    return PlannedChart("heatmap", _read(table, keep), readings=readings)


def _numbers(table: TableProfile) -> list[str]:
    columns = [column for column in table.columns if column.is_number and column.hint != "constant"]
    return [column.name for column in columns if not _is_identifier(column)]


def _is_identifier(column: Column) -> bool:
    """Test for an identifier, also of the rows of another table, such as `product_id`."""
    return column.hint == "id" or (column.type == "integer" and words(column.name)[-1:] == ["id"])


def _read(table: TableProfile, *steps: Step) -> Plan:
    return Plan(source=DatasetSource(kind="dataset", table=table.name), steps=list(steps))


def _not_understood(subject: str, tables: Sequence[TableProfile]) -> UnparsedQuestion:
    options = example_questions(tables[0]) if tables else ()
    return UnparsedQuestion(f"It does not say which columns the chart should show: {subject!r}.", options)
