"""An OpenAI-compatible server, by LLM_MODEL and LLM_BASE_URL: the same crew, over real HTTP."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from app.agents.roster import assemble
from app.llm.config import ChatConfig
from app.tools.toolsets import Toolsets

CALLS = [
    ("list_datasets", {}),
    ("get_dataset_schema", {"dataset": "titanik"}),
    ("get_dataset_schema", {"dataset": "titanic"}),
    ("Plan", {"target": "survived", "tables": ["titanic"], "metric": "roc_auc"}),
]


class Server(ThreadingHTTPServer):
    """Answers with one tool call after the other, and keeps what it was asked."""

    asked: list[dict[str, Any]]


class Completions(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.asked.append({"path": self.path, "key": self.headers["Authorization"], **asked})
        name, arguments = CALLS[len(server.asked) - 1]
        function = {"name": name, "arguments": json.dumps(arguments)}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{len(server.asked)}", "type": "function", "function": function}],
        }
        body = json.dumps(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": "local",
                "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
                "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Completions) as running:
        running.asked = []
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


async def test_the_planner_works_over_an_openai_compatible_server(bench, tables, server):
    bench.shelf.datasets = [tables["titanic"]]
    config = ChatConfig("openai:local", base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="k")
    bench.crew = assemble(config, Toolsets())
    thought = await bench.run("planner", {"goal": "Who survived?", "preferences": {}})
    assert (thought.output.target, thought.output.metric) == ("survived", "roc_auc")
    first, *_, last = server.asked
    assert (first["path"], first["key"], first["model"]) == ("/v1/chat/completions", "Bearer k", "local")
    offered = {tool["function"]["name"] for tool in first["tools"]}
    assert offered == {"list_datasets", "get_dataset_schema", "ask_user", "Plan"}
    assert "Did you mean titanic?" in last["messages"][5]["content"]
    chats = [recorded for call, recorded in bench.journal.recorded if call.kind == "chat"]
    assert [recorded.usage for recorded in chats] == [{"input_tokens": 11, "output_tokens": 7}] * 4
