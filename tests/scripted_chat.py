"""A chat-completions server on loopback that speaks OpenAI's wire format, plain and streamed.

Its answers are the offline policies', decided from nothing but the messages that came over the wire, so a crew
on it does whatever the offline crew does, through every serialisation that a real provider needs. By hand:

    python -m tests.scripted_chat 8099
"""

import itertools
import json
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from app.agents.assistant.output import Reply
from app.agents.roster import make_roles
from app.agents.runtime.conversation import from_data_block, to_data_block
from app.agents.runtime.tool_call_repair import arguments_error

Json = dict[str, Any]
Fault = Literal["429", "500", "malformed", "refusal", "dropped", "cut", "half a call", "no json", "slow"]
"""`dropped`: no answer at all. `cut`: a stream that breaks off in a call. `half a call`: an answer that was
allowed no more words, in the middle of a call. `slow`: the right answer, a word at a time."""
Answer = Callable[[Json, int], AIMessage]
"""From a request body and how many were answered before to what the model says."""

_NUMBERS = itertools.count(1)
REFUSAL = "I cannot help with that."
CUT_ARGUMENTS = '{"target": "surv'


def by_policy(request: Json, _: int) -> AIMessage:
    """Answer by the offline policy of the requesting agent, which its output tool identifies."""
    [role] = [role for role in make_roles().values() if role.output.__name__ == output_of(request)]
    return role.decide(messages_of(request["messages"]))


def output_of(request: Json) -> str:
    """The output tool that is offered: it tells which part asks. The assistant ends with words, without one."""
    offered = {tool["function"]["name"] for tool in request["tools"]}
    outputs = (role.output.__name__ for role in make_roles().values())
    return next((output for output in outputs if output in offered), Reply.__name__)


def messages_of(wire: Sequence[Json]) -> list[BaseMessage]:
    """The conversation as it was before it was serialised."""
    return [_message(wire_message) for wire_message in wire]


def _message(wire: Json) -> BaseMessage:
    text = wire.get("content") or ""
    match wire["role"]:
        case "system":
            return SystemMessage(text)
        case "user":
            return HumanMessage(text)
        case "tool":
            return ToolMessage(_restore_lists(text), tool_call_id=wire["tool_call_id"])
        case "assistant":
            tool_calls = [_call(wire_message) for wire_message in wire.get("tool_calls") or ()]
            return AIMessage(text, tool_calls=[wire_message for wire_message in tool_calls if wire_message])
        case role:
            raise ValueError(f"Nobody is called {role!r}.")


def _call(wire: Json) -> Any:
    """None for a call whose arguments were malformed: it is answered, and then asked anew."""
    arguments = json.loads(wire["function"]["arguments"])
    if arguments_error(arguments):
        return None
    return tool_call(name=wire["function"]["name"], args=arguments, id=wire["id"])


def _restore_lists(text: str) -> str:
    """Policies know no lists that were shortened for a provider: what stands for the rest is left out."""
    value = from_data_block(text)
    return text if value is None else to_data_block(_without_rest(value))


