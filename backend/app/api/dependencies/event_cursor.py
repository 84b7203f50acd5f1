"""The event after which a stream goes on."""

from typing import Annotated

from fastapi import Depends, Header, Query

Since = Annotated[int, Query(ge=0, le=2**53, description="Number of the last received event.")]


async def _event_cursor(
    since: Since = 0, last_event_id: Annotated[str | None, Header(pattern=r"^\d{1,16}$")] = None
) -> int:
    # The header first: a browser that comes back sends the address with its first cursor again.
    return since if last_event_id is None else int(last_event_id)


EventCursorDep = Annotated[int, Depends(_event_cursor)]
"""`Last-Event-ID`, else `since`: the number of the last event that the caller received."""
