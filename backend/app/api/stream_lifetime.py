"""How long a caller may stay on an open stream: as long as the credential stands, and there is a place."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi.requests import HTTPConnection

from app.api.rate_limit import address_of
from app.auth.principal import Principal
from app.auth.services import AuthServices
from app.auth.stream_slots import Place
from app.observability.metrics.edge import OPEN_STREAMS
from app.tasks import cancel_and_wait


@asynccontextmanager
async def staying(
    connection: HTTPConnection, who: Principal, transport: str
) -> AsyncIterator["asyncio.Task[None]"]:
    """Hold a place while the block runs; yields a task that is done when the credential has ended.

    Raises TooMany when the user or the address has no place left.
    """
    desk: AuthServices = connection.app.state.desk
    places = [
        Place("streams of this user", str(who.user_id), who.quotas.sockets),
        Place("streams of this address", address_of(connection.scope), desk.config.address_sockets),
    ]
    async with desk.places.hold(places):
        with OPEN_STREAMS.labels(transport).track_inprogress():
            ended = asyncio.create_task(desk.authenticator.left(who))
            try:
                yield ended
            finally:
                await cancel_and_wait(ended)
