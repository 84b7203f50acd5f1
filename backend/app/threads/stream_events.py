"""The events of a turn as a conversation shows them, made from the events of its session.

`status`, `token`, `tool_call`, `tool_result`, `chart`, `table`, `clarification`, `approval`, `result`, `error`,
`done`. The last of those that one durable event becomes has its number as the cursor.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.sessions.events.serialization import EventMessage
from app.threads.roles import ASSISTANT, current_role

Json = Mapping[str, Any]
ChatEvent = tuple[str, dict[str, Any]]


@dataclass
class TurnTranslation:
    """The translation of one stream, whose `token` events add up to the answer, each word once.

    Of a stream that begins in the middle of an answer words come once all of them do: with their repetition, or
    with the recorded message.
    """

    turn_id: str
    _answer: tuple[int, int, str, int] | None = field(default=None)
    """The answer whose words came last: its step, attempt, agent and number."""
    _words: str = field(default="")
    """The words of that answer that were sent on."""

    def translate(self, event: EventMessage) -> list[EventMessage]:
        body: Json = json.loads(event.data)
        make = _TRANSLATIONS.get(event.kind)
        events = make(self, body) if make else []
        if not events and event.seq is not None:
            return []
        return [
            EventMessage(
                # Only the last has the cursor: whoever comes back after the first would miss the others.
                event.seq if place == len(events) else None,
                kind,
                json.dumps({**values, "created_at": body.get("created_at")}, separators=(",", ":")),
            )
            for place, (kind, values) in enumerate(events, 1)
        ]

    def _token(self, body: Json) -> list[ChatEvent]:
        """Send those words on that follow the words that were sent."""
        answer = (body["step"], body["attempt"], body["agent"], body["answer"])
        if answer != self._answer:
            self._answer, self._words = answer, ""
        # Words between were missed: sending these would leave a hole that no later event fills.
        if body["start"] > len(self._words):
            return []
        return self._send(str(body["text"])[len(self._words) - body["start"] :])

    def _message(self, body: Json) -> list[ChatEvent]:
        """Send the words of a message that did not come while they were written."""
        # The message ends its answer, so that the same words may come again as those of another.
        words, self._answer, self._words = self._words, None, ""
        text = str(body["text"])
        # Another text than the words on the screen, such as a refusal after them: the result has it.
        if current_role(body["role"]) != ASSISTANT or not text.startswith(words):
            return []
        return [("token", {"text": text[len(words) :]})] if len(text) > len(words) else []

    def _send(self, text: str) -> list[ChatEvent]:
        self._words += text
        return [("token", {"text": text})] if text else []

    def _status(self, stage: str) -> list[ChatEvent]:
        return [("status", {"stage": stage, "turn_id": self.turn_id})]

    def _queued(self, body: Json) -> list[ChatEvent]:
        queue = {"position": body["position"], "length": body["length"]}
        return [("status", {"stage": "queued", "turn_id": self.turn_id, "queue": queue})]

    def _tool_call(self, body: Json) -> list[ChatEvent]:
        call = {"id": body["call"], "name": body["tool"], "arguments": body["arguments"]}
        return [*self._status("executing"), ("tool_call", call)]

    def _tool_result(self, body: Json) -> list[ChatEvent]:
        result = {
            "id": body["call"],
            "name": body["tool"],
            "status": "refused" if body["failed"] else "ok",
            "summary": body["summary"],
            "duration_ms": body["duration_ms"],
        }
        return [("tool_result", result)]

    def _artifact(self, body: Json) -> list[ChatEvent]:
        # Models and files have no place in a conversation's stream; the turn lists them.
        if body["artifact_kind"] not in ("chart", "table", "figure"):
            return []
        kind = "table" if body["artifact_kind"] == "table" else "chart"
        description = {name: body[name] for name in ("artifact", "name", "media_type", "size_bytes")}
        return [(kind, description)]

    def _question(self, body: Json) -> list[ChatEvent]:
        kind = "approval" if body["question_kind"] == "approval" else "clarification"
        question = {name: value for name, value in body.items() if name not in ("kind", "seq", "created_at")}
        return [(kind, question)]

    def _finished(self, body: Json) -> list[ChatEvent]:
        result = body["result"]
        failure = result.get("failure")
        status = "failed" if failure else "succeeded"
        events: list[ChatEvent] = [("result", {"turn_id": self.turn_id, **result})]
        if failure:
            events.append(("error", failure))
        return [*events, self._done(status)]

    def _failed(self, body: Json) -> list[ChatEvent]:
        return [("error", {"code": body["code"], "message": body["detail"]}), self._done("failed")]

    def _done(self, status: str) -> ChatEvent:
        return "done", {"turn_id": self.turn_id, "status": status}


_TRANSLATIONS: Mapping[str, Callable[[TurnTranslation, Json], list[ChatEvent]]] = {
    "session_started": lambda stream, _: stream._status("received"),
    "session_queued": TurnTranslation._queued,
    "step_started": lambda stream, _: stream._status("thinking"),
    "progress": lambda stream, body: [
        ("status", {"stage": "executing", "turn_id": stream.turn_id, "text": body["text"]})
    ],
    "token": TurnTranslation._token,
    "message": TurnTranslation._message,
    "tool_called": TurnTranslation._tool_call,
    "tool_returned": TurnTranslation._tool_result,
    "artifact_saved": TurnTranslation._artifact,
    "clarification_asked": TurnTranslation._question,
    "session_finished": TurnTranslation._finished,
    "session_failed": TurnTranslation._failed,
    "session_cancelled": lambda stream, _: [stream._done("cancelled")],
}
