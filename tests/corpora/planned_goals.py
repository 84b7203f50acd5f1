"""Goals of the corpus, planned by the offline planner from the outlines of their tables."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from tests.corpora.conversations import run_planner
from tests.corpora.goals import Aggregation, Column, Goal, GoalTable, Reading, Table

from app.agents.goals.words.vocabulary import SECONDS_BY_UNIT
from app.agents.planner.output import Plan
from app.computations.uploads.meaning_guess import hint
from app.plans.plan import ProfileStep

NO_TARGET = "?"
UNSERVED = frozenset({"not_served", "nonsense", "other_language"})

Verdict = Literal["right", "may_ask", "asked", "refused", "wrong"]
"""`right`: an acceptable reading, or a refusal of what cannot be carried out. `may_ask`: a question where
asking is acceptable. `asked` and `refused`: a question or a refusal where it is not."""


@dataclass(frozen=True)
class PlannedGoal:
    """Outcome of a goal: the planner's `plan`, or its question with the `options`."""

    table: GoalTable
    goal: Goal
    plan: Plan | None
    question: str = ""
    options: tuple[str, ...] = ()

    @cached_property
    def verdict(self) -> Verdict:
        if self.plan is None:
            return "may_ask" if self.goal.may_ask else "asked"
        if self.plan.target == NO_TARGET:
            return "right" if self.goal.aim in UNSERVED else "refused"
        return "right" if any(self.matches(reading) for reading in self.goal.readings) else "wrong"

    def matches(self, reading: Reading) -> bool:
        """Test if the plan is this reading: kind, target, positive value, aggregation, horizon and filter."""
        plan = self.plan
        if plan is None or reading.table not in plan.tables:
            return False
        if reading.kind == "question":
            return plan.question is not None
        if reading.kind == "exploration" and reading.target is None:
            return is_overview(plan)
        if plan.question is not None:
            # An effect on the target is explained by figures of it for each group of its cause, too.
            return reading.kind == "exploration" and plan.target == reading.target and compares_effects(plan)
        table = next(table for table in self.table.tables if table.name == reading.table)
        return all(
            (
                self._has_kind(reading, table),
                self._has_target(reading),
                self._has_horizon(reading),
                self._has_filter(reading),
            )
        )

    def _has_kind(self, reading: Reading, table: Table) -> bool:
        plan = self.plan
        assert plan is not None
        if reading.kind == "exploration":
            return self._has_target(reading)
        if reading.kind == "forecast" or plan.horizon:
            return reading.kind == "forecast" and bool(plan.horizon)
        column = next((column for column in table.columns if column.name == plan.target), None)
        kind = plan.kind or ("classification" if column and is_class(column) else "regression")
        return (kind == "regression") == (reading.kind == "regression")

    def _has_target(self, reading: Reading) -> bool:
        plan = self.plan
        assert plan is not None
        if reading.aggregation is not None:
            return has_aggregation(plan, reading.aggregation)
        if reading.target is None:
            return True
        if plan.derivation is not None:
            return has_derived_target(plan, reading.target)
        comparison = _COMPARISON.fullmatch(reading.target)
        if comparison is None:
            is_named = plan.target == reading.target.strip("`")
            return is_named and (
                reading.positive is None
                or plan.positive_class is None
                or str(plan.positive_class).casefold() == reading.positive.casefold()
            )
        column, sign, value = comparison["column"].strip("`"), comparison["sign"], comparison["value"]
        if plan.target != column:
            return False
        if plan.cut:
            return plan.cut.above == (sign in (">", ">=")) and float(value) == plan.cut.value
        return sign in ("=", "==") and str(plan.positive_class).casefold() == value.strip("'").casefold()

    def _has_horizon(self, reading: Reading) -> bool:
        plan = self.plan
        assert plan is not None
        if reading.horizon is None or plan.horizon == reading.horizon.steps:
            return True
        if plan.aggregation is None or reading.horizon.unit is None or plan.horizon is None:
            return False
        # Seven days are a week: horizons agree by their length.
        planned_s = plan.horizon * SECONDS_BY_UNIT[plan.aggregation.every]
        return math.isclose(
            planned_s, reading.horizon.steps * SECONDS_BY_UNIT[reading.horizon.unit], rel_tol=0.1
        )

    def _has_filter(self, reading: Reading) -> bool:
        return (reading.filter is not None) == bool(plan_filter(self.plan))


_COMPARISON = re.compile(r"(?P<column>`[^`]+`|\w+)\s*(?P<sign>>=|<=|==|=|>|<)\s*(?P<value>-?[\d.]+|'[^']*')")


