"""Series in layouts that people keep by hand, from the text of a file to the periods of a forecast."""

from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.unit.agents.goals.forecasts import find_period_forecast

from app.agents.goals.parser import parse_goal
from app.agents.goals.series.period_sql import select_series
from app.agents.goals.series.select_sql import select_all
from app.agents.goals.tables.profiles import make_table_profile
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import ingest

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
YEARS = range(2015, 2024)


def lines(header: str, rows: list[tuple[Any, ...]]) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


MONTHS_BY_YEARS = lines(
    "Month," + ",".join(map(str, YEARS)),
    [(month, *(100 * i + year - 2000 for year in YEARS)) for i, month in enumerate([*MONTHS, "Nov", "Dec"], 1)],
)
FISCAL_QUARTERS = lines(
    "FY,Qtr,income_m", [(f"FY{y}", f"Q{q}", y * 10 + q) for y in range(14, 24) for q in (1, 2, 3, 4)]
)
HALVES = lines("Period,shipped", [(f"H{h} {y}", y - 2000 + h / 2) for y in range(2006, 2024) for h in (1, 2)])
TERMS = lines(
    "term,enrolled",
    [(f"{term} {y}", y + i) for y in range(2006, 2022) for i, term in enumerate(["Spring", "Fall"])],
)
SEASONS = lines("season,goals", [(f"{y}/{(y + 1) % 100:02}", y - 1000) for y in range(1995, 2023)])
DAY_COLUMNS = lines(
    "branch,boss," + ",".join(f"2024-01-{day:02}" for day in range(1, 29)),
    [
        (branch, boss, *(10 * i + day for day in range(1, 29)))
        for i, (branch, boss) in enumerate([("Aa", "x"), ("Bb", "y"), ("Cc", "z")])
    ],
)
DATE_PARTS = lines(
    "yr,mo,dy,riders", [(2023, 1 + day // 28, 1 + day % 28, 100 + day) for day in range(28 * 12)]
)
CLOCK = lines(
    "date,time,kwh",
    [(f"2023-10-{day:02}", f"{hour:02}:00", day + hour / 100) for day in range(1, 13) for hour in range(24)],
)

CASES = {
    "months down, years across": (
        MONTHS_BY_YEARS,
        "forecast rainfall for the next 12 months",
        12,
        "2016-03",
        316,
    ),
    "fiscal years beside quarters": (
        FISCAL_QUARTERS,
        "forecast income for the next two quarters",
        2,
        "2020-10",
        204,
    ),
    "half years": (HALVES, "how much will we ship in the next half-year", 1, "2010-07", 11),
    "terms": (TERMS, "how many students will enrol next term", 1, "2010-07", 2011),
    "seasons of two years": (
        SEASONS,
        "how many goals will be scored in the next 3 seasons",
        3,
        "2010-01",
        1010,
    ),
    "days as columns": (
        DAY_COLUMNS,
        "forecast visits of each branch for the next 14 days",
        14,
        "2024-01-07",
        7,
    ),
    "parts of dates": (DATE_PARTS, "forecast riders for the next 2 weeks", 14, "2023-02-03", 130),
    "hours of the clock": (CLOCK, "forecast kwh for the next 24 hours", 24, "2023-10-02T03:00", 2.03),
}


@pytest.mark.parametrize(("text", "goal", "steps", "period", "value"), CASES.values(), ids=CASES)
def test_a_series_is_found_in(
    tmp_path: Path, text: str, goal: str, steps: int, period: str, value: float
) -> None:
    upload = tmp_path / "upload.csv"
    upload.write_text(text)
    facts: Any = ingest(CellWorkspace({"upload": upload}, tmp_path), "figures.csv")
    schema = {"table": "figures", "rows": facts["rows"], "columns": facts["profile"]["columns"]}
    forecast = find_period_forecast(parse_goal(goal), make_table_profile(schema))
    assert forecast is not None
    assert forecast.steps == steps
    select = select_series(select_all("figures"), forecast.aggregation, forecast.conditions)
    with duckdb.connect() as database:
        database.execute(f"CREATE VIEW figures AS FROM '{tmp_path / 'table.parquet'}'")
        rows = database.execute(select).df()
    moments = rows[forecast.aggregation.time].astype("datetime64[s]")
    assert rows.loc[moments == period, forecast.aggregation.name].iloc[0] == pytest.approx(value)
