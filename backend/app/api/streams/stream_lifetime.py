"""The lifetime of an open stream: it needs a free slot, and ends with the caller's credential."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi.requests import HTTPConnection

from app.api.access.rate_limit import client_address
from app.auth.principal import Principal
from app.auth.services import AuthServices
from app.auth.stream_slots import StreamLimit
from app.observability.metrics.api_requests import OPEN_STREAMS
from app.tasks import cancel_and_wait


@asynccontextmanager
async def hold_stream(
    connection: HTTPConnection, who: Principal, transport: str
) -> AsyncIterator["asyncio.Task[None]"]:
    """Hold a stream slot during the block; yields a task that is done when the credential has ended.

    Raises TooMany when the user or the address has no slot free.
    """
    auth_services: AuthServices = connection.app.state.auth_services
    limits = [
        StreamLimit("streams of this user", str(who.user_id), who.quotas.sockets),
        StreamLimit(
            "streams of this address", client_address(connection.scope), auth_services.config.address_sockets
        ),
    ]
    # The slot first: a stream that is refused needs no task.
    async with auth_services.stream_slots.hold(limits):
        with OPEN_STREAMS.labels(transport).track_inprogress():
            ended = asyncio.create_task(auth_services.authenticator.wait_until_ended(who))
            try:
                yield ended
            finally:
                await cancel_and_wait(ended)