def compares_effects(plan: Plan) -> bool:
    """Test if a plan answers a question for an effect by figures of groups."""
    return any(note.startswith("A difference between groups is no proof") for note in plan.notes)


SIGNS = {
    "elapsed": "-",
    "delay": "-",
    "later": ">",
    "sum": "+",
    "difference": "-",
    "product": "*",
    "ratio": "/",
}


def has_derived_target(plan: Plan, target: str) -> bool:
    """Test if a plan computes the expression of a reading, such as `closed - opened` or `qty * price`."""
    derivation = plan.derivation
    assert derivation is not None
    parts = [part.strip().strip("`") for part in re.split(r"\s([-+*/><]|is not)\s", target)]
    if derivation.kind == "present":
        return parts == [derivation.first, "is not", "null"] and plan.cut is None
    if plan.cut is not None:
        *parts, sign, value = parts
        if plan.cut.above != (sign == ">") or not math.isclose(plan.cut.value, float(value)):
            return False
    operands = (derivation.first, derivation.second)
    if len(parts) != 3 or parts[1] != SIGNS[derivation.kind]:
        return False
    is_symmetric = derivation.kind in ("sum", "product")
    return (parts[0], parts[2]) in ((operands, operands[::-1]) if is_symmetric else (operands,))


def has_aggregation(plan: Plan, expected: Aggregation) -> bool:
    """Test if a plan measures the rows of a period as a reading does."""
    aggregation = plan.aggregation
    if aggregation is None or aggregation.every != expected.every:
        return False
    measure, _, column = expected.measure.partition(":")
    if aggregation.measure != measure:
        return False
    if plan.derivation is None:
        return (aggregation.column or "") == column.strip("`")
    return has_derived_target(plan, column)


def is_overview(plan: Plan) -> bool:
    """Test if a plan describes the columns of its tables, without a model."""
    steps = plan.parsed_question.plan.steps if plan.parsed_question else []
    return any(isinstance(step, ProfileStep) for step in steps)


def plan_filter(plan: Plan | None) -> Any:
    return getattr(plan, "filter", None)


def is_class(column: Column) -> bool:
    return column.type in ("boolean", "text") or column.distinct == 2


def plan_goal(table: GoalTable, goal: Goal) -> PlannedGoal:
    """Run the offline planner on one goal until its plan or its first question."""
    planned = run_planner(goal.goal, [make_schema(entry) for entry in table.tables])
    if isinstance(planned, Plan):
        return PlannedGoal(table, goal, planned)
    return PlannedGoal(table, goal, None, planned.text, planned.options)


def make_schema(table: Table) -> dict[str, Any]:
    """Return the outline of a table as `get_dataset_schema` returns a profile."""
    return {
        "table": table.name,
        "rows": table.rows,
        "columns": [_make_column(column, table.rows) for column in table.columns],
    }


def _make_column(column: Column, rows: int) -> dict[str, Any]:
    type_ = {"date": "datetime", "datetime": "datetime", "time": "text"}.get(column.type, column.type)
    present = round(rows * (1 - column.missing_percent / 100))
    unique = column.distinct == present
    values = _read_values(column)
    facts = {"min": None, "max": None, "mean_length": sum(map(len, column.examples)) / len(column.examples)}
    if column.type in ("integer", "number", "date", "datetime"):
        facts |= {"min": min(values), "max": max(values)}
    return {
        "name": column.name,
        "type": type_,
        "hint": hint(column.name, type_, rows, present, column.distinct, unique, facts),
        "distinct": column.distinct,
        "missing": column.missing_percent / 100,
        "unique": unique,
        "top": [{"value": value} for value in values] if type_ not in ("number", "datetime") else None,
        # Of texts a profile also holds the first different values.
        "examples": list(column.examples) if type_ == "text" else None,
        "min": facts["min"],
        "max": facts["max"],
        "q50": sorted(values)[len(values) // 2] if column.type in ("integer", "number") else None,
    }


def _read_values(column: Column) -> list[Any]:
    if column.type in ("integer", "number"):
        # Examples are written as in the file, in any convention: only their size counts here.
        return [float(re.sub(r"[^\d.eE-]|\.(?=.*\.)", "", text) or 0) for text in column.examples]
    if column.type == "boolean":
        return [text.casefold() in ("true", "yes", "y", "1", "t") for text in column.examples]
    return list(column.examples)


def plan_goals(tables: Sequence[GoalTable]) -> list[PlannedGoal]:
    return [plan_goal(table, goal) for table in tables for goal in table.goals]
