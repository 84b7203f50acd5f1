"""Waiting for the end of a session in a request."""

import asyncio
from contextlib import aclosing, suppress
from typing import Annotated
from uuid import UUID

from fastapi import Query

from app.resources import Resources
from app.sessions.queries import is_awaiting_user

MAX_WAIT_S = 60.0
"""Longest wait for the end of a session: below the usual time-out of balancers, a minute and more."""
PAUSES = frozenset({"clarification_asked"})
"""Events that end the wait while their question is open: the session goes on when its user has answered."""

Wait = Annotated[
    float, Query(ge=0, le=MAX_WAIT_S, description="Seconds to wait for the end before the answer.")
]


async def ends_within(resources: Resources, session_id: UUID, wait_s: float) -> bool:
    """Follow the events of a session until it has ended or asks its user, or the time is over."""
    if not wait_s:
        return False
    with suppress(TimeoutError):
        async with (
            asyncio.timeout(min(wait_s, MAX_WAIT_S)),
            aclosing(resources.watch.stream_batches(session_id)) as batches,
        ):
            async for batch in batches:
                # The events begin with the first one, whose question may be answered since.
                if any(event.kind in PAUSES for event in batch) and await is_awaiting_user(
                    resources.database, session_id
                ):
                    return False
        # The events end with the session only.
        return True
    return False
