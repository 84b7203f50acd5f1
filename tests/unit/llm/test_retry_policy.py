"""Asked again when that helps, at once refused when it does not."""

import asyncio

import httpx
import pytest

from app.llm.retry_policy import RetryPolicy, call_with_retries, failure_kind, is_retryable, requested_wait_s

QUICK = RetryPolicy(max_answer_s=5, max_attempts=3, first_wait_s=0.001, max_wait_s=0.002)


class ProviderError(Exception):
    """As the clients of providers make them."""

    def __init__(self, status, headers=None, code=None):
        super().__init__(f"status {status}")
        self.status_code = status
        self.code = code
        self.response = httpx.Response(status, headers=headers or {})


def failing(*errors):
    """Fails with these, one after the other, and then answers how often it was asked."""
    left = list(errors)

    async def ask():
        if left:
            raise left.pop(0)
        return len(errors) + 1

    return ask


async def outcome(ask, patience=QUICK):
    told = []
    try:
        return await call_with_retries(ask, patience, lambda error, wait: told.append((str(error), wait))), told
    except Exception as error:  # noqa: BLE001 - what it came to
        return error, told


PASSING = [ProviderError(429), ProviderError(529), httpx.ReadError("cut"), TimeoutError()]
LASTING = [ProviderError(400), ProviderError(401), ProviderError(429, code="insufficient_quota"), KeyError("x")]


@pytest.mark.parametrize("error", PASSING)
async def test_retryable_failures_are_retried_and_reported(error):
    answer, told = await outcome(failing(error, error))
    assert answer == 3
    assert [text for text, _ in told] == [str(error)] * 2


@pytest.mark.parametrize("error", LASTING)
async def test_other_failures_are_raised_at_once(error):
    assert await outcome(failing(error)) == (error, [])


async def test_the_last_failure_is_raised_after_all_attempts():
    last = ProviderError(503)
    answer, told = await outcome(failing(ProviderError(500), ProviderError(500), last))
    assert (answer, len(told)) == (last, 2)


async def test_an_attempt_beyond_its_time_is_a_failure():
    started = asyncio.Event()

    async def never():
        started.set()
        await asyncio.Event().wait()

    answer, _ = await outcome(never, RetryPolicy(max_answer_s=0.01, max_attempts=1))
    assert isinstance(answer, TimeoutError)
    assert started.is_set()


async def test_retry_after_sets_the_wait_up_to_the_maximum():
    soon, late = (ProviderError(429, {"Retry-After": seconds}) for seconds in ("0.0015", "900"))
    _, told = await outcome(failing(soon, late))
    assert [wait for _, wait in told] == [0.0015, 0.002]
    assert requested_wait_s(ProviderError(429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"})) is None


def test_a_cancelled_session_is_not_asked_again():
    assert not is_retryable(asyncio.CancelledError())


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ProviderError(429), "rate"),
        (ProviderError(401), "key"),
        (ProviderError(404), "model"),
        (ProviderError(400), "request"),
        (ProviderError(503), "server"),
        (ProviderError(504), "timeout"),
        (TimeoutError(), "timeout"),
        (httpx.ReadTimeout("slow"), "timeout"),
        (httpx.ReadError("cut"), "connection"),
        (KeyError("x"), "other"),
    ],
)
def test_failures_are_classified_by_one_word(error, kind):
    assert failure_kind(error) == kind
