"""Responses of the dataset endpoints."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.datasets.table_requests import ColumnComparison, ColumnName, SortedBy, TableQuery, TableSource
from app.json_types import JsonScalar
from app.modeling.facts.readings import FileReading, ReadingChoice

MAX_NOTE_CHARS = 2_000
"""Characters of a note: a page of text. Lists have notes too, of up to 200 datasets."""


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
    source_digest: str = Field(description="SHA-256 of the upload: tables with the same are of one file.")
    size_bytes: int = Field(description="Size of the Parquet file that it was converted to.")
    note: str = Field(
        description="What its owner wrote about it: plain text, empty without a note.",
        examples=["Export of 3 May. Ask Kim about the fares of 0."],
    )
    created_at: datetime


class FrequentValue(BaseModel):
    """One of the most frequent values of a column."""

    model_config = ConfigDict(extra="allow")

    value: JsonScalar
    count: int


class ColumnProfileView(BaseModel):
    """Statistics of a column. What its type has not is missing: quartiles of texts, lengths of numbers."""

    model_config = ConfigDict(extra="allow", json_schema_serialization_defaults_required=True)

    name: str = Field(examples=["age"])
    type: str = Field(examples=["number"])
    hint: str = Field(default="", description="How its values are read.", examples=["numeric"])
    missing: float = Field(default=0.0, description="Share of the rows, from 0 to 1.", examples=[0.42])
    missing_count: int | None = None
    distinct: int = Field(default=0, examples=[75])
    distinct_approximate: bool = False
    unique: bool = Field(default=False, description="No value comes twice.")
    top: list[FrequentValue] = Field(default_factory=list)
    examples: list[JsonScalar] = Field(default_factory=list)
    min: JsonScalar = None
    q25: JsonScalar = None
    q50: JsonScalar = None
    q75: JsonScalar = None
    max: JsonScalar = None
    mean: JsonScalar = None
    std: JsonScalar = None


class ProfileView(BaseModel):
    """Statistics of the columns, none of which relates to a target."""

    rows: int
    approximate: bool = Field(description="Whether distinct counts and quartiles are estimates.")
    reading: FileReading | None = Field(
        default=None, description="How cells are read, with examples and what else they could be."
    )
    columns: list[ColumnProfileView]


class DatasetChange(BaseModel):
    """A change of what its owner writes about a dataset. The table stays as it is."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    note: str = Field(
        max_length=MAX_NOTE_CHARS,
        pattern=r"^[^\x00]*$",
        description="Plain text in place of the former note; an empty one removes it. Space around it is cut.",
        examples=["Export of 3 May. Ask Kim about the fares of 0."],
    )
    former: str | None = Field(
        default=None,
        max_length=MAX_NOTE_CHARS,
        description="The note that this one replaces. If it is another one by now, the change is refused with "
        "`note_changed`; without `former` the last change holds.",
    )


class ReadingCorrection(BaseModel):
    """Chosen readings of columns; the others stay as they are."""

    model_config = ConfigDict(extra="forbid")

    columns: dict[str, ReadingChoice] = Field(
        min_length=1, max_length=100, examples=[{"ordered": "day_first", "amount": "decimal_comma"}]
    )


class RowSelection(BaseModel):
    """Filter, search and order of the rows of a table; without it, all in the order of the file."""

    model_config = ConfigDict(extra="forbid")

    sort: ColumnName | None = Field(default=None, description="Column; missing values come last.")
    descending: bool = False
    filter_column: ColumnName | None = None
    comparison: Literal["=", "!=", "<", "<=", ">", ">=", "contains", "missing"] = "="
    value: str = Field(
        default="",
        max_length=1000,
        pattern=r"^[^\x00]*$",
        description="Compared as a number, day or time where the cell and it are, else as text.",
    )
    search: str = Field(
        default="", max_length=1000, pattern=r"^[^\x00]*$", description="Text in any column, in either case."
    )


class PreviewQuery(RowSelection):
    """A page of the selected rows."""

    limit: int = Field(default=20, ge=1, le=500)
    offset: int = Field(default=0, ge=0, le=2**53)

    def table_query(self, dataset_id: UUID) -> TableQuery:
        """Return the same as a query of a table."""
        value = None if self.comparison == "missing" else self.value
        column = self.filter_column
        return TableQuery(
            source=TableSource(dataset_id=dataset_id),
            filter=None
            if column is None
            else ColumnComparison(column=column, comparison=self.comparison, value=value),
            search=self.search,
            sort=[SortedBy(column=self.sort, descending=self.descending)] if self.sort is not None else [],
            offset=self.offset,
            limit=self.limit,
        )


class PreviewView(BaseModel):
    """Some rows, in file order if no other was asked for.

    A cell is null where its value is missing, and times are ISO 8601 in UTC.
    """

    columns: list[ColumnView]
    rows: list[list[Any]]
    offset: int
    total: int
    matching: int = Field(description="Rows that the filter and the search leave.")
