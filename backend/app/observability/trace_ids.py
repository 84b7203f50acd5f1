"""Trace and span ids of a session's root span, derived from the session's id."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

_SPAN_BITS = (1 << 64) - 1
"""A span id has 64 bits by the W3C trace context; a session's UUID has the 128 of a trace id."""

_ROOT: ContextVar[UUID | None] = ContextVar("root_of_session", default=None)


def root_span_id(session: UUID) -> int:
    """The span id of a session's root: the low half of the session's id."""
    return session.int & _SPAN_BITS


def root_session() -> UUID | None:
    """The session whose root span is being created in this context, if any."""
    return _ROOT.get()


@contextmanager
def creating_root(session: UUID | None) -> Iterator[None]:
    """Give the spans started in the block the ids of this session's root; None: random ids."""
    token = _ROOT.set(session)
    try:
        yield
    finally:
        _ROOT.reset(token)
