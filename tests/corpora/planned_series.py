"""Series of the corpus, planned as the product does: upload, offline planner; and their verdicts."""

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import duckdb
import pandas as pd
from tests.corpora.conversations import run_planner
from tests.corpora.series import (
    SERIES_DIRECTORY,
    SeriesFile,
    SeriesGoal,
    SeriesJudgement,
    load_series,
)
from tests.corpora.tables import Half

from app.agents.goals.series.period_sql import select_series
from app.agents.goals.series.select_sql import KEY_SEPARATOR, select_all
from app.agents.goals.tables.profiles import make_table_profile, row_spacing_s
from app.agents.goals.words.vocabulary import SECONDS_BY_UNIT
from app.agents.planner.output import Plan
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.sql_policy.select_policy import require_select
from app.computations.uploads.ingest import ingest
from app.errors import LabError

NO_TARGET = "?"
MAX_SPACING_ERROR = 0.1
"""Share by which the mean spacing of rows may differ from that of their period: gaps stretch it."""

Verdict = Literal["right", "may_ask", "asked", "refused", "unread", "wrong"]
"""`unread`: the upload failed. The others as in `planned_goals.Verdict`."""


@dataclass(frozen=True)
class PlannedSeries:
    """Outcome of a goal: the planner's `plan` over a table of this `schema`, or its question."""

    file: SeriesFile
    goal: SeriesGoal
    schema: dict[str, Any]
    plan: Plan | None
    question: str = ""
    series: pd.DataFrame | None = None
    """The series that the plan's SELECT makes, with columns `period`, `key` and `value`; None without one."""

    @cached_property
    def misses(self) -> list[str]:
        """Checked periods and ends in which the series differs from the nearest judgement."""
        if self.series is None:
            return []
        values = {(row.key, row.period): row.value for row in self.series.itertuples()}
        periods = [period for _, period in values]
        return min((self._misses(judgement, values, periods) for judgement in self.judgements), key=len)

    def _misses(
        self, judgement: SeriesJudgement, values: Mapping[tuple[str, pd.Timestamp], float], periods: list[Any]
    ) -> list[str]:
        keys = self.plan.aggregation.keys if self.plan and self.plan.aggregation else []
        misses, cut = [], set(judgement.incomplete)
        for check in judgement.checks:
            if check.period in cut:
                continue
            key = KEY_SEPARATOR.join(check.key.get(name, "?") for name in keys)
            value = values.get((key, period_moment(check.period)))
            if check.value is not None and (
                value is None or not math.isclose(value, check.value, rel_tol=1e-6)
            ):
                misses.append(f"{check.period} {key}: {value} instead of {check.value}")
        for end, period in (("begins", min(periods)), ("ends", max(periods))):
            expected = judgement.first if end == "begins" else judgement.last
            if expected not in cut and period != period_moment(expected):
                misses.append(f"{end} {period} instead of {expected}")
        return misses

    @cached_property
    def verdict(self) -> Verdict:
        if not self.schema:
            return "unread"
        if self.plan is None:
            return "may_ask" if self.goal.may_ask else "asked"
        if self.plan.target == NO_TARGET:
            return "refused"
        return "wrong" if self.differences else "right"

    @property
    def judgements(self) -> list[SeriesJudgement]:
        return [self.goal.judgement, *self.goal.accepted]

    @cached_property
    def differences(self) -> list[str]:
        """Parts in which the plan differs from the nearest judgement; empty if it is one of them."""
        return min((self._compare(judgement) for judgement in self.judgements), key=len)

    def _compare(self, judgement: SeriesJudgement) -> list[str]:
        plan = self.plan
        if plan is None or plan.question is not None or not plan.horizon:
            return ["kind"]
        agreements = {
            "time": self._has_time(judgement),
            "key": self._has_key(judgement),
            "measure": self._has_measure(judgement),
            "period": self._has_period(judgement),
            "horizon": self._has_horizon(judgement),
            "filter": plan_filter(plan) == judgement.filter,
        }
        return [part for part, agrees in agreements.items() if not agrees]

    def _has_time(self, judgement: SeriesJudgement) -> bool:
        plan = self.plan
        assert plan is not None
        aggregation = plan.aggregation
        if judgement.layout == "wide":
            return aggregation is not None and aggregation.period_columns == judgement.period_columns
        columns = [plan.time_column] if aggregation is None else aggregation.time_columns
        return set(columns) == set(judgement.time_columns)

    def _has_key(self, judgement: SeriesJudgement) -> bool:
        plan = self.plan
        assert plan is not None
        keys = plan.aggregation.keys if plan.aggregation else [plan.group_column] if plan.group_column else []
        return set(keys) == set(judgement.key)

    def _has_measure(self, judgement: SeriesJudgement) -> bool:
        plan = self.plan
        assert plan is not None
        aggregation = plan.aggregation
        function = "value" if aggregation is None else aggregation.measure
        column = plan.target if aggregation is None else aggregation.column
        if judgement.layout == "wide":
            return function == "value"
        if judgement.aggregation == "none":
            # The mean of one row is its value.
            return column == judgement.measure and function != "count"
        function_text = function if column is None else f"{function}:{column}"
        return function_text == judgement.aggregation

    def _has_period(self, judgement: SeriesJudgement) -> bool:
        plan = self.plan
        assert plan is not None
        if plan.aggregation is not None:
            step = plan.aggregation.step
            return (plan.aggregation.every, step) == (judgement.every, judgement.step)
        column = make_table_profile(self.schema).column(plan.time_column or "")
        spacing_s = row_spacing_s(column) if column else None
        if spacing_s is None:
            return False
        unit = "day" if judgement.every == "business_day" else judgement.every
        period_s = judgement.step * SECONDS_BY_UNIT[unit] * (1.4 if judgement.every == "business_day" else 1)
        return abs(spacing_s / period_s - 1) <= MAX_SPACING_ERROR

    def _has_horizon(self, judgement: SeriesJudgement) -> bool:
        plan = self.plan
        assert plan is not None
        return judgement.horizon is None or plan.horizon == judgement.horizon.steps


