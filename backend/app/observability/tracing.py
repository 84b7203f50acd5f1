"""Spans of sessions, by OpenTelemetry's conventions for generative AI where it has some.

Nothing is traced until `tracing` was opened with an address. A span carries names, counts, times and the type
of an error, never a message, an argument, a result or an error's text. A session is one trace and one tree:
both ids of its root are made of its own, so that whoever does a part of it, in whatever process and after
whatever crash, knows its parent without having been told.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from uuid import UUID

from opentelemetry.context import Context
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    Tracer,
    get_current_span,
    set_span_in_context,
)

from app.errors import LabError, Unavailable

Facts = Mapping[str, str | int | float | bool]
Tell = Callable[[Facts], None]
"""Adds attributes to the span that is open."""

_OPERATIONS: Mapping[str, tuple[SpanKind, str]] = {
    "chat": (SpanKind.CLIENT, "gen_ai.request.model"),
    "execute_tool": (SpanKind.INTERNAL, "gen_ai.tool.name"),
    "invoke_agent": (SpanKind.INTERNAL, "gen_ai.agent.name"),
    "fit": (SpanKind.INTERNAL, "labcrew.function"),
    "run_cell": (SpanKind.INTERNAL, "labcrew.function"),
    "create_session": (SpanKind.SERVER, "labcrew.graph"),
    "session": (SpanKind.INTERNAL, "labcrew.graph"),
}
"""What is traced: its kind, and the attribute that its name is told by."""

_NAME = re.compile(r"[A-Za-z_][\w.:/-]{0,99}")
_ROOT: ContextVar[UUID | None] = ContextVar("root_of_session", default=None)
_SPAN_BITS = (1 << 64) - 1
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
    said, attributes = _told(operation, name, session, facts)
    with tracer.start_as_current_span(
        said,
        _within(session),
        kind=_OPERATIONS[operation][0],
        attributes=attributes,
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


@contextmanager
def span_inside(operation: str, name: str) -> Iterator[Tell]:
    """One operation of whatever session's span is open around it; of none, if none is."""
    around = get_current_span().get_span_context()
    if not around.is_valid:
        yield _nobody_listens
        return
    with span(operation, name, UUID(int=around.trace_id), {}) as tell:
        yield tell


def past_span(
    operation: str, name: str, session: UUID, began_at: float, facts: Facts, root: bool = False
) -> None:
    """One that is over now and began at this Unix time. `root`: the session itself."""
    tracer = _SENDING[-1] if _SENDING else None
    if tracer is None:
        return
    said, attributes = _told(operation, name, session, facts)
    token = _ROOT.set(session if root else None)
    try:
        tracer.start_span(
            said,
            Context() if root else _within(session),
            kind=_OPERATIONS[operation][0],
            attributes=attributes,
            start_time=int(began_at * 1e9),
        ).end(time.time_ns())
    finally:
        _ROOT.reset(token)


def _told(operation: str, name: str, session: UUID, facts: Facts) -> tuple[str, Facts]:
    said = name if _NAME.fullmatch(name) else "unknown"
    return f"{operation} {said}", {
        "gen_ai.operation.name": operation,
        "gen_ai.conversation.id": str(session),
        _OPERATIONS[operation][1]: said,
        **facts,
    }


def _within(session: UUID) -> Context | None:
    """Where a span of this session belongs: in the one that is open, if it is of the same session."""
    if get_current_span().get_span_context().trace_id == session.int:
        return None
    root = SpanContext(session.int, root_span_id(session), is_remote=True, trace_flags=TraceFlags(1))
    return set_span_in_context(NonRecordingSpan(root), Context())


def root_span_id(session: UUID) -> int:
    return session.int & _SPAN_BITS


def root_session() -> UUID | None:
    """The session whose root is being made just now."""
    return _ROOT.get()


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
