"""A chat model's answer as it comes: its words for whoever listens in this task, its calls as they were sent.

LangChain completes JSON that was cut, so that half a call looks like a whole one; here it is seen.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler

OnText = Callable[[str], None]
T = TypeVar("T")

_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason")


class AnswerTooLong(Exception):
    """A stream that went on although it was asked to end long before."""


@dataclass
class StreamedAnswer:
    """One answer. `calls`: its tool calls' arguments as sent; `ended`: the provider said that it is whole.

    `max_characters`: limit on the length of the answer.
    """

    on_text: OnText
    max_characters: int
    length: int = 0
    is_streamed: bool = False
    is_complete: bool = False
    calls: dict[int, str] = field(default_factory=dict)

    def add_chunk(self, chunk: Any) -> None:
        """A piece of the answer, a ChatGenerationChunk. Raises AnswerTooLong."""
        self.is_streamed = True
        message = chunk.message
        metadata = {**(chunk.generation_info or {}), **message.response_metadata}
        self.is_complete = self.is_complete or any(metadata.get(end) for end in _FINISH_KEYS)
        for piece in message.tool_call_chunks:
            place = len(self.calls) if piece["index"] is None else piece["index"]
            self.calls[place] = self.calls.get(place, "") + (piece["args"] or "")
            self.length += len(piece["args"] or "")
        self.length += len(message.text)
        if self.length > self.max_characters:
            raise AnswerTooLong(f"The answer was cut after {self.max_characters:,} characters.")

    @property
    def arguments(self) -> list[str]:
        """Arguments of each tool call, in call order."""
        return [self.calls[place] for place in sorted(self.calls)]


_LISTENER: ContextVar[StreamedAnswer | None] = ContextVar("listener", default=None)


@contextmanager
def record_stream(on_text: OnText, max_characters: int) -> Iterator[StreamedAnswer]:
    """Record the answer that a chat model streams inside the block, if its provider streams."""
    answer = StreamedAnswer(on_text, max_characters)
    token = _LISTENER.set(answer)
    try:
        yield answer
    finally:
        _LISTENER.reset(token)


class StreamCallback(AsyncCallbackHandler):
    """Passes words on. LangChain asks a provider to stream for a handler with the two `tap` methods."""

    raise_error = True

    async def on_llm_new_token(self, token: str | list[Any], *, chunk: Any = None, **kwargs: Any) -> None:
        answer = _LISTENER.get()
        if answer is None:
            return
        if chunk is not None:
            answer.add_chunk(chunk)
        if isinstance(token, str) and token:
            answer.on_text(token)

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[T]) -> AsyncIterator[T]:
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[T]) -> Iterator[T]:
        return output
