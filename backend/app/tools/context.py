"""The context of a tool call: step, workspace, datasets and computer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.artifacts.workspace import Workspace
from app.datasets.dataset_source import DatasetSource
from app.datasets.prices import Prices
from app.errors import ToolRefused
from app.sandbox.computer import Computer
from app.sessions.recorded_facts import SessionRecords
from app.sessions.step_scope import SessionFacts, StepScope


@dataclass(frozen=True)
class TrainingContext:
    """Problem and folds after the split, with deadline and fit slots of the next round of fits.

    `problem` is complete (`modeling.problem.Problem` as JSON), `folds` says how rows are folded. `until_s`: the
    session's working time at which the round must be over. `hands`: fits that are computed at a time.
    `families`: the only ones that are fitted, besides the baseline; none named: any.
    """

    problem: Mapping[str, Any]
    folds: Mapping[str, Any]
    deadline_s: float = 60.0
    fit_slots: int = 1
    families: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolContext:
    """The first argument of every tool, hidden from agents.

    `call` is the key of the current call, unique in its step; it keys questions and rounds.
    """

    agent: str
    step: StepScope
    frames: Workspace
    datasets: DatasetSource
    computer: Computer
    call: str = ""
    training_context: TrainingContext | None = field(default=None)
    records: SessionRecords | None = None
    prices: Prices | None = None

    @property
    def session(self) -> SessionFacts:
        return self.step.session

    @property
    def training(self) -> TrainingContext:
        """Raises ToolRefused before the split."""
        if self.training_context is None:
            raise ToolRefused("The hold-out is not locked yet, so nothing can be trained.")
        return self.training_context
