"""The runtime context of a pipeline node."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.agents.runtime.agent_loop import Agent
from app.artifacts.workspace import Workspace
from app.charts.renderer import ChartRenderer
from app.datasets.dataset_source import DatasetSource
from app.datasets.prices import Prices
from app.json_types import JsonValue
from app.sandbox.computation_runner import ComputationRunner
from app.sessions.recorded_facts import SessionRecords
from app.sessions.step_scope import StepScope
from app.tools.context.recorded_clock import CountFitSlots, one_fit_slot, recorded_fit_slots, recorded_work_s
from app.tools.context.recorded_look import recorded_look
from app.tools.context.thinking_time import ThinkingTime
from app.tools.context.tool_context import ToolContext, TrainingContext

Crew = Mapping[str, Agent[Any]]
"""The agents of a process by name."""


@dataclass(frozen=True)
class LabContext:
    """One step of one session, its data, the cells it computes in, and the agents."""

    step: StepScope
    frames: Workspace
    datasets: DatasetSource
    computer: ComputationRunner
    crew: Crew
    records: SessionRecords | None = None
    prices: Prices | None = None
    fit_slots: CountFitSlots = one_fit_slot
    thinking: ThinkingTime = field(default_factory=ThinkingTime)
    renderer: ChartRenderer | None = None

    def tool_context(self, agent: str, training: TrainingContext | None = None) -> ToolContext:
        """Make the context of an agent's tools in this step."""
        return ToolContext(
            agent,
            self.step,
            self.frames,
            self.datasets,
            self.computer,
            training_context=training,
            records=self.records,
            prices=self.prices,
            thinking=self.thinking,
            renderer=self.renderer,
        )

    async def working_time_s(self, key: str) -> float:
        """Return the session's working time in seconds, without thinking; recorded, and replayed likewise."""
        return self.thinking.working_s(await recorded_work_s(self.step, key))

    async def count_look(self) -> Mapping[str, JsonValue] | None:
        """Number the look of this step at the hold-out, recorded in the journal before it is opened.

        None where there are no stored sessions, and so no family of forks.
        """
        return await recorded_look(self.step, self.records) if self.records else None

    async def current_fit_slots(self) -> int:
        """Return the number of fits that the workers compute at a time, recorded and replayed likewise."""
        return await recorded_fit_slots(self.step, "hands", self.fit_slots)
