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

Hear = Callable[[str], None]
T = TypeVar("T")

_ENDS = ("finish_reason", "stop_reason", "done_reason")


class AnswerTooLong(Exception):
    """A stream that went on although it was asked to end long before."""


@dataclass
class Heard:
    """One answer. `calls`: its tool calls' arguments as sent; `ended`: the provider said that it is whole.

    `longest`: characters that are listened to.
    """

    hear: Hear
    longest: int
    length: int = 0
    streamed: bool = False
    ended: bool = False
    calls: dict[int, str] = field(default_factory=dict)

    def take(self, chunk: Any) -> None:
        """A piece of the answer, a ChatGenerationChunk. Raises AnswerTooLong."""
        self.streamed = True
        message = chunk.message
        said = {**(chunk.generation_info or {}), **message.response_metadata}
        self.ended = self.ended or any(said.get(end) for end in _ENDS)
        for piece in message.tool_call_chunks:
            place = len(self.calls) if piece["index"] is None else piece["index"]
            self.calls[place] = self.calls.get(place, "") + (piece["args"] or "")
            self.length += len(piece["args"] or "")
        self.length += len(message.text)
        if self.length > self.longest:
            raise AnswerTooLong(f"The answer was cut after {self.longest:,} characters.")

    @property
    def arguments(self) -> list[str]:
        """Of each call, in the order of the calls."""
        return [self.calls[place] for place in sorted(self.calls)]


_LISTENER: ContextVar[Heard | None] = ContextVar("listener", default=None)


@contextmanager
def listening(hear: Hear, longest: int) -> Iterator[Heard]:
    """What a chat model says inside is heard, if its provider streams."""
    heard = Heard(hear, longest)
    token = _LISTENER.set(heard)
    try:
        yield heard
    finally:
        _LISTENER.reset(token)


class Words(AsyncCallbackHandler):
    """Passes words on. LangChain asks a provider to stream for a handler with the two `tap` methods."""

    raise_error = True

    async def on_llm_new_token(self, token: str | list[Any], *, chunk: Any = None, **kwargs: Any) -> None:
        heard = _LISTENER.get()
        if heard is None:
            return
        if chunk is not None:
            heard.take(chunk)
        if isinstance(token, str) and token:
            heard.hear(token)

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[T]) -> AsyncIterator[T]:
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[T]) -> Iterator[T]:
        return output
