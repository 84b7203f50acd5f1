"""The context of a tool call: step, workspace, datasets and computer."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.artifacts.workspace import Workspace
from app.charts.renderer import ChartRenderer
from app.datasets.dataset_source import DatasetSource
from app.datasets.prices import Prices
from app.errors import ToolRefused
from app.json_types import JsonValue
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.problem import Problem
from app.sandbox.computation_runner import ComputationRunner
from app.sessions.recorded_facts import SessionRecords
from app.sessions.step_scope import ArtifactDraft, CallResult, SessionFacts, StepScope
from app.tools.context.conversation_studies import ConversationStudies
from app.tools.context.conversation_workflows import ConversationWorkflows
from app.tools.context.preferences import TrainingPreferences, read_preferences
from app.tools.context.thinking_time import ThinkingTime
from app.workspaces.conversation import Conversation

ChargeStorage = Callable[[Sequence[ArtifactDraft]], Awaitable[None]]
"""Charges artifacts to the owner's quota of stored bytes. Raises TooMany where they do not fit."""


@dataclass(frozen=True)
class TrainingContext:
    """Problem and folds after the split, with deadline and fit slots of the next round of fits.

    `deadline_s`: the session's working time at which the round must be over. `fit_slots`: fits that are
    computed at a time. `families`: the only ones that are fitted, besides the baseline; empty for any.
    `wants_drivers`: the goal asks what the target goes with. `is_single_model`: several candidates may not be
    blended.
    """

    problem: Problem
    folds: FoldPlan
    deadline_s: float = 60.0
    fit_slots: int = 1
    families: tuple[str, ...] = ()
    wants_drivers: bool = False
    is_single_model: bool = False
    slowness: float = 1.0
    """Factor by which work takes longer than on an idle machine, as the split measured it."""
    time_limit_s: float | None = None
    """Seconds that the plan allows the session in place of the preference."""


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
    thinking: ThinkingTime = field(default_factory=ThinkingTime)
    notes: Sequence[Mapping[str, JsonValue]] = ()
    """Notes of the agents, as `{agent, text}`; empty outside of reporting."""
    reason: str = ""
    """The agent's words along with the current call."""
    understanding: Mapping[str, JsonValue] = field(default_factory=dict)
    """The reading of the goal that the user was shown; empty outside of reporting."""
    holdout_look: Mapping[str, JsonValue] | None = None
    """The look at the hold-out of the final evaluation, as `sessions.holdout_looks` numbers it."""
    renderer: ChartRenderer | None = None
    """Draws charts; None where nobody asks for them."""
    conversation_tables: Conversation | None = None
    """Tables of the conversation of a turn; None outside of turns."""
    studies: ConversationStudies | None = None
    """Studies of the conversation of a turn; None outside of turns."""
    workflows: ConversationWorkflows | None = None
    """Workflows of the owner of a conversation; None where they cannot be changed."""
    charge_storage: ChargeStorage | None = None
    """None where a quota of stored bytes is checked only before the session begins."""

    async def charge(self, result: CallResult) -> CallResult:
        """Charge what a call is about to record, and return it. Raises TooMany above the owner's quota."""
        if self.charge_storage and result.artifacts:
            await self.charge_storage(result.artifacts)
        return result

    @property
    def session(self) -> SessionFacts:
        return self.step.session

    @property
    def conversation(self) -> Conversation:
        """Raises ToolRefused outside of conversations."""
        if self.conversation_tables is None:
            raise ToolRefused("There is no conversation here.")
        return self.conversation_tables

    @property
    def preferences(self) -> TrainingPreferences:
        limit_s = self.training_context.time_limit_s if self.training_context else None
        return read_preferences(self.session.preferences).limited_to(limit_s)

    @property
    def training(self) -> TrainingContext:
        """Raises ToolRefused before the split."""
        if self.training_context is None:
            raise ToolRefused("The hold-out is not locked yet, so nothing can be trained.")
        return self.training_context
