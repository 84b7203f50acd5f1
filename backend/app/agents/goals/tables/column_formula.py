"""Targets that no column holds, but two columns of a row do: days between two dates, quantity times price.

Names are quoted here, and the SELECT is parsed and admitted again where it runs (`computations.queries.query`).
"""
# ruff: noqa: S608 - the text is made of quoted names and numbers only

from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.json_schema import SkipJsonSchema

from app.plans.identifiers import quote_identifier

DerivationKind = Literal["elapsed", "delay", "later", "sum", "difference", "product", "ratio", "present"]
ElapsedUnit = Literal["minutes", "hours", "days"]

SECONDS_BY_ELAPSED_UNIT: dict[ElapsedUnit, int] = {"minutes": 60, "hours": 3_600, "days": 86_400}
_SIGNS = {"sum": "+", "difference": "-", "product": "*", "ratio": "/"}


class Derivation(BaseModel):
    """The computation of a target from the columns of a row.

    `elapsed`: the time from `second` to `first`, in `unit`s; `delay`: the same against a planned date, and
    negative before it. `later`: yes where `first` is after `second`.
    `sum`, `difference`, `product` and `ratio` of two numbers. `present`: yes where `first` has a value.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: DerivationKind
    first: str
    second: str | None = None
    unit: ElapsedUnit = "days"
    is_revenue: SkipJsonSchema[bool] = False
    """True for the product of a quantity and a price."""

    @model_validator(mode="after")
    def _check_columns(self) -> "Derivation":
        if (self.second is None) != (self.kind == "present"):
            raise ValueError("`present` has one column, every other derivation two")
        return self

    @property
    def name(self) -> str:
        """Name of the computed column, in words."""
        if self.kind == "elapsed":
            return f"{self.unit} from {self.second} to {self.first}"
        if self.kind == "delay":
            return f"delay in {self.unit} ({self.first} after {self.second})"
        if self.kind == "later":
            return f"late ({self.first} after {self.second})"
        if self.kind == "product":
            return (
                f"revenue ({self.first} * {self.second})"
                if self.is_revenue
                else f"{self.first} * {self.second}"
            )
        if self.kind == "present":
            return f"has {self.first}"
        return f"{self.first} {_SIGNS[self.kind]} {self.second}"

    @property
    def is_yes_or_no(self) -> bool:
        return self.kind in ("later", "present")

    @property
    def outcome_columns(self) -> tuple[str, ...]:
        """The columns that are known only with the target, and so are no inputs of it.

        The earlier of two dates is known before: a permit's application, a loan's due date.
        """
        if self.second is None or self.kind in ("elapsed", "delay", "later"):
            return (self.first,)
        return self.first, self.second

    @property
    def sql(self) -> str:
        """The SQL expression, NULL where it cannot be computed."""
        first = quote_identifier(self.first)
        if self.second is None:
            return f"CASE WHEN {first} IS NULL THEN 'no' ELSE 'yes' END"
        second = quote_identifier(self.second)
        if self.kind in ("elapsed", "delay"):
            # Seconds are divided, since DuckDB's difference in days counts the midnights between.
            seconds = SECONDS_BY_ELAPSED_UNIT[self.unit]
            return f"date_diff('second', {second}::TIMESTAMP, {first}::TIMESTAMP) / {seconds:.1f}"
        if self.kind == "later":
            return f"CASE WHEN {first} > {second} THEN 'yes' WHEN {first} <= {second} THEN 'no' END"
        divisor = f"NULLIF({second}, 0)" if self.kind == "ratio" else second
        return f"{first}::DOUBLE {_SIGNS[self.kind]} {divisor}"


def select_with_column(source: str, derivation: Derivation) -> str:
    """Return a SELECT over the source with the computed column beside all others."""
    return (
        f"SELECT *, {derivation.sql} AS {quote_identifier(derivation.name)} FROM ({source}) AS rows_of_source"
    )


def select_with_derivation(source: str, derivation: Derivation) -> str:
    """Return a SELECT over the source with the computed column instead of those that are known only with it.

    Rows for which it cannot be computed are first out, as rows without a target are.
    """
    without = ", ".join(map(quote_identifier, derivation.outcome_columns))
    name = quote_identifier(derivation.name)
    return (
        f"SELECT * FROM (SELECT * EXCLUDE ({without}), {derivation.sql} AS {name} "
        f"FROM ({source}) AS rows_of_source) AS computed WHERE {name} IS NOT NULL"
    )
