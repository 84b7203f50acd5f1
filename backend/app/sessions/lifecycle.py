"""The states of a session, what moves it between them, and under which conditions.

Postgres moves sessions: each event is one guarded UPDATE in `sql/lifecycle.sql` or a function of the schema,
since guard, transition and effects must be one round trip that a stale driver cannot follow. `TRANSITIONS` is
the same rule as a value; `tests/integration/sessions/test_lifecycle.py` runs every statement from every state
and compares.
"""

from dataclasses import dataclass
from enum import StrEnum


class SessionStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    AWAITING_USER = "awaiting_user"
    AWAITING_FITS = "awaiting_fits"
    CANCELLING = "cancelling"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


TERMINAL = frozenset({SessionStatus.COMPLETED, SessionStatus.FAILED, SessionStatus.CANCELLED})
LIVE = frozenset(SessionStatus) - TERMINAL


class LifecycleEvent(StrEnum):
    """An event that moves a session."""

    CLAIM = "claim"
    """A worker takes the lease."""
    YIELD = "yield"
    """The driver gives the lease back and has more to do."""
    WAIT_FOR_USER = "wait_for_user"
    """The driver gives the lease back; a question is open."""
    WAIT_FOR_FITS = "wait_for_fits"
    """The driver gives the lease back; fits of a round are open, and no question is."""
    RELEASE = "release"
    """The driver gives the lease back; neither a question nor a fit is open any more."""
    ANSWER = "answer"
    """The user answers the open question."""
    CANCEL = "cancel"
    """The user, a deletion or the end of an account stops the session."""
    COMPLETE = "complete"
    FAIL = "fail"
    END_CANCELLED = "end_cancelled"
    """The driver acts on the request to cancel, and nothing of the session runs any more."""


class LeaseState(StrEnum):
    FREE = "free"
    ACTIVE = "held"
    EXPIRED = "expired"


@dataclass(frozen=True)
class SessionPosition:
    """The inputs of the guards: a session's row and the rows that belong to it.

    `is_cancelled`: a cancel was requested. `has_work`: `wake > seen`, so that work is due.
    `is_driver`: the event comes from the driver with the newest fence.
    """

    status: SessionStatus
    is_cancelled: bool = False
    lease: LeaseState = LeaseState.FREE
    has_work: bool = True
    is_admitted: bool = True
    is_driver: bool = True
    has_open_question: bool = False
    has_running_fit: bool = False


_S = SessionStatus


def _from_live(to: SessionStatus, when_cancelled: SessionStatus) -> dict[SessionStatus, SessionStatus]:
    return dict.fromkeys(LIVE, to) | {_S.CANCELLING: when_cancelled}


TRANSITIONS: dict[LifecycleEvent, dict[SessionStatus, SessionStatus]] = {
    LifecycleEvent.CLAIM: _from_live(_S.RUNNING, _S.CANCELLING),
    LifecycleEvent.ANSWER: {status: status for status in LIVE} | {_S.AWAITING_USER: _S.QUEUED},
    LifecycleEvent.CANCEL: _from_live(_S.CANCELLING, _S.CANCELLING),
    # The driver's events are safe to send twice, so a second release meets whatever came after the first.
    LifecycleEvent.YIELD: _from_live(_S.QUEUED, _S.CANCELLING),
    LifecycleEvent.WAIT_FOR_USER: _from_live(_S.AWAITING_USER, _S.CANCELLING),
    LifecycleEvent.WAIT_FOR_FITS: _from_live(_S.AWAITING_FITS, _S.CANCELLING),
    LifecycleEvent.RELEASE: _from_live(_S.QUEUED, _S.CANCELLING),
    LifecycleEvent.COMPLETE: _from_live(_S.COMPLETED, _S.COMPLETED),
    LifecycleEvent.FAIL: _from_live(_S.FAILED, _S.FAILED),
    LifecycleEvent.END_CANCELLED: _from_live(_S.CANCELLED, _S.CANCELLED),
}
"""Event -> present status -> next status. From a terminal status nothing happens."""


def next_status(position: SessionPosition, event: LifecycleEvent) -> SessionStatus | None:
    """Return the status after an event, or None where its guard refuses it."""
    return TRANSITIONS[event].get(position.status) if _is_allowed(position, event) else None


def release_event(has_more: bool, has_open_question: bool, has_open_fits: bool) -> LifecycleEvent:
    """Return the event of a driver that releases its session. `has_more`: it has more to do."""
    if has_more:
        return LifecycleEvent.YIELD
    if has_open_question:
        return LifecycleEvent.WAIT_FOR_USER
    return LifecycleEvent.WAIT_FOR_FITS if has_open_fits else LifecycleEvent.RELEASE


def _is_allowed(position: SessionPosition, event: LifecycleEvent) -> bool:
    match event:
        case LifecycleEvent.CLAIM:
            is_due = position.lease is LeaseState.EXPIRED or (
                position.lease is LeaseState.FREE and position.has_work
            )
            # A cancelled session only has to end, which needs no admission.
            return is_due and (position.is_admitted or position.is_cancelled)
        case LifecycleEvent.ANSWER:
            return position.has_open_question
        case LifecycleEvent.CANCEL:
            return True
        case LifecycleEvent.END_CANCELLED:
            # `cancelled` promises that nothing of the session runs any more.
            return position.is_driver and not position.has_running_fit
        case _:
            return position.is_driver
