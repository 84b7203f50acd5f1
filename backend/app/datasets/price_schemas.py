"""What the price endpoints answer."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field


class BadBar(BaseModel):
    row: int = Field(description="Row of the file, counted from 1 without the header.")
    reason: str = Field(examples=["high is not the highest"])
    coin: str | None
    time: str | None


class BadBars(BaseModel):
    count: int
    reasons: dict[str, int] = Field(examples=[{"a price is not positive": 3}])
    examples: list[BadBar] = Field(description="By row; at most 100 of each reason.")


class GapView(BaseModel):
    after: str | None
    before: str | None
    missing: int = Field(description="Bars that lack between them.")


class PriceSummary(BaseModel):
    """Where a market closes at weekends, nights and weekends are no gaps; whole weekdays are counted apart."""

    lowest: float
    highest: float
    mean_close: float
    std_close: float | None
    mean_volume: float
    total_volume: float
    first_close: float
    last_close: float
    gaps: int = Field(description="Places where bars lack.")
    missing: int = Field(description="Bars that lack between the first and the last.")
    missing_days: int
    closes_at_weekends: bool


class SeriesLoaded(BaseModel):
    coin: str
    interval: str = Field(examples=["5m"])
    bars: int
    gaps: list[GapView] = Field(description="The longest in this file, by time; at most 50.")
    summary: PriceSummary = Field(description="Of this file's bars.")


class ImportView(BaseModel):
    rows: int = Field(description="Rows of the file.")
    kept: int = Field(description="Good bars among them.")
    added: int = Field(description="Bars that were not there before.")
    changed: int = Field(description="Bars that were there with other values.")
    bad: BadBars
    series: list[SeriesLoaded]
    format: dict[str, Any] = Field(description="What was sniffed in the file, and `notes`.")
    columns: dict[str, str] = Field(description="Which of the file's columns was taken for which value.")


class CoinView(BaseModel):
    coin: str = Field(examples=["BTC"])
    interval: str = Field(examples=["5m"])
    bars: int
    first: datetime
    last: datetime
    shared: bool = Field(description="Whether all users see these bars, or only you.")


class CoinStatistics(CoinView, PriceSummary):
    range: float = Field(description="Highest less lowest.")
    change: float = Field(description="Last close over first close, less one.")


class Dropped(BaseModel):
    bars: int
