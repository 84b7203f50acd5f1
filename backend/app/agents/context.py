"""What a node of the pipeline may use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.agents.runtime.loop import Agent
from app.artifacts.workspace import Workspace
from app.datasets.dataset_source import DatasetShelf
from app.datasets.prices import Prices
from app.sandbox.computer import Computer
from app.sessions.recorded_facts import SessionRecords
from app.sessions.step_scope import StepScope
from app.tools.clock import CountFitSlots, one_fit_slot, recorded_fit_slots, recorded_work_s
from app.tools.context import ToolContext, TrainingContext

Crew = Mapping[str, Agent[Any]]
"""The agents of a process by name."""


@dataclass(frozen=True)
class LabContext:
    """The runtime context of every node: one step of one session, its data, cells, and the crew."""

    step: StepScope
    frames: Workspace
    datasets: DatasetShelf
    computer: Computer
    crew: Crew
    records: SessionRecords | None = None
    prices: Prices | None = None
    hands: CountFitSlots = one_fit_slot

    def tools(self, agent: str, study: TrainingContext | None = None) -> ToolContext:
        """The context of an agent's tools in this step."""
        return ToolContext(
            agent,
            self.step,
            self.frames,
            self.datasets,
            self.computer,
            training_context=study,
            records=self.records,
            prices=self.prices,
        )

    async def clock(self, key: str) -> float:
        """The session's working time in seconds, read once and then replayed."""
        return await recorded_work_s(self.step, key)

    async def hands_now(self) -> int:
        """Fits that the fleet computes at a time, asked once and then replayed."""
        return await recorded_fit_slots(self.step, "hands", self.hands)
