"""How long an explanation may take."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.sessions.in_memory import MemoryStep
from app.sessions.step_scope import SessionFacts
from app.tools.context.stage_limits import FINAL_DRAWING_SHARE
from app.tools.context.tool_context import ToolContext, TrainingContext
from app.tools.finalization.explanation import MIN_LATE_S, MIN_S, explanation_limits_s


def context(until_s: float, **preferences: float | bool) -> ToolContext:
    facts = SessionFacts(UUID(int=1), UUID(int=2), "", preferences, (), 0, datetime.now(UTC))
    settled = TrainingContext(Problem("y", ProblemKind.REGRESSION, "rmse"), FoldPlan(SplitKind.RANDOM), until_s)
    return ToolContext("pipeline", MemoryStep(facts), None, None, None, training_context=settled)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("budget_s", "left_s", "seconds"),
    [(20.0, 10.0, MIN_S), (200.0, 100.0, 10.0), (200.0, -5.0, MIN_LATE_S), (5.0, 2.3, 0.7)],
)
async def test_the_explanation_limit_is_a_share_of_the_budget_and_at_most_the_time_left(
    budget_s: float, left_s: float, seconds: float
) -> None:
    limit_s, drawing_s = await explanation_limits_s(context(left_s, time_budget_s=budget_s))
    assert limit_s == pytest.approx(seconds, abs=0.05)
    assert drawing_s == pytest.approx(FINAL_DRAWING_SHARE * max(left_s, 0.0), abs=0.05)


async def test_a_deterministic_session_measures_without_a_clock() -> None:
    assert await explanation_limits_s(context(1.0, deterministic=True)) == (None, None)