def plan_filter(plan: Plan) -> dict[str, str]:
    """Return the values to which a plan restricts rows, as the corpus writes them."""
    conditions = plan.filter
    return {
        condition.column: str(condition.values[0]) for condition in conditions if len(condition.values) == 1
    }


def period_moment(text: str) -> pd.Timestamp:
    """Return the beginning of a period as the corpus writes it."""
    return pd.Period(text).start_time if "Q" in text else pd.Timestamp(text)


def plan_series(half: Half, directory: Path = SERIES_DIRECTORY) -> list[PlannedSeries]:
    """Plan all goals of a half of a corpus."""
    return [planned for file in load_series(half, directory) for planned in _plan_file(directory / half, file)]


def _plan_file(directory: Path, file: SeriesFile) -> list[PlannedSeries]:
    with tempfile.TemporaryDirectory(prefix="labcrew-corpus-") as folder:
        upload = CellWorkspace({"upload": directory / f"{file.id}.csv"}, Path(folder))
        try:
            facts: Any = ingest(upload, f"{file.id}.csv")
        except LabError:
            return [PlannedSeries(file, goal, {}, None) for goal in file.goals]
        schema = {"table": file.id, "rows": facts["rows"], "columns": facts["profile"]["columns"]}
        return [_plan_goal(file, goal, schema, Path(folder) / "table.parquet") for goal in file.goals]


def _plan_goal(file: SeriesFile, goal: SeriesGoal, schema: dict[str, Any], table: Path) -> PlannedSeries:
    result = run_planner(goal.goal, [schema])
    if not isinstance(result, Plan):
        return PlannedSeries(file, goal, schema, None, result.text)
    return PlannedSeries(file, goal, schema, result, series=_make_series(result, table))


def _make_series(plan: Plan, table: Path) -> pd.DataFrame | None:
    """Run the SELECT of a plan as the product does."""
    if plan.aggregation is None:
        return None
    select = select_series(select_all(plan.tables[0]), plan.aggregation, plan.filter)
    require_select(select, plan.tables)
    with duckdb.connect() as database:
        database.execute(f"CREATE VIEW \"{plan.tables[0]}\" AS FROM '{table}'")
        rows = database.execute(select).df()
    key = plan.aggregation.key_name
    return pd.DataFrame(
        {
            "period": pd.to_datetime(rows[plan.aggregation.time]),
            "key": rows[key].astype(str) if key else "",
            "value": rows[plan.aggregation.name].astype(float),
        }
    )
