"""Scripted servers of each provider's own wire format on loopback, plain and streamed.

`answer` gets the offered tools and the number of answered requests, and returns the call to make.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
ToolCall = tuple[str, Json]
TEXT = "I go on."
KEY, MODEL = "planted-key", "known-model"
USAGE = (120, 15)
"""Tokens of a request and of an answer."""


@dataclass
class WireServer:
    """A server that knows one key and one model; `requests` are path and body of those that were asked.

    `headers` are those of the latest request."""

    answer: Callable[[int], ToolCall]
    port: int = 0
    requests: list[tuple[str, Json]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    answer_count: int = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving_wires(answer: Callable[[int], ToolCall]) -> Iterator[WireServer]:
    wires = WireServer(answer)
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.wires, wires.port = wires, server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield wires
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    wires: WireServer
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    """Connections end with their answer: clients without a `close` would leave them open to the loop's end."""

    @property
    def wires(self) -> WireServer:
        wires: WireServer = self.server.wires  # type: ignore[attr-defined]  # always served by _Server
        return wires

    def do_GET(self) -> None:
        if not self._has_key():
            return self._send(401, {"error": {"message": "wrong key"}})
        *_, last = self.path.split("?")[0].split("/")
        if last == "key":
            return self._send(200, {"data": {}})
        if last == "models":
            return self._send(200, {"data": [{"id": MODEL}]})
        return self._send(200 if last == MODEL else 404, {"id": last})

    def do_POST(self) -> None:
        body: Json = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._has_key() and "/api/" not in self.path:
            return self._send(401, {"error": {"message": "wrong key"}})
        if self.path == "/api/show":
            return self._send(200 if body["model"] == MODEL else 404, {})
        self.wires.requests.append((self.path, body))
        self.wires.headers = dict(self.headers)
        name, arguments = self.wires.answer(self.wires.answer_count)
        self.wires.answer_count += 1
        if "messages" in self.path:
            return self._anthropic(body, name, arguments)
        if "enerateContent" in self.path:
            return self._google(name, arguments)
        if self.path.endswith("/api/chat"):
            return self._ollama(name, arguments)
        return self._openai(body, name, arguments)

    def _has_key(self) -> bool:
        values = (self.headers.get("Authorization", "").removeprefix("Bearer "), self.headers.get("x-api-key"))
        return KEY in (*values, self.headers.get("x-goog-api-key")) or f"key={KEY}" in self.path

    def _anthropic(self, body: Json, name: str, arguments: Json) -> None:
        call = {"type": "tool_use", "id": f"toolu_{self.wires.answer_count}", "name": name}
        head = {
            "id": "msg",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "stop_sequence": None,
        }
        usage = {"input_tokens": USAGE[0], "output_tokens": USAGE[1]}
        text = {"type": "text", "text": TEXT}
        if not body.get("stream"):
            content = [text, {**call, "input": arguments}]
            return self._send(200, {**head, "content": content, "stop_reason": "tool_use", "usage": usage})
        pieces = (
            (text | {"text": ""}, {"type": "text_delta", "text": TEXT}),
            ({**call, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}),
        )
        events: list[Json] = [
            {"type": "message_start", "message": {**head, "content": [], "stop_reason": None, "usage": usage}}
        ]
        for index, (block, delta) in enumerate(pieces):
            events += [
                {"type": "content_block_start", "index": index, "content_block": block},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        events += [
            {
                "type": "message_delta",
                "delta": {"stop_reason": "tool_use", "stop_sequence": None},
                "usage": usage,
            },
            {"type": "message_stop"},
        ]
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
        return self._stream("text/event-stream", lines)

    def _google(self, name: str, arguments: Json) -> None:
        parts = [{"text": TEXT}, {"functionCall": {"name": name, "args": arguments}}]
        usage = {
            "promptTokenCount": USAGE[0],
            "candidatesTokenCount": USAGE[1],
            "totalTokenCount": sum(USAGE),
        }
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": MODEL}
        if "stream" in self.path:
            return self._stream("text/event-stream", [f"data: {json.dumps(answer)}\r\n\r\n"])
        return self._send(200, answer)

    def _ollama(self, name: str, arguments: Json) -> None:
        call = {"function": {"name": name, "arguments": arguments}}
        message = {"role": "assistant", "content": TEXT, "tool_calls": [call]}
        head = {"model": MODEL, "created_at": "2026-01-01T00:00:00Z"}
        end = {"done": True, "done_reason": "stop", "prompt_eval_count": USAGE[0], "eval_count": USAGE[1]}
        lines = [
            {**head, "message": message, "done": False},
            {**head, "message": {"role": "assistant", "content": ""}, **end},
        ]
        return self._stream("application/x-ndjson", [f"{json.dumps(line)}\n" for line in lines])

    def _openai(self, body: Json, name: str, arguments: Json) -> None:
        call = {
            "index": 0,
            "id": f"call_{self.wires.answer_count}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        message = {"role": "assistant", "content": TEXT, "tool_calls": [call]}
        total = {"prompt_tokens": USAGE[0], "completion_tokens": USAGE[1], "total_tokens": sum(USAGE)}
        head = {"id": "answer", "created": 0, "model": body["model"], "system_fingerprint": None}
        choice: Json = {"index": 0, "finish_reason": "tool_calls"}
        if not body.get("stream"):
            answer = {"object": "chat.completion", "choices": [{**choice, "message": message}], "usage": total}
            return self._send(200, head | answer)
        chunk = {**head, "object": "chat.completion.chunk"}
        chunks: list[Json] = [
            {**chunk, "choices": [{**choice, "finish_reason": None, "delta": message}]},
            {**chunk, "choices": [{**choice, "delta": {}}]},
            {**chunk, "choices": [], "usage": total},
        ]
        lines = [*(f"data: {json.dumps(part)}\n\n" for part in chunks), "data: [DONE]\n\n"]
        return self._stream("text/event-stream", lines)

    def _send(self, status: int, body: Json) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, media_type: str, lines: list[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.end_headers()
        for line in lines:
            self.wfile.write(line.encode())

    def log_message(self, *_: Any) -> None: ...
