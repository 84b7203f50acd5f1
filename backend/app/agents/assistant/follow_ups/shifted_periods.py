"""The period before that of the last answer: `same month last year`, `the month before`."""

import calendar
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta

from app.agents.assistant.follow_ups.changed_plan import ChangedPlan, UnclearChange
from app.plans import editing
from app.plans.describe import describe_expression
from app.plans.expressions import (
    BetweenExpression,
    CompareExpression,
    DatePartExpression,
    Expression,
    InExpression,
    LiteralExpression,
    LogicExpression,
)
from app.plans.plan import FilterStep, Plan

_SAME = re.compile(
    r"(?:the )?same (?:period|months?|quarters?|weeks?|days?|dates?|times?|season)?"
    r" ?(?:but )?(?:of |in |for |from )?(?:the )?(?:last|previous|prior|preceding) (?P<unit>year)(?: before)?"
    r"|(?:the |a |one )?(?P<before>year|quarter|month|week) (?:before|earlier)(?: (?:that|this|it))?"
    r"|the (?:previous|prior|preceding) (?P<previous>year|quarter|month|week)",
    re.IGNORECASE,
)
_MONTHS = {"year": 12, "quarter": 3, "month": 1}

Shift = Callable[[date], date]


def read_shifted_period(words: str, plan: Plan) -> ChangedPlan | None:
    """Read words that put the period of the last answer before it; None for others.

    Raises UnclearChange where the last answer is of no period.
    """
    match = _SAME.fullmatch(words)
    if match is None:
        return None
    unit = (match["unit"] or match["before"] or match["previous"]).casefold()
    parts = editing.split_plan(plan)
    shifted = {id(step): _shift(step.condition, unit) for step in parts.conditions}
    if not any(shifted.values()):
        raise UnclearChange(
            f"The last answer is of no period that has one a {unit} before. Name the period, as in `in 2024`."
        )
    preparation = tuple(_with_condition(step, shifted.get(id(step))) for step in parts.preparation)
    conditions = " and ".join(
        describe_expression(condition, parts.derivations) for condition in shifted.values() if condition
    )
    return ChangedPlan(replace(parts, preparation=preparation).to_plan(), [f"One {unit} before: {conditions}."])


def _with_condition(step: editing.Preparation, condition: Expression | None) -> editing.Preparation:
    return FilterStep(kind="filter", condition=condition) if condition is not None else step


def _shift(condition: Expression, unit: str) -> Expression | None:
    """Return a condition of times a unit earlier; None for one that is of no times."""
    match condition:
        case LogicExpression(kind="and"):
            operands = [_shift(operand, unit) for operand in condition.operands]
            if not any(operands):
                return None
            merged = [new or old for new, old in zip(operands, condition.operands, strict=True)]
            return condition.model_copy(update={"operands": merged})
        case BetweenExpression():
            low, high = _earlier(condition.low, unit), _earlier(condition.high, unit)
            return condition.model_copy(update={"low": low, "high": high}) if low and high else None
        case CompareExpression(left=DatePartExpression(part="year")) if unit == "year":
            year = condition.right
            if isinstance(year, LiteralExpression) and isinstance(year.value, int):
                return condition.model_copy(update={"right": year.model_copy(update={"value": year.value - 1})})
        case InExpression(operand=DatePartExpression(part="year")) if unit == "year":
            years = [value - 1 if isinstance(value, int) else value for value in condition.values]
            return condition.model_copy(update={"values": years})
        case CompareExpression():
            right = _earlier(condition.right, unit)
            return condition.model_copy(update={"right": right}) if right else None
    return None


def _earlier(expression: Expression, unit: str) -> Expression | None:
    """Return the literal of a moment a unit earlier; None for another expression."""
    if not isinstance(expression, LiteralExpression) or expression.type != "datetime":
        return None
    try:
        moment = datetime.fromisoformat(str(expression.value))
    except ValueError:
        return None
    earlier = datetime.combine(_shift_day(moment.date(), unit), moment.time())
    text = earlier.isoformat() if "T" in str(expression.value) else earlier.date().isoformat()
    return expression.model_copy(update={"value": text})


def _shift_day(day: date, unit: str) -> date:
    if unit == "week":
        return day - timedelta(days=7)
    months = day.year * 12 + day.month - 1 - _MONTHS[unit]
    year, month = months // 12, months % 12 + 1
    last = calendar.monthrange(year, month)[1]
    # The end of a month stays one: 31 July goes to 30 June.
    is_end = day.day == calendar.monthrange(day.year, day.month)[1]
    return date(year, month, last if is_end else min(day.day, last))
