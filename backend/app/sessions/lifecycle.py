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
    PAUSED = "paused"
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
    WAIT_FOR_RESUME = "wait_for_resume"
    """The driver gives the lease back; the user has paused the session."""
    RELEASE = "release"
    """The driver gives the lease back; neither a question nor a fit is open any more."""
    ANSWER = "answer"
    """The user answers the open question."""
    PAUSE = "pause"
    """The user pauses the session. Under a valid lease it goes on until the running step has ended."""
    RESUME = "resume"
    """The user lets a paused session go on."""
    RESUME_FOR_USER = "resume_for_user"
    """The same; a question is open."""
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

    `is_cancelled`, `is_paused`: a cancel or a pause was requested. `has_work`: `wake > seen`, so that work is
    due. `is_driver`: the event comes from the driver with the newest fence.
    """

    status: SessionStatus
    is_cancelled: bool = False
    is_paused: bool = False
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
    LifecycleEvent.WAIT_FOR_RESUME: _from_live(_S.PAUSED, _S.CANCELLING),
    LifecycleEvent.RELEASE: _from_live(_S.QUEUED, _S.CANCELLING),
    LifecycleEvent.PAUSE: dict.fromkeys(LIVE, _S.PAUSED),
    LifecycleEvent.RESUME: {_S.PAUSED: _S.QUEUED},
    LifecycleEvent.RESUME_FOR_USER: {_S.PAUSED: _S.AWAITING_USER},
    LifecycleEvent.COMPLETE: _from_live(_S.COMPLETED, _S.COMPLETED),
    LifecycleEvent.FAIL: _from_live(_S.FAILED, _S.FAILED),
    LifecycleEvent.END_CANCELLED: _from_live(_S.CANCELLED, _S.CANCELLED),
}
"""Event -> present status -> next status. From a terminal status nothing happens."""


def next_status(position: SessionPosition, event: LifecycleEvent) -> SessionStatus | None:
    """Return the status after an event, or None where its guard refuses it."""
    return TRANSITIONS[event].get(position.status) if _is_allowed(position, event) else None


def release_event(
    has_more: bool, has_open_question: bool, has_open_fits: bool, is_paused: bool = False
) -> LifecycleEvent:
    """Return the event of a driver that releases its session. `has_more`: it has more to do."""
    if is_paused:
        return LifecycleEvent.WAIT_FOR_RESUME
    if has_more:
        return LifecycleEvent.YIELD
    if has_open_question:
        return LifecycleEvent.WAIT_FOR_USER
    return LifecycleEvent.WAIT_FOR_FITS if has_open_fits else LifecycleEvent.RELEASE


def resume_event(has_open_question: bool) -> LifecycleEvent:
    """Return the event of a user who lets a paused session go on."""
    return LifecycleEvent.RESUME_FOR_USER if has_open_question else LifecycleEvent.RESUME


def _is_allowed(position: SessionPosition, event: LifecycleEvent) -> bool:
    match event:
        case LifecycleEvent.CLAIM:
            is_due = position.lease is LeaseState.EXPIRED or (
                position.lease is LeaseState.FREE and position.has_work
            )
            # Whoever takes over from a dead driver of a paused session hands it back at once.
            is_stopped = position.is_paused and position.lease is LeaseState.FREE
            # A cancelled session only has to end, which needs no admission.
            return is_due and (position.is_cancelled or (position.is_admitted and not is_stopped))
        case LifecycleEvent.PAUSE:
            is_free = position.lease is not LeaseState.ACTIVE
            return is_free and not position.is_cancelled and not position.is_paused
        case LifecycleEvent.RESUME | LifecycleEvent.RESUME_FOR_USER:
            return position.is_paused and not position.is_cancelled
        case LifecycleEvent.ANSWER:
            return position.has_open_question
        # Also while it is being cancelled: a repeated cancel is no error.
        case LifecycleEvent.CANCEL:
            return True
        case LifecycleEvent.END_CANCELLED:
            # `cancelled` promises that nothing of the session runs any more.
            return position.is_driver and not position.has_running_fit
        # What remains are events of a driver, which only the newest fence may cause.
        case _:
            return position.is_driver
