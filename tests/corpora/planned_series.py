"""Series of the corpus, planned as the product does: upload, offline planner; and their verdicts."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from tests.corpora.conversations import run_planner
from tests.corpora.series import SERIES_DIRECTORY, SeriesFile, SeriesGoal, SeriesJudgement
from tests.corpora.tables import Half

from app.agents.goals.tables import make_table_profile, row_spacing_s
from app.agents.goals.vocabulary import SECONDS_BY_UNIT
from app.agents.planner.output import Plan
from app.computations.ingest import ingest
from app.computations.workspace import CellWorkspace
from app.errors import LabError

NO_TARGET = "?"
MAX_SPACING_ERROR = 0.1
"""Share by which the mean spacing of rows may differ from that of their period: gaps stretch it."""

Verdict = Literal["right", "may_ask", "asked", "refused", "unread", "wrong"]
"""`unread`: the upload failed. The others as in `planned_goals.Verdict`."""


@dataclass(frozen=True)
class PlannedSeries:
    """What became of a goal: the planner's `plan` over a table of this `schema`, or its question."""

    file: SeriesFile
    goal: SeriesGoal
    schema: dict[str, Any]
    plan: Plan | None
    question: str = ""

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
            return list(getattr(aggregation, "period_columns", ())) == judgement.period_columns
        columns = [*getattr(aggregation, "time_columns", ())] or [plan.time_column]
        return set(columns) == set(judgement.time_columns)

    def _has_key(self, judgement: SeriesJudgement) -> bool:
        plan = self.plan
        assert plan is not None
        keys = [*getattr(plan.aggregation, "keys", ())] or ([plan.group_column] if plan.group_column else [])
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
            step = getattr(plan.aggregation, "step", 1)
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
    conditions = getattr(plan, "filter", None) or []
    return {
        condition.column: str(condition.values[0]) for condition in conditions if len(condition.values) == 1
    }


def plan_series(half: Half, files: Sequence[SeriesFile]) -> list[PlannedSeries]:
    """Plan all goals of some files of a half."""
    return [planned for file in files for planned in _plan_file(half, file)]


def _plan_file(half: Half, file: SeriesFile) -> list[PlannedSeries]:
    schema = _upload(half, file)
    planned = []
    for goal in file.goals:
        result = run_planner(goal.goal, [schema]) if schema else None
        plan = result if isinstance(result, Plan) else None
        question = "" if result is None or isinstance(result, Plan) else result.text
        planned.append(PlannedSeries(file, goal, schema, plan, question))
    return planned


def _upload(half: Half, file: SeriesFile) -> dict[str, Any]:
    """Return the schema of an uploaded table as `get_dataset_schema` returns it; empty if it is refused."""
    with tempfile.TemporaryDirectory(prefix="labcrew-corpus-") as folder:
        upload = CellWorkspace({"upload": SERIES_DIRECTORY / half / f"{file.id}.csv"}, Path(folder))
        try:
            facts: Any = ingest(upload, f"{file.id}.csv")
        except LabError:
            return {}
    return {"table": file.id, "rows": facts["rows"], "columns": facts["profile"]["columns"]}
