"""Retry policy of chat-model calls: number of attempts, waiting times and retryable failures."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
)

T = TypeVar("T")

RETRYABLE_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_RETRYABLE_NAMES = frozenset(
    {"APIConnectionError", "APITimeoutError", "ServiceUnavailable", "ResourceExhausted"}
)
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of a 429 that no waiting mends."""


@dataclass(frozen=True)
class RetryPolicy:
    """`answer_s`: longest that one answer may take. `tries`: how often it is asked for, the first included."""

    max_answer_s: float = 120.0
    max_attempts: int = 3
    first_wait_s: float = 0.5
    max_wait_s: float = 60.0


class AnswerInterrupted(ConnectionError):
    """A stream that ended before the provider said that the answer was whole."""


async def call_with_retries(
    ask: Callable[[], Awaitable[T]], policy: RetryPolicy, on_retry: Callable[[BaseException, float], None]
) -> T:
    """The answer; `waiting` is told of each failure that passes, and of the seconds until the next try.

    Waits as long as the provider says (`Retry-After`), else twice as long each time, with jitter. Raises what
    the last try raised, and at once whatever asking again would not mend.
    """

    def report(state: RetryCallState) -> None:
        if state.outcome and (error := state.outcome.exception()):
            on_retry(error, state.upcoming_sleep)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        requested_s = requested_wait_s(error)
        backoff_s = policy.first_wait_s * 2 ** (state.attempt_number - 1) * random.uniform(1, 2)  # noqa: S311
        return min(backoff_s if requested_s is None else requested_s, policy.max_wait_s)

    async for attempt in AsyncRetrying(
        stop=stop_after_attempt(policy.max_attempts),
        wait=wait,
        retry=retry_if_exception(is_retryable),
        before_sleep=report,
        reraise=True,
    ):
        with attempt:
            async with asyncio.timeout(policy.max_answer_s):
                return await ask()
    raise AssertionError("AsyncRetrying either returns or raises.")


def is_retryable(error: BaseException) -> bool:
    """May the same request be answered later?"""
    if getattr(error, "code", None) in _QUOTA_CODES:
        return False
    status = _status_of(error)
    if status is not None:
        return status in RETRYABLE_STATUS
    if isinstance(error, TimeoutError | ConnectionError | httpx.TransportError):
        return True
    return any(kind.__name__ in _RETRYABLE_NAMES for kind in type(error).__mro__)


_KINDS = {401: "key", 403: "key", 404: "model", 408: "timeout", 429: "rate", 504: "timeout"}


def failure_kind(error: BaseException) -> str:
    """One word of few for how a provider failed: `rate`, `server`, `timeout`, `connection`, `key`, ..."""
    status = _status_of(error)
    if status is not None:
        return _KINDS.get(status) or ("server" if status >= 500 else "request")
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, TimeoutError | httpx.TimeoutException) or "APITimeoutError" in names:
        return "timeout"
    if isinstance(error, ConnectionError | httpx.TransportError) or names & _RETRYABLE_NAMES:
        return "connection"
    return "other"


def requested_wait_s(error: BaseException | None) -> float | None:
    """Seconds that the provider asked to wait, or None."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after")))
    except (TypeError, ValueError, AttributeError):
        return None  # none given, or a date: our own waiting will do


def _status_of(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    statuses = [getattr(source, "status_code", None) for source in (error, response)]
    return next(
        (status for status in (*statuses, getattr(error, "code", None)) if isinstance(status, int)), None
    )
