"""Code comes into a session by the tools that try it, and by no other way."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from app.artifacts.workspace import FrameRef
from app.errors import ToolRefused, Unavailable
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.sessions.in_memory import MemoryStep
from app.sessions.step_scope import SessionFacts
from app.tools.context.tool_context import ToolContext, TrainingContext
from app.tools.data.analysis import clean_data, create_features
from app.tools.fits.custom_code import add_sources, write_estimator, write_features
from app.tools.fits.fit_rounds import Candidate

SOURCE = "def fit(X, y):\n    return 1"
STEP = {"op": "python", "name": "x", "columns": ["a"], "source": SOURCE}
WRITTEN = {"estimator": "Written", "hyperparameters": {"source": SOURCE, "style": "tree", "name": "Mine"}}


@dataclass
class Frames:
    """A workspace of one training frame and one written estimator."""

    opened: list[str] = field(default_factory=list)

    async def frame(self, name: str) -> FrameRef:
        self.opened.append(name)
        return FrameRef(name, "digest", {"recipe": [], "columns": [{"name": "a"}, {"name": "y"}]})

    async def artifacts(self, kind: str) -> list[FrameRef]:
        return [FrameRef("Mine", "digest", WRITTEN)]


class NoWalls:
    """A computer on a host that lacks the isolation."""

    async def run(self, *_: Any) -> None:
        raise Unavailable("cells_not_isolated", "This host lacks the isolation that untrusted work needs.")


def context(agent: str = "model_trainer") -> ToolContext:
    facts = SessionFacts(UUID(int=1), UUID(int=2), "", {"time_budget_s": 20}, (), 0, datetime.now(UTC))
    study = TrainingContext(Problem("y", ProblemKind.CLASSIFICATION, "roc_auc"), FoldPlan(SplitKind.RANDOM))
    return ToolContext(agent, MemoryStep(facts), Frames(), None, NoWalls(), training_context=study)  # type: ignore[arg-type]


async def test_a_custom_estimator_is_trained_by_its_name():
    asked = [
        Candidate(estimator="Mine"),
        Candidate(estimator="Mine", name="Again"),
        Candidate(estimator="Ridge"),
    ]
    mine, again, ridge = await add_sources(context(), asked)
    assert (mine.name, again.name) == ("Mine", "Again")
    assert mine.estimator == again.estimator == "Written"
    assert mine.hyperparameters["source"] == SOURCE
    assert ridge == asked[2]


@pytest.mark.parametrize("name", ["Written", "written"])
async def test_untested_code_is_not_trained(name: str):
    asked = [Candidate(estimator=name, hyperparameters={"source": SOURCE})]
    with pytest.raises(ToolRefused, match=r"by write_estimator first.*Mine"):
        await add_sources(context(), asked)


@pytest.mark.parametrize("tool", [clean_data, create_features])
async def test_custom_operations_are_accepted_by_write_features_only(tool: Any):
    with pytest.raises(ToolRefused, match="write_features"):
        await tool(context("data_analyst"), operations=[STEP])


async def test_without_a_sandbox_custom_code_is_refused_with_a_message_for_the_agent():
    with pytest.raises(ToolRefused, match="lacks the isolation"):
        await write_features(context("data_analyst"), columns=["a"], source=SOURCE)
    with pytest.raises(ToolRefused, match="lacks the isolation"):
        await write_estimator(context(), name="Other", source=SOURCE)


async def test_an_unknown_column_is_answered_with_the_nearest_before_any_cell_runs():
    with pytest.raises(ToolRefused, match="aa"):
        await write_features(context("data_analyst"), columns=["aa"], source=SOURCE)


async def test_an_estimator_may_not_take_the_name_of_a_family():
    with pytest.raises(ToolRefused, match="family called LightGBM"):
        await write_estimator(context(), name="LightGBM", source=SOURCE)
