"""Attempts of nodes that reach outside, and the waits between them.

A wait is no sleep: the run gives its place up, and the sweeper wakes it when the time has come. The time and
each failed attempt are recorded calls, so that after a crash none is made twice and none waits anew.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from app.counts import describe_count
from app.errors import Unavailable
from app.json_types import JsonValue
from app.sessions.step_scope import Call, CallResult
from app.workflows.document import Node
from app.workflows.requests.passing import PassingFailure
from app.workflows.runs.context import AGENT, RunContext

BACKOFF_S = 0.5
"""First wait before something is sent again, in seconds; each further one is twice as long."""

Answer = TypeVar("Answer")


class _Success(Exception):
    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer


@dataclass
class SendingTime:
    """Seconds that may be spent on sending: those of recorded calls count, the waits between them do not."""

    limit_s: float
    spent_s: float = 0.0

    async def bound(self, send: Callable[[], Awaitable[Answer]]) -> tuple[Answer, float]:
        """Return an answer and the seconds that it took. Raises TimeoutError when none are left."""
        left_s = self.limit_s - self.spent_s
        # A timer that has run out ends what it bounds at its first wait only, after something may be sent.
        if left_s <= 0:
            raise TimeoutError
        clock = asyncio.get_running_loop()
        began = clock.time()
        async with asyncio.timeout(left_s):
            answer = await send()
        return answer, clock.time() - began


class _FailedAttempt(NamedTuple):
    """An attempt that failed, as its call is recorded. `wait_s`: seconds before the next; `took_s`: its own."""

    failure: str
    wait_s: float
    took_s: float = 0.0


async def wait(ctx: RunContext, key: str, seconds: float) -> None:
    """Wait without a place. `key`: another one for each wait of a step."""

    async def set_time() -> CallResult:
        until = datetime.now(UTC) + timedelta(seconds=seconds)
        return CallResult({"until": until.isoformat()}, f"It goes on at {until:%Y-%m-%d %H:%M:%S} UTC.")

    call = Call(f"choice:wait:{key}", "choice", "set_wake_time", AGENT, {"seconds": seconds})
    value: Any = await ctx.step.call(call, set_time)
    await ctx.step.wait_until(datetime.fromisoformat(value["until"]))


async def send_repeatedly(
    ctx: RunContext,
    node: Node,
    key: str,
    attempts: int,
    send: Callable[[int], Awaitable[Answer]],
    time: SendingTime | None = None,
) -> tuple[Answer, int]:
    """Send until it succeeds, at most `attempts` times. Returns the answer, and the number of the attempt.

    `send` takes that number. What failed attempts took is spent of `time`. Raises what it raises last,
    Unavailable where too long a wait is asked for.
    """
    for number in range(1, attempts):
        try:
            failed = await _record_failure(ctx, node, f"{key}:{number}", number, send)
        except _Success as success:
            return success.answer, number
        if time is not None:
            time.spent_s += failed.took_s
        await wait(ctx, f"{key}:{number}", failed.wait_s)
    return await send(attempts), attempts


async def _record_failure(
    ctx: RunContext, node: Node, key: str, number: int, send: Callable[[int], Awaitable[Any]]
) -> _FailedAttempt:
    """Make an attempt, and record it if it fails. Raises _Success with the answer if it does not."""

    async def make_attempt() -> CallResult:
        clock = asyncio.get_running_loop()
        began = clock.time()
        try:
            answer = await send(number)
        except PassingFailure as failure:
            wait_s = failure.wait_s or BACKOFF_S * 2 ** (number - 1)
            _require_short_wait(failure, wait_s, ctx.services.max_wait_s)
            value: JsonValue = {
                "failure": failure.detail,
                "wait_s": wait_s,
                "took_s": clock.time() - began,
            }
            return CallResult(value, f"Attempt {number} failed: {failure.detail}", failed=True)
        raise _Success(answer)

    request: JsonValue = {"node": node.id, "attempt": number}
    value: Any = await ctx.step.call(
        Call(f"choice:attempt:{key}", "choice", "attempt_sending", AGENT, request), make_attempt
    )
    return _FailedAttempt(**value)


def _require_short_wait(failure: PassingFailure, wait_s: float, max_wait_s: float) -> None:
    if wait_s > max_wait_s:
        wait_text, longest = (describe_count(round(seconds), "second") for seconds in (wait_s, max_wait_s))
        detail = f"{failure.detail} It asks to wait for {wait_text}, and {longest} is the longest wait here."
        raise Unavailable(failure.code, detail)
