"""Expressions of a query plan: a value for each row."""

from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

MAX_LIST = 1_000
"""Values of an `in`: longer lists belong in a table that is joined."""
MAX_ARGUMENTS = 20
"""Operands of one expression: the text of the query stays far below the policy's 20,000 characters."""
MAX_BIGINT = 2**63 - 1
"""Largest integer of a column (64 bits)."""

Name = Annotated[str, Field(min_length=1, max_length=500)]
ColumnType = Literal["integer", "number", "boolean", "text", "datetime"]
DatePart = Literal[
    "year", "quarter", "month", "week", "day", "weekday", "day_of_year", "hour", "minute", "second"
]
DateUnit = Literal["year", "quarter", "month", "week", "day", "hour", "minute"]
Integer = Annotated[StrictInt, Field(ge=-MAX_BIGINT, le=MAX_BIGINT)]
Number = Annotated[StrictFloat, Field(allow_inf_nan=False)]
Text = Annotated[StrictStr, Field(max_length=2_000, pattern=r"^[^\x00]*$")]
Scalar = StrictBool | Integer | Number | Text


class Model(BaseModel):
    """Base of all parts of a plan: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ColumnExpression(Model):
    """A column by its name."""

    kind: Literal["column"]
    name: Name


class LiteralExpression(Model):
    """A value. With `type` "datetime", ISO 8601 text; an offset is converted to UTC."""

    kind: Literal["literal"]
    value: Scalar | None
    type: Literal["datetime"] | None = None

    @model_validator(mode="after")
    def _check_datetime(self) -> Self:
        if self.type is not None and self.value is not None:
            parse_datetime(self.value)
        return self


class ArithmeticExpression(Model):
    """`/` divides to a number; `/` and `%` by zero are null."""

    kind: Literal["arithmetic"]
    op: Literal["+", "-", "*", "/", "%"]
    left: "Expression"
    right: "Expression"


class CompareExpression(Model):
    """A comparison; null if either side is null."""

    kind: Literal["compare"]
    op: Literal["=", "!=", "<", "<=", ">", ">="]
    left: "Expression"
    right: "Expression"


class LogicExpression(Model):
    """`and` or `or` of conditions."""

    kind: Literal["and", "or"]
    operands: Annotated[list["Expression"], Field(min_length=1, max_length=MAX_ARGUMENTS)]


class NotExpression(Model):
    kind: Literal["not"]
    operand: "Expression"


class InExpression(Model):
    """Membership in a list of values."""

    kind: Literal["in"]
    operand: "Expression"
    values: Annotated[list[Scalar], Field(min_length=1, max_length=MAX_LIST)]


class BetweenExpression(Model):
    """`low <= operand <= high`, both ends included."""

    kind: Literal["between"]
    operand: "Expression"
    low: "Expression"
    high: "Expression"


class IsNullExpression(Model):
    kind: Literal["is_null"]
    operand: "Expression"


class LikeExpression(Model):
    """Match of a text with a pattern: `%` for any characters, `_` for one character."""

    kind: Literal["like"]
    operand: "Expression"
    pattern: Text
    ignore_case: bool = False


class ContainsExpression(Model):
    """Occurrence of a piece of text in a text."""

    kind: Literal["contains"]
    operand: "Expression"
    text: Text
    ignore_case: bool = False


class CaseBranch(Model):
    when: "Expression"
    then: "Expression"


class CaseExpression(Model):
    """The value of the first branch whose condition is true, else `otherwise`, else null."""

    kind: Literal["case"]
    branches: Annotated[list[CaseBranch], Field(min_length=1, max_length=MAX_ARGUMENTS)]
    otherwise: "Expression | None" = None


class DatePartExpression(Model):
    """A part of a time as an integer. `weekday`: 1 is Monday."""

    kind: Literal["date_part"]
    part: DatePart
    operand: "Expression"


class DateTruncExpression(Model):
    """The start of the unit that holds a time. Weeks begin on Monday."""

    kind: Literal["date_trunc"]
    unit: DateUnit
    operand: "Expression"


class CastExpression(Model):
    """Conversion to a type; null where the value has no such reading."""

    kind: Literal["cast"]
    to: ColumnType
    operand: "Expression"


class CallExpression(Model):
    """A call of a function of the closed list."""

    kind: Literal["call"]
    function: Name
    arguments: Annotated[list["Expression"], Field(max_length=MAX_ARGUMENTS)]


Expression = Annotated[
    ColumnExpression
    | LiteralExpression
    | ArithmeticExpression
    | CompareExpression
    | LogicExpression
    | NotExpression
    | InExpression
    | BetweenExpression
    | IsNullExpression
    | LikeExpression
    | ContainsExpression
    | CaseExpression
    | DatePartExpression
    | DateTruncExpression
    | CastExpression
    | CallExpression,
    Field(discriminator="kind"),
]


def parse_datetime(value: object) -> datetime:
    """Parse ISO 8601 text to a time without zone, in UTC. Raises ValueError for anything else."""
    if not isinstance(value, str):
        raise ValueError("a datetime is ISO 8601 text")
    parsed = datetime.fromisoformat(value)
    try:
        return parsed.astimezone(UTC).replace(tzinfo=None) if parsed.tzinfo else parsed
    except OverflowError as error:
        raise ValueError("the time in UTC is outside the years 1 to 9999") from error


for _model in Model.__subclasses__():
    _model.model_rebuild()