def _without_rest(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_rest(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = value[:-1] if value and isinstance(value[-1], str) and value[-1].startswith("... and ") else value
    return [_without_rest(item) for item in items]


@dataclass
class ScriptedChat:
    """Answers and faults of the server.

    `faults`: fault of the n-th request, from 0; `agent_faults`: fault of the n-th request of every agent.
    `requests`: all received requests. `hear` is called with each before it is answered.
    """

    answer: Answer = by_policy
    hear: Callable[[Json], None] = lambda _: None
    faults: Mapping[int, Fault] = field(default_factory=dict)
    agent_faults: Sequence[Fault] = ()
    heard_from: Counter[str] = field(default_factory=Counter)
    requests: list[Json] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    port: int = 0
    answer_count: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def take(self, request: Json) -> tuple[Fault | None, AIMessage | None]:
        with self.lock:
            fault = self.faults.get(len(self.requests)) or self._next_of(request)
            self.requests.append(request)
            if fault and fault != "slow":
                return fault, None
            message = self.answer(request, self.answer_count)
            self.answer_count += 1
            return fault, message

    def _next_of(self, request: Json) -> Fault | None:
        agent = output_of(request)
        self.heard_from[agent] += 1
        return (
            self.agent_faults[self.heard_from[agent] - 1]
            if self.heard_from[agent] <= len(self.agent_faults)
            else None
        )


@contextmanager
def serving(chat: ScriptedChat) -> Iterator[ScriptedChat]:
    """Serve at a free port (or `chat.port`) until the block ends; a failure of a policy rises there."""
    with _Server(("127.0.0.1", chat.port), _Completions) as server:
        server.chat = chat
        chat.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield chat
        finally:
            server.shutdown()
            thread.join()
    if chat.failures:
        raise chat.failures[0]


class _Server(ThreadingHTTPServer):
    chat: ScriptedChat
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # whoever asked may have died
            super().handle_error(request, client_address)


class _Completions(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        chat: ScriptedChat = self.server.chat  # type: ignore[attr-defined]  # always served by _Server
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request |= {"path": self.path, "key": self.headers["Authorization"]}
        try:
            chat.hear(request)
            fault, message = chat.take(request)
        except Exception as error:  # noqa: BLE001 - rises in `serving`
            chat.failures.append(error)
            return self._refuse(400, f"{type(error).__name__}: {error}")
        match fault:
            case "429":
                return self._refuse(429, "Slow down.", {"Retry-After": "0.1"})
            case "500":
                return self._refuse(500, f"Something broke for {request['key']}.")
            case "dropped":
                return self._drop()
            case "no json":
                return self._send_raw(200, b"<html>A proxy says hello.</html>", {"Content-Type": "text/html"})
        wire = _wire(message) if message else FAULTY[str(fault)]
        usage = _usage(request, wire)
        if request.get("stream"):
            wants_usage = (request.get("stream_options") or {}).get("include_usage")
            return self._stream(wire, usage if wants_usage else None, fault)
        if fault == "cut":
            return self._drop()
        choice = {"index": 0, "message": wire, "finish_reason": _finish(wire, fault)}
        return self._send(200, {**_head("chat.completion"), "choices": [choice], "usage": usage})

    def _drop(self) -> None:
        """The connection ends without a word."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _refuse(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, {"error": {"message": text, "type": "scripted", "code": None}}, headers)

    def _send(self, status: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
        self._send_raw(
            status, json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})}
        )

    def _send_raw(self, status: int, raw: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, wire: Json, usage: Json | None, fault: Fault | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for delta, ended in _deltas(wire):
            if fault == "cut" and ended:
                return
            if fault == "slow":
                time.sleep(0.01)  # a slow provider is what is tested
            choice = {"index": 0, "delta": delta, "finish_reason": _finish(wire, fault) if ended else None}
            self._event({**_head("chat.completion.chunk"), "choices": [choice]})
        if usage:
            self._event({**_head("chat.completion.chunk"), "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, body: Json) -> None:
        self.wfile.write(b"data: " + json.dumps(body).encode() + b"\n\n")

    def log_message(self, *_: Any) -> None: ...


def _wire(message: AIMessage) -> Json:
    calls = [
        _wire_call(str(call["name"]), json.dumps(call["args"]), place)
        for place, call in enumerate(message.tool_calls)
    ]
    plain = {"role": "assistant", "content": message.text or None}
    return {**plain, "tool_calls": calls} if calls else plain


def _wire_call(name: str, arguments: str, place: int) -> Json:
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{next(_NUMBERS)}_{place}", "type": "function", "function": function}


def _finish(wire: Json, fault: Fault | None) -> str:
    if fault == "half a call":
        return "length"
    return "tool_calls" if wire.get("tool_calls") else "stop"


FAULTY: dict[str, Json] = {
    "malformed": {
        "role": "assistant",
        "content": None,
        "tool_calls": [_wire_call("list_datasets", CUT_ARGUMENTS, 0)],
    },
    "refusal": {"role": "assistant", "content": None, "refusal": REFUSAL},
}
FAULTY |= dict.fromkeys(("cut", "half a call"), FAULTY["malformed"])


def _deltas(wire: Json) -> Iterator[tuple[Json, bool]]:
    """A message in pieces, and whether it ends with this one: words of its text, then each call's head and its
    arguments 40 characters a time."""
    yield {"role": "assistant", "content": ""}, False
    if wire.get("refusal"):
        yield {"refusal": wire["refusal"]}, False
    for word in (wire["content"] or "").split(" "):
        if word:
            yield {"content": word + " "}, False
    for place, call in enumerate(wire.get("tool_calls") or ()):
        name, text = call["function"]["name"], call["function"]["arguments"]
        head = {"index": place, "id": call["id"], "type": "function"}
        yield {"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]}, False
        for start in range(0, len(text), 40):
            piece = {"index": place, "function": {"arguments": text[start : start + 40]}}
            yield {"tool_calls": [piece]}, False
    yield {}, True


def _usage(request: Json, wire: Json) -> Json:
    prompt_tokens, completion_tokens = (
        max(1, len(json.dumps(text)) // 4) for text in (request["messages"], wire)
    )
    token_details = {"cached_tokens": prompt_tokens // 2}
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": token_details,
    }


def _head(kind: str) -> Json:
    return {"id": "scripted", "object": kind, "created": 0, "model": "scripted"}


if __name__ == "__main__":
    with serving(ScriptedChat(port=int(sys.argv[1]))) as running:
        print(running.base_url, flush=True)  # noqa: T201 - for whoever started it
        threading.Event().wait()
