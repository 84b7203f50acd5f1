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
"""Codes of a 429 for a used-up quota, which waiting does not restore."""


@dataclass(frozen=True)
class RetryPolicy:
    """Attempts and waits of one chat-model call. The settings override time and attempts."""

    max_answer_s: float = 120.0
    """Seconds of one attempt."""
    max_attempts: int = 3
    """Attempts, the first included."""
    first_wait_s: float = 0.5
    """Seconds before the second attempt at least, at most twice that; doubled for each later one."""
    max_wait_s: float = 60.0
    """Longest wait in seconds, even if the provider asks for more: rate limits are mostly per minute."""


class AnswerInterrupted(ConnectionError):
    """A stream that ended before the provider reported the end of the answer."""


async def call_with_retries(
    ask: Callable[[], Awaitable[T]], policy: RetryPolicy, on_retry: Callable[[BaseException, float], None]
) -> T:
    """Return the answer of the first successful attempt.

    `on_retry` gets each retryable failure, and the seconds until the next attempt. The wait is that of the
    provider's `Retry-After`, else it doubles each time, with jitter. Raises the error of the last attempt, and
    an error that is not retryable at once.
    """

    def report(state: RetryCallState) -> None:
        if state.outcome and (error := state.outcome.exception()):
            on_retry(error, state.upcoming_sleep)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        requested_s = requested_wait_s(error)
        # Random, so that sessions that were refused at the same moment do not all return at the same moment.
        backoff_s = policy.first_wait_s * 2 ** (state.attempt_number - 1) * random.uniform(1, 2)  # noqa: S311
        return min(backoff_s if requested_s is None else requested_s, policy.max_wait_s)

    async for attempt in AsyncRetrying(
        stop=stop_after_attempt(policy.max_attempts),
        wait=wait,
        retry=retry_if_exception(is_retryable),
        before_sleep=report,
        # Otherwise tenacity wraps the provider's error in a RetryError, which failure_kind could not classify.
        reraise=True,
    ):
        with attempt:
            async with asyncio.timeout(policy.max_answer_s):
                return await ask()
    raise AssertionError("AsyncRetrying either returns or raises.")


def is_retryable(error: BaseException) -> bool:
    """Return True if the same request may succeed later."""
    # Before the status: such an answer is a 429, which would be repeated.
    if getattr(error, "code", None) in _QUOTA_CODES:
        return False
    status = _status_of(error)
    if status is not None:
        return status in RETRYABLE_STATUS
    if isinstance(error, TimeoutError | ConnectionError | httpx.TransportError):
        return True
    # By name, since importing the clients of all providers to compare classes would take seconds.
    return any(kind.__name__ in _RETRYABLE_NAMES for kind in type(error).__mro__)


_KINDS = {401: "key", 403: "key", 404: "model", 408: "timeout", 429: "rate", 504: "timeout"}


def failure_kind(error: BaseException) -> str:
    """Classify a provider's failure in one word, a metric's label: `rate`, `server`, `timeout`, `key`, ..."""
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
    """Return the seconds that the provider asks to wait, or None."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after")))
    except (TypeError, ValueError, AttributeError):
        return None  # no header, or a date: the policy's own wait applies


def _status_of(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    statuses = [getattr(source, "status_code", None) for source in (error, response)]
    return next(
        (status for status in (*statuses, getattr(error, "code", None)) if isinstance(status, int)), None
    )
