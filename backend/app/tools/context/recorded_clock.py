"""Recorded readings of the clock and of the fit slots, so that a replay makes the same choices."""

from collections.abc import Awaitable, Callable

from app.sessions.step_scope import Call, CallResult, StepScope

CountFitSlots = Callable[[], Awaitable[int]]
"""Count the fits that the workers can compute at a time."""


async def one_fit_slot() -> int:
    return 1


async def recorded_work_s(step: StepScope, key: str) -> float:
    """Return the session's working time in seconds: since its first claim, without waiting for the user."""

    async def read() -> CallResult:
        return CallResult(value=round(step.worked_s, 3))

    return await _number(step, key, "clock", read)


async def recorded_fit_slots(step: StepScope, key: str, count_slots: CountFitSlots) -> int:
    async def read() -> CallResult:
        return CallResult(value=await count_slots())

    return int(await _number(step, key, "hands", read))


async def _number(step: StepScope, key: str, name: str, read: Callable[[], Awaitable[CallResult]]) -> float:
    # A recorded call: a replay on a faster machine would otherwise choose other limits, and other fits.
    value = await step.call(Call(f"clock:{key}", "choice", name, "pipeline", {}), read)
    if not isinstance(value, int | float):
        raise TypeError(f"The journal holds {value!r} as the recorded reading of {name}; it must be a number.")
    return float(value)
