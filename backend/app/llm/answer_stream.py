"""Streamed answer of a chat model: its text for the listener of this task, its tool calls as they were sent.

LangChain completes JSON that was cut off, so that half a call looks complete; the text of the calls shows it.
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
    """A stream that went on far beyond the requested length."""


@dataclass
class StreamedAnswer:
    """One answer. `calls`: JSON text of each tool call's arguments, by index.

    `max_characters`: limit on text and arguments together. `is_complete`: the provider reported the end.
    """

    on_text: OnText
    max_characters: int
    length: int = 0
    is_streamed: bool = False
    is_complete: bool = False
    calls: dict[int, str] = field(default_factory=dict)

    def add_chunk(self, chunk: Any) -> None:
        """Add a ChatGenerationChunk. Raises AnswerTooLong."""
        self.is_streamed = True
        message = chunk.message
        metadata = {**(chunk.generation_info or {}), **message.response_metadata}
        # Not by the last chunk alone: some providers send one with the usage after that with the reason.
        self.is_complete = self.is_complete or any(metadata.get(end) for end in _FINISH_KEYS)
        for call in message.tool_call_chunks:
            # A provider that sends calls undivided gives them no index.
            index = len(self.calls) if call["index"] is None else call["index"]
            arguments = call["args"] or ""
            self.calls[index] = self.calls.get(index, "") + arguments
            self.length += len(arguments)
        self.length += len(message.text)
        if self.length > self.max_characters:
            raise AnswerTooLong(f"The answer was cut after {self.max_characters:,} characters.")

    @property
    def arguments(self) -> list[str]:
        """Arguments of each tool call, in call order."""
        # By index, not arrival: chunks of calls that are made at once may come interleaved.
        return [self.calls[index] for index in sorted(self.calls)]


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
    """Passes text to the listener. LangChain lets a provider stream for handlers with the two `tap` methods."""

    # LangChain logs the errors of handlers and goes on; AnswerTooLong has to end the stream.
    raise_error = True

    async def on_llm_new_token(self, token: str | list[Any], *, chunk: Any = None, **kwargs: Any) -> None:
        answer = _LISTENER.get()
        if answer is None:
            return
        if chunk is not None:
            answer.add_chunk(chunk)
        text = chunk.message.text if chunk is not None else token  # Anthropic's tokens are blocks of content
        if isinstance(text, str) and text:
            answer.on_text(text)

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[T]) -> AsyncIterator[T]:
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[T]) -> Iterator[T]:
        return output
