"""A chat model's words as they come, for whoever listens in this task."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler

Hear = Callable[[str], None]
T = TypeVar("T")

_LISTENER: ContextVar[Hear | None] = ContextVar("listener", default=None)


@contextmanager
def listening(hear: Hear) -> Iterator[None]:
    """Every word of chat models called inside is heard, if their provider streams."""
    token = _LISTENER.set(hear)
    try:
        yield
    finally:
        _LISTENER.reset(token)


class Words(AsyncCallbackHandler):
    """Passes words on. LangChain asks a provider to stream for a handler with the two `tap` methods."""

    async def on_llm_new_token(self, token: str | list[Any], **kwargs: Any) -> None:
        hear = _LISTENER.get()
        if hear and isinstance(token, str) and token:
            hear(token)

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[T]) -> AsyncIterator[T]:
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[T]) -> Iterator[T]:
        return output
