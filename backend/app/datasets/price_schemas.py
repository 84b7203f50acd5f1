"""What the price endpoints answer."""

from datetime import datetime

from pydantic import BaseModel, Field


class BadBar(BaseModel):
    row: int = Field(description="Row of the file, counted from 1 without the header.")
    reason: str = Field(examples=["high is not the highest"])


class BadBars(BaseModel):
    count: int
    reasons: dict[str, int] = Field(examples=[{"a value is missing": 3}])
    examples: list[BadBar]


class ImportView(BaseModel):
    rows: int = Field(description="Rows of the file.")
    kept: int = Field(description="Good bars among them.")
    added: int = Field(description="Bars that were not there before.")
    changed: int = Field(description="Bars that were there with other values.")
    bad: BadBars


class CoinView(BaseModel):
    coin: str = Field(examples=["BTC"])
    bars: int
    first: datetime
    last: datetime


class CoinStatistics(CoinView):
    missing: int = Field(description="Bars that lack between the first and the last.")
    lowest: float
    highest: float
    mean_close: float
    std_close: float | None
    mean_volume: float
    total_volume: float
    first_close: float
    last_close: float
    change: float = Field(description="Last close over first close, less one.")
