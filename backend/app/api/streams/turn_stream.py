"""The events of a turn as server-sent events, in the words of conversations."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from app.api.streams.event_stream import EventStream, format_event
from app.auth.principal import Principal
from app.resources import Resources
from app.sessions.events.serialization import EventMessage
from app.threads.stream_events import TurnTranslation


def stream_turn(
    resources: Resources,
    principal: Principal,
    turn_id: UUID,
    cursor: int,
    preamble: str = "",
    headers: dict[str, str] | None = None,
    slot: "asyncio.Task[None] | None" = None,
) -> EventStream[list[EventMessage]]:
    """Return the stream of a turn after the event `cursor`. Arguments as those of `EventStream`."""
    translation = TurnTranslation(str(turn_id))

    def write(batch: Sequence[EventMessage]) -> str:
        return "".join(format_event(event) for recorded in batch for event in translation.translate(recorded))

    events = resources.watch.stream_batches(turn_id, cursor)
    return EventStream(principal, events, write, preamble, headers, slot)
