"""The offline planner on made schemas: a conversation up to its plan or its first question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from app.agents.planner.offline_rules import decide
from app.agents.planner.output import Plan
from app.agents.runtime.conversation import make_brief_message, to_data_block

MAX_TURNS = 5
"""Turns of a conversation: tables, schemas, prices, and the plan or question."""


@dataclass(frozen=True)
class PlannerQuestion:
    """A question of the planner with its options."""

    text: str
    options: tuple[str, ...]


def run_planner(
    goal: str,
    schemas: Sequence[dict[str, Any]],
    answers: Sequence[str] = (),
    preferences: Mapping[str, Any] | None = None,
) -> Plan | PlannerQuestion:
    """Run the planner on a goal over tables with these schemas, as `get_dataset_schema` returns them.

    `answers`: what the user answers to its questions; the first question beyond them ends the conversation.
    """
    waiting = list(answers)
    messages: list[Any] = [make_brief_message({"goal": goal, "preferences": preferences or {}})]
    values: dict[tuple[str, str | None], Any] = {
        ("list_datasets", None): {"datasets": [{"table": schema["table"]} for schema in schemas]}
    }
    values |= {("get_dataset_schema", schema["table"]): schema for schema in schemas}
    for turn in range(MAX_TURNS + len(answers)):
        requests = [(call["name"], call["args"]) for call in decide(messages).tool_calls]
        name, arguments = requests[0]
        if name == "Plan":
            return Plan.model_validate(arguments)
        if name == "ask_user" and not waiting:
            return PlannerQuestion(str(arguments["question"]), tuple(arguments.get("options", ())))
        for place, (name, arguments) in enumerate(requests):
            call = tool_call(name=name, args=arguments, id=f"call_{turn}_{place}")
            value = values.get((name, arguments.get("dataset")), {"coins": []})
            if name == "ask_user":
                value = {"answer": waiting.pop(0)}
            messages += [
                AIMessage("", tool_calls=[call]),
                ToolMessage(to_data_block(value), tool_call_id=call["id"]),
            ]
    raise AssertionError(f"no plan and no question for {goal!r}")
