"""Responses of the dataset endpoints."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.modeling.facts.readings import FileReading, ReadingChoice


class ColumnView(BaseModel):
    name: str = Field(examples=["age"])
    type: str = Field(description="integer, number, boolean, text or datetime.", examples=["number"])
    unit: str | None = Field(default=None, description="Unit of a dataset's numbers.", examples=["dollars"])


class DatasetView(BaseModel):
    """A table that was uploaded, converted once, and can be used in sessions."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    name: str = Field(examples=["titanic"])
    filename: str = Field(examples=["titanic.csv"])
    rows: int = Field(examples=[1313])
    columns: list[ColumnView]
    format: dict[str, Any] = Field(
        description="What was sniffed in the upload, and `notes` on what was repaired.",
        examples=[{"kind": "csv", "delimiter": ",", "encoding": "utf-8", "notes": []}],
    )
    reading: FileReading | None = Field(
        default=None, description="How cells are read, with examples and what else they could be."
    )
    source_size_bytes: int = Field(description="Size of the upload.")
    size_bytes: int = Field(description="Size of the Parquet file that it was converted to.")
    created_at: datetime


class ProfileView(BaseModel):
    """Statistics of the columns, none of which relates to a target."""

    rows: int
    approximate: bool = Field(description="Whether distinct counts and quartiles are estimates.")
    reading: FileReading | None = Field(
        default=None, description="How cells are read, with examples and what else they could be."
    )
    columns: list[dict[str, Any]] = Field(
        description="Per column: type, hint, share missing, distinct, extremes, quartiles, top values.",
        examples=[[{"name": "age", "type": "number", "hint": "numeric", "missing": 0.42, "distinct": 75}]],
    )


class ReadingCorrection(BaseModel):
    """Chosen readings of columns; the others stay as they are."""

    model_config = ConfigDict(extra="forbid")

    columns: dict[str, ReadingChoice] = Field(
        min_length=1, max_length=100, examples=[{"ordered": "day_first", "amount": "decimal_comma"}]
    )


class PreviewView(BaseModel):
    """Some rows in file order; a cell is null where its value is missing, and times are ISO 8601 in UTC."""

    columns: list[ColumnView]
    rows: list[list[Any]]
    offset: int
    total: int
