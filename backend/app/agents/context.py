"""What a node of the pipeline may use."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.agents.loop import Agent
from app.artifacts.workspace import Workspace
from app.datasets.prices import Prices
from app.datasets.shelf import DatasetShelf
from app.sandbox.computer import Computer
from app.sessions.records import SessionRecords
from app.sessions.scope import Call, Recorded, StepScope
from app.tools.context import Study, ToolContext

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

    def tools(self, agent: str, study: Study | None = None) -> ToolContext:
        """The context of an agent's tools in this step."""
        return ToolContext(
            agent,
            self.step,
            self.frames,
            self.datasets,
            self.computer,
            settled=study,
            records=self.records,
            prices=self.prices,
        )

    async def clock(self, key: str) -> float:
        """Seconds since the epoch, read once and then replayed: what is chosen by it can be repeated."""

        async def read() -> Recorded:
            return Recorded(value=datetime.now(UTC).timestamp())

        value = await self.step.call(Call(f"clock:{key}", "choice", "clock", "pipeline", {}), read)
        return float(value) if isinstance(value, int | float) else 0.0
