"""The context of a tool call: step, workspace, datasets and computer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.artifacts.workspace import Workspace
from app.datasets.dataset_source import DatasetSource
from app.datasets.prices import Prices
from app.errors import ToolRefused
from app.json_types import JsonValue
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.problem import Problem
from app.sandbox.computation_runner import ComputationRunner
from app.sessions.recorded_facts import SessionRecords
from app.sessions.step_scope import SessionFacts, StepScope
from app.tools.preferences import TrainingPreferences, read_preferences


@dataclass(frozen=True)
class TrainingContext:
    """Problem and folds after the split, with deadline and fit slots of the next round of fits.

    `deadline_s`: the session's working time at which the round must be over. `fit_slots`: fits that are
    computed at a time. `families`: the only ones that are fitted, besides the baseline; empty for any.
    `wants_drivers`: the goal asks what the target goes with.
    """

    problem: Problem
    folds: FoldPlan
    deadline_s: float = 60.0
    fit_slots: int = 1
    families: tuple[str, ...] = ()
    wants_drivers: bool = False


@dataclass(frozen=True)
class ToolContext:
    """The first argument of every tool, hidden from agents.

    `call` is the key of the current call, unique in its step; it keys questions and rounds.
    """

    agent: str
    step: StepScope
    frames: Workspace
    datasets: DatasetSource
    computer: ComputationRunner
    call: str = ""
    training_context: TrainingContext | None = field(default=None)
    records: SessionRecords | None = None
    prices: Prices | None = None
    understanding: Mapping[str, JsonValue] = field(default_factory=dict)
    """The reading of the goal that the user was shown; empty outside of reporting."""

    @property
    def session(self) -> SessionFacts:
        return self.step.session

    @property
    def preferences(self) -> TrainingPreferences:
        return read_preferences(self.session.preferences)

    @property
    def training(self) -> TrainingContext:
        """Raises ToolRefused before the split."""
        if self.training_context is None:
            raise ToolRefused("The hold-out is not locked yet, so nothing can be trained.")
        return self.training_context
