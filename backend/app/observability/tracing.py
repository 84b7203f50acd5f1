"""Spans by OpenTelemetry's conventions for generative AI: `invoke_agent`, `chat` and `execute_tool`.

Nothing is traced until `tracing` was opened with an address. A span carries names, counts, times and the type
of an error, never a message, an argument, a result or an error's text. All spans of one session share one
trace, whose id is the session's, on whatever worker and after whatever crash they were made.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from uuid import UUID

from opentelemetry.trace import SpanKind, StatusCode, Tracer

from app.errors import LabError, Unavailable

Facts = Mapping[str, str | int | float | bool]
Tell = Callable[[Facts], None]
"""Adds attributes to the span that is open."""

_KINDS = {"chat": SpanKind.CLIENT, "execute_tool": SpanKind.INTERNAL, "invoke_agent": SpanKind.INTERNAL}
_NAMED = {
    "chat": "gen_ai.request.model",
    "execute_tool": "gen_ai.tool.name",
    "invoke_agent": "gen_ai.agent.name",
}
_NAME = re.compile(r"[A-Za-z_][\w.:/-]{0,99}")
_SESSION: ContextVar[UUID | None] = ContextVar("traced_session", default=None)
_EXPORT_S = 3.0
_SENDING: list[Tracer] = []
"""Of this process, as its logging is: who makes a span need not be handed what sends it."""


@contextmanager
def span(
    operation: str, name: str, session: UUID, facts: Facts, waits: type[Exception] | None = None
) -> Iterator[Tell]:
    """One operation of a session. A `name` that is none (a chat model can ask for any tool) is left out.

    `waits`: what is raised by an operation that only asked and waits, which is no error.
    """
    tracer = _SENDING[-1] if _SENDING else None
    if tracer is None:
        yield _nobody_listens
        return
    said = name if _NAME.fullmatch(name) else "unknown"
    known = {
        "gen_ai.operation.name": operation,
        "gen_ai.conversation.id": str(session),
        _NAMED[operation]: said,
    }
    token = _SESSION.set(session)
    try:
        with tracer.start_as_current_span(
            f"{operation} {said}",
            kind=_KINDS[operation],
            attributes={**known, "gen_ai.conversation.id": str(session), **facts},
            record_exception=False,
            set_status_on_exception=False,
        ) as opened:
            try:
                yield opened.set_attributes
            except Exception as error:
                if waits and isinstance(error, waits):
                    opened.set_attribute("labcrew.waiting", True)
                else:
                    opened.set_attribute("error.type", _type_of(error))
                    opened.set_status(StatusCode.ERROR)
                raise
    finally:
        _SESSION.reset(token)


def _type_of(error: Exception) -> str:
    return error.code if isinstance(error, LabError) else type(error).__name__


@asynccontextmanager
async def tracing(address: str | None) -> AsyncIterator[None]:
    """Send spans to `address` by OTLP over HTTP while the block runs; nothing without one.

    Raises Unavailable when the packages that it needs are not installed.
    """
    if address is None:
        yield
        return
    provider = _provider(address)
    try:
        with sending(provider.get_tracer("labcrew")):
            yield
    finally:
        await asyncio.to_thread(provider.shutdown)


@contextmanager
def sending(tracer: Tracer) -> Iterator[None]:
    """Let this process's spans go through `tracer` while the block runs."""
    _SENDING.append(tracer)
    try:
        yield
    finally:
        _SENDING.remove(tracer)


def _nobody_listens(facts: Facts) -> None:
    pass


def session_trace_id() -> int | None:
    """The trace that a new root span belongs to: its session's."""
    session = _SESSION.get()
    return session.int if session else None


def _provider(address: str):  # type: ignore[no-untyped-def]  # its type is in a package that may be missing
    try:
        from app.observability.exporting import provider  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise Unavailable(
            "tracing_missing",
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages that send spans are not installed: "
            "pip install 'labcrew[otel]'.",
        ) from error
    return provider(address, _EXPORT_S)
