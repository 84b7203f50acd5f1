"""A scripted chat model that knows the right calls to the questions of a suite, from their programs.

It proves the environment, not the crew: a right program has to reach the result and the report, in three calls
and few tokens. By hand, over the real service (the second command in another terminal); the first prints the
output and the prompt tokens of each request:

    python -m tests.suite_model hundred 8099
    LLM_MODEL=openai:scripted LLM_BASE_URL=http://127.0.0.1:8099/v1 OPENAI_API_KEY=none labcrew eval hundred
"""

import json
import sys
import threading
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from tests.scripted_chat import ScriptedChat, messages_of, output_of, serving

from app.agents.runtime.conversation import read_conversation
from app.cli.scoring.suite import Item, Suite, read_suite


@dataclass(frozen=True)
class SuiteModel:
    """Answers the requests of a session by the item whose goal it has. Raises KeyError for another goal."""

    suite: Suite

    def __call__(self, request: dict[str, Any], _: int) -> AIMessage:
        messages = messages_of(request["messages"])
        brief = read_conversation(messages).brief
        item = {item.goal: item for item in self.suite.items}[brief["goal"]]
        match output_of(request), any(isinstance(message, ToolMessage) for message in messages):
            case "Plan", _:
                [table] = brief["tables"]
                plan = {"question": item.goal, "tables": [table["table"]], "target": _first_column(table)}
                return _call("Plan", {**plan, "steps": ["Answer the question."]})
            case "Answer", False:
                return _call("answer_by_program", {"code": item.program})
            case "Answer", True:
                return _call("Answer", _answer(item))
        raise AssertionError(f"{output_of(request)} was asked for.")


def prompt_tokens(request: dict[str, Any]) -> int:
    """Estimate the tokens of a request with the schemas of its tools, at four bytes a token."""
    return len(json.dumps([request["messages"], request["tools"]], ensure_ascii=False).encode()) // 4


def _report(request: dict[str, Any]) -> None:
    print(output_of(request), prompt_tokens(request), flush=True)  # noqa: T201 - for whoever counts them


def _answer(item: Item) -> dict[str, Any]:
    if item.expect.text is None:
        return {}
    return {"text": item.expect.text, "values": item.expect.cells}


def _first_column(table: dict[str, Any]) -> str:
    name: str = table["columns"][0]["name"]
    return name


def _call(name: str, arguments: dict[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=[tool_call(name=name, args=arguments, id=None)])


if __name__ == "__main__":
    model = SuiteModel(read_suite(sys.argv[1]))
    with serving(ScriptedChat(model, _report, port=int(sys.argv[2]))) as running:
        print(running.base_url, flush=True)  # noqa: T201 - for whoever started it
        threading.Event().wait()
