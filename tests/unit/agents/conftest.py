"""Agents on their own: real tools over tables that exist as profiles only, a journal in memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from app.agents.roster import assemble_crew
from app.agents.runtime.agent_loop import Agent, AgentResult, Check
from app.agents.runtime.conversation import make_brief_message, to_data_block
from app.artifacts.workspace import FrameRef
from app.datasets.dataset_source import DatasetRef
from app.datasets.session_datasets import find_dataset
from app.llm.config import ChatConfig
from app.llm.offline_chat_model import Decide
from app.modeling.problem.name_resolution import resolve_name
from app.sessions.in_memory import MemoryJournal, MemoryStep
from app.sessions.step_scope import SessionFacts
from app.tools.context.tool_context import ToolContext, TrainingContext
from app.tools.toolsets import Toolsets


@dataclass
class Shelf:
    datasets: list[DatasetRef] = field(default_factory=list)

    async def list(self) -> Sequence[DatasetRef]:
        return self.datasets

    async def get(self, name: str) -> DatasetRef:
        return find_dataset(self.datasets, name)


@dataclass
class Frames:
    frame_refs: dict[str, FrameRef] = field(default_factory=dict)

    async def frame(self, name: str) -> FrameRef:
        return self.frame_refs[resolve_name(name, self.frame_refs, "frame")]

    async def frames(self) -> list[FrameRef]:
        return list(self.frame_refs.values())

    async def artifact(self, kind: str, name: str) -> FrameRef:
        return await self.frame(name)

    async def artifacts(self, kind: str) -> list[FrameRef]:
        return await self.frames()

    async def is_split(self) -> bool:
        return False


def column(name: str, hint: str = "numeric", distinct: int = 500, **more: Any) -> dict[str, Any]:
    """One column of a profile, as an upload has it."""
    types = {"numeric": "number", "boolean": "boolean", "datetime": "datetime", "id": "integer"}
    top = [{"value": value, "count": 1} for value in more.pop("top", ())]
    base = {"name": name, "type": types.get(hint, "text"), "hint": hint, "distinct": distinct, "missing": 0.0}
    return {**base, "unique": hint == "id", "top": top, **more}


def table(name: str, columns: Sequence[Mapping[str, Any]], rows: int = 1000) -> DatasetRef:
    profile = {"rows": rows, "columns": [dict(entry) for entry in columns]}
    plain = [{"name": entry["name"], "type": entry["type"]} for entry in columns]
    return DatasetRef(UUID(int=len(name)), name, name, "0" * 64, rows, plain, profile)


TABLES: dict[str, DatasetRef] = {
    entry.table: entry
    for entry in (
        table(
            "titanic",
            [
                column("PassengerId", "id", 1300),
                column("name", "text", 1300),
                column("pclass", "numeric", 3, type="integer"),
                column("sex", "category", 2, top=["male", "female"]),
                column("age", missing=0.2),
                column("cabin", "text", 180, missing=0.77),
                column("fare"),
                column("survived", "numeric", 2, type="integer", top=[0, 1]),
            ],
        ),
        table(
            "houses",
            [
                column("house_id", "id", 1000),
                column("sqft_living"),
                column("bedrooms", "numeric", 8, type="integer"),
                column("city", "category", 20),
                column("year_built", type="integer"),
                column("SalePrice", min=50_000, max=900_000),
            ],
        ),
        table(
            "stock",
            [
                column("date", "datetime", 1000, min="2020-01-01T00:00:00", max="2022-09-26T00:00:00"),
                *(column(name) for name in ("open", "high", "low", "close", "volume")),
            ],
        ),
        table(
            "hourly",
            [
                column("ts", "datetime", 1000, min="2024-01-01T00:00:00", max="2024-02-11T15:00:00"),
                column("temperature"),
                column("demand"),
            ],
        ),
        table(
            "customers",
            [
                column("customer_id", "id", 1000),
                column("plan", "category", 4),
                column("tenure_months"),
                column("monthly_charges"),
                column("Churn", "category", 2, top=["No", "Yes"]),
            ],
        ),
        table(
            "orders",
            [
                column("order_id", "id", 1000),
                column("customer_id", "category", 300, type="integer"),
                column("total"),
            ],
        ),
        table(
            "tumors",
            [
                column("radius"),
                column("texture"),
                column("diagnosis", "category", 2, top=["benign", "malignant"]),
            ],
        ),
        table(
            "wine",
            [column("alcohol"), column("acidity"), column("quality", "numeric", 6, type="integer")],
        ),
        table("flowers", [column("petal_length"), column("sepal_length"), column("species", "category", 3)]),
        table("cars", [column("horsepower"), column("weight"), column("mpg"), column("origin", "category", 3)]),
    )
}


def facts(goal: str = "", preferences: Mapping[str, Any] | None = None) -> SessionFacts:
    return SessionFacts(UUID(int=1), UUID(int=2), goal, dict(preferences or {}), (), 0, datetime.now(UTC))


@dataclass
class Bench:
    """Runs one agent once. `journal` is what it recorded."""

    journal: MemoryJournal = field(default_factory=MemoryJournal)
    shelf: Shelf = field(default_factory=Shelf)
    frames: Frames = field(default_factory=Frames)
    computer: Any = None
    training_context: TrainingContext | None = None
    crew: Mapping[str, Agent[Any]] = field(default_factory=lambda: assemble_crew(ChatConfig(), Toolsets()))

    async def run(
        self,
        part: str,
        brief: Mapping[str, Any],
        preferences: Mapping[str, Any] | None = None,
        check: Check[Any] | None = None,
    ) -> AgentResult[Any]:
        agent = self.crew[part]
        step = MemoryStep(facts(str(brief.get("goal", "")), preferences), self.journal)
        ctx = ToolContext(
            agent.role.name,
            step,
            self.frames,
            self.shelf,
            self.computer,
            training_context=self.training_context,
        )
        return await agent.run(ctx, dict(brief), check)

    @property
    def tools(self) -> list[str]:
        return [call.name for call, _ in self.journal.recorded if call.kind == "tool"]

    @property
    def questions(self) -> list[str]:
        return [question.text for question in self.journal.questions]


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def tables() -> Mapping[str, DatasetRef]:
    return TABLES


@pytest.fixture
def make_column() -> Callable[..., dict[str, Any]]:
    return column


@pytest.fixture
def make_table() -> Callable[..., DatasetRef]:
    return table


def conversation(brief: Mapping[str, Any], *calls: tuple[str, Mapping[str, Any], Any]) -> list[Any]:
    """Messages of an agent that made these calls and got these answers."""
    messages: list[Any] = [make_brief_message(dict(brief))]
    for place, (name, arguments, value) in enumerate(calls):
        call = tool_call(name=name, args=dict(arguments), id=f"call_{place}")
        messages += [
            AIMessage("", tool_calls=[call]),
            ToolMessage(to_data_block(value), tool_call_id=call["id"]),
        ]
    return messages


@pytest.fixture
def next_message() -> Callable[..., AIMessage]:
    """`next_message(decide, brief, *answered)`: the message of the call that a policy makes next."""
    return lambda decide, brief, *calls: decide(conversation(brief, *calls))


@pytest.fixture
def next_call() -> Callable[..., tuple[str, dict[str, Any]]]:
    """`next_call(decide, brief, *answered)`: the call that a policy makes next."""

    def decided(decide: Decide, brief: Mapping[str, Any], *calls: Any) -> tuple[str, dict[str, Any]]:
        message = decide(conversation(brief, *calls))
        [tool_call_made] = message.tool_calls
        return tool_call_made["name"], tool_call_made["args"]

    return decided
