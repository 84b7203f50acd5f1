"""Responses of the price endpoints.

A `validation_alias` is the name inside stored summaries and results of computations.
"""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field


class RejectedBar(BaseModel):
    row: int = Field(description="Row of the file, counted from 1 without the header.")
    reason: str = Field(examples=["high is not the highest"])
    coin: str | None
    time: str | None


class RejectedBars(BaseModel):
    count: int
    reasons: dict[str, int] = Field(examples=[{"a price is not positive": 3}])
    examples: list[RejectedBar] = Field(description="Ordered by row; at most 100 per reason.")


class GapView(BaseModel):
    after: str | None
    before: str | None
    missing_bars: int = Field(validation_alias="missing", description="Number of bars missing between them.")


class PriceSummary(BaseModel):
    """Summary of one series. Nights and weekends are no gaps of a market that closes at weekends."""

    lowest: float
    highest: float
    mean_close: float
    std_close: float | None
    mean_volume: float
    total_volume: float
    first_close: float
    last_close: float
    gaps: int = Field(description="Number of gaps.")
    missing_bars: int = Field(
        validation_alias="missing", description="Number of bars missing between the first and the last."
    )
    missing_days: int = Field(description="Missing weekdays, counted apart from gaps within days.")
    closes_at_weekends: bool


class ImportedSeries(BaseModel):
    coin: str
    interval: str = Field(examples=["5m"])
    bars: int
    gaps: list[GapView] = Field(description="The longest gaps of this file, ordered by time; at most 50.")
    summary: PriceSummary = Field(description="Of this file's bars.")


class ImportView(BaseModel):
    rows: int = Field(description="Rows of the file.")
    valid_rows: int = Field(validation_alias="kept", description="Rows that hold a valid bar.")
    added_bars: int = Field(validation_alias="added", description="Bars that were not stored before.")
    changed_bars: int = Field(
        validation_alias="changed", description="Bars that were stored with other values."
    )
    rejected: RejectedBars = Field(validation_alias="bad")
    series: list[ImportedSeries]
    format: dict[str, Any] = Field(description="Detected format of the file, and `notes`.")
    columns: dict[str, str] = Field(description="Column of the file for each value of a bar.")


class CoinView(BaseModel):
    coin: str = Field(examples=["BTC"])
    interval: str = Field(examples=["5m"])
    bars: int
    first: datetime
    last: datetime
    shared: bool = Field(description="True if all users see these bars; false if they are yours alone.")


class CoinStatistics(CoinView, PriceSummary):
    range: float = Field(description="`highest` minus `lowest`.")
    change: float = Field(description="`last_close / first_close - 1`.")


class DeletedBars(BaseModel):
    bars: int
