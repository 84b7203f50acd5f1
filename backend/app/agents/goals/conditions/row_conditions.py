"""Conditions on the rows that a goal is about ("only for the coast"), and their SQL."""
# ruff: noqa: S608 - the text is made of quoted names, quoted texts and numbers only

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from app.plans.identifiers import quote_identifier

MAX_CONDITION_VALUES = 100
"""Values of one condition: more than anybody lists in a sentence."""

_DESCRIPTIONS = {
    "in": "is",
    "not_in": "is not",
    "above": "is above",
    "at_least": "is at least",
    "below": "is below",
    "at_most": "is at most",
}
_SIGNS = {"above": ">", "at_least": ">=", "below": "<", "at_most": "<="}


Operator = Literal["in", "not_in", "above", "at_least", "below", "at_most"]
BOUNDS = frozenset[Operator]({"above", "at_least", "below", "at_most"})
"""Operators that compare with a number: of ages of people, of what is "longer than 5 days"."""


class RowCondition(BaseModel):
    """A condition on one column: one of some values, or a comparison with one value.

    A text that compares (`above`, `below`) is a date in ISO 8601.
    """

    model_config = ConfigDict(extra="forbid")

    column: str = Field(min_length=1)
    operator: Operator = "in"
    values: list[bool | int | float | str] = Field(min_length=1, max_length=MAX_CONDITION_VALUES)

    @property
    def description(self) -> str:
        values = " or ".join(str(value) for value in self.values)
        return f"`{self.column}` {_DESCRIPTIONS[self.operator]} {values}"


def describe_conditions(conditions: Sequence[RowCondition]) -> str:
    """Describe conditions as the end of a sentence; empty without any."""
    return " and ".join(condition.description for condition in conditions)


def select_rows(source: str, conditions: Sequence[RowCondition]) -> str:
    """Return a SELECT of the rows of the source that meet all conditions."""
    tests = " AND ".join(map(_condition_sql, conditions))
    return f"SELECT * FROM ({source}) AS all_rows WHERE {tests}"


def _condition_sql(condition: RowCondition) -> str:
    column = quote_identifier(condition.column)
    if condition.operator in ("in", "not_in"):
        values = ", ".join(map(_quote_value, condition.values))
        is_text = any(isinstance(value, str) for value in condition.values)
        test = f"{f'CAST({column} AS VARCHAR)' if is_text else column} IN ({values})"
        # SQL would drop rows without a value, too: they are not of the excluded one.
        return test if condition.operator == "in" else f"({column} IS NULL OR NOT {test})"
    value = condition.values[0]
    sign = _SIGNS[condition.operator]
    if isinstance(value, str):
        return f"CAST({column} AS TIMESTAMP) {sign} CAST({_quote_value(value)} AS TIMESTAMP)"
    return f"{column} {sign} {value!r}"


def _quote_value(value: bool | float | str) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
