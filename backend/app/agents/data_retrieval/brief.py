"""The brief of data retrieval, and the values of its tools that the policy reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.agents.planner.output import Plan
from app.agents.state import FrameColumn
from app.tools.data.computed_facts import JoinDescription

FETCHING_TOOLS = ("fetch_dataset", "execute_sql", "fetch_price_data")


@dataclass(frozen=True, kw_only=True)
class RetrievalBrief:
    """The plan whose table is fetched."""

    goal: str = ""
    plan: Plan


@dataclass(frozen=True)
class CoinName:
    coin: str


@dataclass(frozen=True)
class AvailableCoins:
    """The value of `get_available_coins`."""

    coins: Sequence[CoinName]


@dataclass(frozen=True)
class UnjoinedTable:
    table: str
    reason: str


@dataclass(frozen=True)
class TableRelations:
    """The value of `relate_tables`. `sql`: the SELECT that joins the tables; None if none can be joined.

    `appended`: tables with further rows of `base`. `to_predict`: tables without the target.
    """

    base: str
    sql: str | None
    joins: Sequence[JoinDescription] = ()
    appended: Sequence[str] = ()
    to_predict: Sequence[str] = ()
    left_out: Sequence[UnjoinedTable] = ()


@dataclass(frozen=True)
class FetchedTable:
    """The value of a tool that fetches a table. A SELECT reports its rows as `row_count`."""

    columns: Sequence[FrameColumn]
    rows: int | Sequence[Any] = 0
    row_count: int | None = None
    frame: str | None = None
    """Name of the frame that the table is kept as; None for a SELECT that was only looked at."""

    @property
    def total_rows(self) -> int:
        # A SELECT returns some of its rows, and counts all.
        if self.row_count is not None:
            return self.row_count
        return self.rows if isinstance(self.rows, int) else len(self.rows)
