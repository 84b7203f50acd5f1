"""The recorded number of a look at the hold-out, written before the hold-out is opened."""

from collections.abc import Mapping

from app.json_types import JsonValue
from app.sessions.recorded_facts import SessionRecords
from app.sessions.step_scope import Call, CallResult, StepScope


async def recorded_look(step: StepScope, records: SessionRecords) -> Mapping[str, JsonValue] | None:
    """Return the look of this step as `sessions.holdout_looks` describes it. A replay reads the record."""

    async def count() -> CallResult:
        return CallResult(value=await records.count_look(step))

    look = await step.call(Call("look:holdout", "choice", "holdout_look", "pipeline", {}), count)
    return look if isinstance(look, dict) else None
