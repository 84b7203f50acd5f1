"""Answers about tables: distributions of columns, figures by groups."""

from typing import Any

from pydantic import BaseModel, Field


class ValueCount(BaseModel):
    value: Any = Field(examples=["female"])
    count: int = Field(examples=[466])


class ColumnSummary(BaseModel):
    """Values of a column in the selected rows."""

    name: str = Field(examples=["age"])
    type: str = Field(description="integer, number, boolean, text or datetime.", examples=["number"])
    missing: int = Field(description="Cells without a value, or without a finite one.")
    distinct: int = Field(description="Distinct values; an estimate beyond some hundreds.")
    low: Any = Field(description="Least number or first moment; null for other columns.", examples=[0.17])
    high: Any = Field(description="Largest number or last moment; null for other columns.", examples=[71.0])
    edges: list[Any] = Field(
        description="Edges of the bins of numbers and moments, one more than `counts`; else empty.",
        examples=[[0.0, 20.0, 40.0]],
    )
    counts: list[int] = Field(description="Cells in each bin.", examples=[[188, 401]])
    top: list[ValueCount] = Field(
        description="Commonest values of a column without a histogram; empty if it has over 2,000."
    )


class TableSummaryView(BaseModel):
    columns: list[ColumnSummary]
    total: int = Field(description="Rows of the table.")
    matching: int = Field(description="Rows that the filter and the search leave.")


class FigureColumn(BaseModel):
    """A column of figures by groups."""

    name: str
    type: str
    bin_width: float | None = Field(description="Width of the bins that its cells begin; null without bins.")


class TableAggregateView(BaseModel):
    """A row for each group: its groups, then its measures."""

    columns: list[FigureColumn]
    rows: list[list[Any]]
    truncated: bool = Field(description="There are more groups than `limit`.")
    total: int = Field(description="Rows of the table.")
    matching: int = Field(description="Rows that the filter and the search leave.")
