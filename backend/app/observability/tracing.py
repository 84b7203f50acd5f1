"""Spans of sessions, by OpenTelemetry's conventions for generative AI where it has some.

Nothing is traced until `tracing` was opened with an address. A span carries names, counts, times and the type
of an error, never a message, an argument, a result or an error's text. A session is one trace and one tree:
both ids of its root are derived from its own, so that every process that does a part of it, after any crash,
knows the parent of its spans.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Literal
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
from app.observability.trace_ids import creating_root, root_span_id

Facts = Mapping[str, str | int | float | bool]
SetAttributes = Callable[[Facts], None]
"""Adds attributes to the open span."""

Operation = Literal[
    "chat", "execute_tool", "invoke_agent", "fit", "run_cell", "create_session", "create_turn", "session"
]
"""Operations that are traced."""

_OPERATIONS: Mapping[Operation, tuple[SpanKind, str]] = {
    "chat": (SpanKind.CLIENT, "gen_ai.request.model"),
    "execute_tool": (SpanKind.INTERNAL, "gen_ai.tool.name"),
    "invoke_agent": (SpanKind.INTERNAL, "gen_ai.agent.name"),
    "fit": (SpanKind.INTERNAL, "labcrew.function"),
    "run_cell": (SpanKind.INTERNAL, "labcrew.function"),
    "create_session": (SpanKind.SERVER, "labcrew.graph"),
    "create_turn": (SpanKind.SERVER, "labcrew.graph"),
    "session": (SpanKind.INTERNAL, "labcrew.graph"),
}
"""The kind of the span of each operation, and the attribute that holds its name."""

_NAME = re.compile(r"[A-Za-z_][\w.:/-]{0,99}")
_MAX_EXPORT_S = 3.0
"""Seconds for one export to the collector: a process that stops waits for the last one."""
_TRACERS: list[Tracer] = []
"""Tracers of this process. They are global, as its loggers are, so that no caller has to pass one."""


@contextmanager
def span(
    operation: Operation, name: str, session: UUID, facts: Facts, pause: type[Exception] | None = None
) -> Iterator[SetAttributes]:
    """Trace one operation of a session. An invalid `name` (a model can ask for any tool) becomes `unknown`.

    `pause`: the exception of an operation that pauses for an answer; it is not recorded as an error.
    """
    tracer = _TRACERS[-1] if _TRACERS else None
    if tracer is None:
        yield _ignore_attributes
        return
    title, attributes = _describe_span(operation, name, session, facts)
    with tracer.start_as_current_span(
        title,
        _within(session),
        kind=_OPERATIONS[operation][0],
        attributes=attributes,
        # By default a span carries the text of an error, which may quote a user's data.
        record_exception=False,
        set_status_on_exception=False,
    ) as recording:
        try:
            yield recording.set_attributes
        except Exception as error:
            if pause and isinstance(error, pause):
                recording.set_attribute("labcrew.waiting", True)
            else:
                recording.set_attribute("error.type", _type_of(error))
                recording.set_status(StatusCode.ERROR)
            raise


@contextmanager
def span_inside(operation: Operation, name: str) -> Iterator[SetAttributes]:
    """Trace one operation of the session whose span is open; without an open span, trace nothing."""
    enclosing = get_current_span().get_span_context()
    if not enclosing.is_valid:
        yield _ignore_attributes
        return
    with span(operation, name, UUID(int=enclosing.trace_id), {}) as set_attributes:
        yield set_attributes


def past_span(
    operation: Operation, name: str, session: UUID, began_at: float, facts: Facts, root: bool = False
) -> None:
    """Record a span that ends now and began at this Unix time in seconds. `root`: the session's own span."""
    tracer = _TRACERS[-1] if _TRACERS else None
    if tracer is None:
        return
    title, attributes = _describe_span(operation, name, session, facts)
    with creating_root(session if root else None):
        tracer.start_span(
            title,
            # A root stands alone: the span that is open here must not become its parent.
            Context() if root else _within(session),
            kind=_OPERATIONS[operation][0],
            attributes=attributes,
            start_time=int(began_at * 1e9),
        ).end(time.time_ns())


def _describe_span(operation: Operation, name: str, session: UUID, facts: Facts) -> tuple[str, Facts]:
    attribute = name if _NAME.fullmatch(name) else "unknown"
    return f"{operation} {attribute}", {
        "gen_ai.operation.name": operation,
        "gen_ai.conversation.id": str(session),
        _OPERATIONS[operation][1]: attribute,
        **facts,
    }


def _within(session: UUID) -> Context | None:
    """The parent context of a span: None for the open span if it is of the same session, else the root."""
    if get_current_span().get_span_context().trace_id == session.int:
        return None
    # Flag 1 is sampled: children of a parent that is not are dropped.
    root = SpanContext(session.int, root_span_id(session), is_remote=True, trace_flags=TraceFlags(1))
    return set_span_in_context(NonRecordingSpan(root), Context())


def _type_of(error: Exception) -> str:
    return error.code if isinstance(error, LabError) else type(error).__name__


@asynccontextmanager
async def tracing(address: str | None) -> AsyncIterator[None]:
    """Send spans to `address` by OTLP over HTTP while the block runs; without an address, trace nothing.

    Raises Unavailable when the packages of the extra `otel` are not installed.
    """
    if address is None:
        yield
        return
    provider = _provider(address)
    try:
        with use_tracer(provider.get_tracer("labcrew")):
            yield
    finally:
        # In a thread: it waits for the last export.
        await asyncio.to_thread(provider.shutdown)


@contextmanager
def use_tracer(tracer: Tracer) -> Iterator[None]:
    """Send this process's spans through `tracer` while the block runs."""
    _TRACERS.append(tracer)
    try:
        yield
    finally:
        _TRACERS.remove(tracer)


def _ignore_attributes(facts: Facts) -> None:
    pass


def _provider(address: str):  # type: ignore[no-untyped-def]  # its type is in a package that may be missing
    try:
        from app.observability.otlp_exporter import provider  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise Unavailable(
            "tracing_missing",
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages that send spans are not installed: "
            "pip install 'labcrew[otel]'.",
        ) from error
    return provider(address, _MAX_EXPORT_S)
