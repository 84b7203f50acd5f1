"""Split the tasks into uploaded rows and test periods; runs in the environment with the data packages.

python -m benchmarks.quality.series.prepare FOLDER [NAME ...]
"""

import json
import sys
from pathlib import Path

import pandas as pd
from benchmarks.quality.series.tasks.registry import TASKS
from benchmarks.quality.series.tasks.task import SEASONS, SeriesTask

TEST_DIVISOR = 3
"""Divisor of the moments that gives the test moments: the last third."""
SINGLE = "all"
"""Name of the column of a table with one series."""
FREQUENCIES = {"day": "D", "week": "W-SUN", "month": "M"}
"""Periods of transactions, as pandas names them; weeks begin on Monday."""


def prepare(task: SeriesTask, folder: Path) -> None:
    """Write train.csv (the rows to upload), values.csv (each period and series) and task.json."""
    rows = task.load().reset_index(drop=True)
    values = add_up_periods(rows, task) if task.measure else tabulate_series(rows, task)
    train_moments = len(values) - len(values) // TEST_DIVISOR
    folder.mkdir(parents=True, exist_ok=True)
    _rows_before(rows, task, values.index[train_moments]).to_csv(folder / "train.csv", index=False)
    if not task.measure:
        rows.to_csv(folder / "rows.csv", index=False)
    values.to_csv(folder / "values.csv")
    facts = {
        "name": task.name,
        "source": task.source,
        "time": task.time,
        "target": task.target,
        "series": task.series,
        "every": task.every,
        "seasons": SEASONS[task.every],
        "horizon": task.horizon,
        "goal": task.goal,
        "measure": task.measure,
        "train_moments": train_moments,
        "moments": len(values),
    }
    (folder / "task.json").write_text(json.dumps(facts, indent=1))


def tabulate_series(rows: pd.DataFrame, task: SeriesTask) -> pd.DataFrame:
    """Values (moments, series) in the order of time, indexed by the moment as it is written."""
    if task.series is None:
        return rows.set_index(task.time)[[task.target]].set_axis([SINGLE], axis=1)
    table = rows.pivot_table(task.target, task.time, task.series, dropna=False, observed=True)
    try:
        order = pd.to_datetime(table.index.astype(str), format="mixed").argsort()
    except ValueError:
        # Quarters such as `1998 Q1` are in order as texts.
        order = table.index.argsort()
    return table.iloc[order]


def add_up_periods(rows: pd.DataFrame, task: SeriesTask) -> pd.DataFrame:
    """Sums or numbers of rows (periods, series), zero where there are none, indexed by the first day."""
    periods = _periods(rows, task)
    series = rows[task.series] if task.series else pd.Series(SINGLE, index=rows.index)
    measured = rows[task.target] if task.measure == "sum" else pd.Series(1, index=rows.index)
    table = measured.groupby([periods.rename("period"), series.rename("series")]).sum().unstack(fill_value=0)
    complete = table.reindex(pd.period_range(table.index.min(), table.index.max()), fill_value=0)
    # The first and the last period may have begun before the table, or end after it.
    complete = complete.iloc[1:-1]
    return complete.set_axis(complete.index.start_time.strftime("%Y-%m-%d"), axis=0).rename_axis("period")


def _periods(rows: pd.DataFrame, task: SeriesTask) -> pd.Series:
    moments = pd.to_datetime(rows[task.time])
    moments = moments.dt.tz_localize(None) if moments.dt.tz else moments
    return moments.dt.to_period(FREQUENCIES[task.every])


def _rows_before(rows: pd.DataFrame, task: SeriesTask, first_test_moment: object) -> pd.DataFrame:
    if task.measure:
        return rows[_periods(rows, task).dt.start_time < pd.Timestamp(str(first_test_moment))]
    # By position: moments that are written as texts need not be in order as texts.
    positions = {moment: position for position, moment in enumerate(tabulate_series(rows, task).index)}
    return rows[rows[task.time].map(positions) < positions[first_test_moment]]


def main(folder: Path, names: list[str]) -> None:
    """Skip prepared tasks, so that a stopped run can be resumed."""
    for name in names or TASKS:
        if not (folder / name / "task.json").exists():
            prepare(TASKS[name], folder / name)
            print(name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
