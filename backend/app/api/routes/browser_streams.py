"""The one stream of a browser: every tab's sessions and lists over one connection."""

from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response, WebSocket
from fastapi.responses import StreamingResponse

from app.api.access.rate_limit import take_command
from app.api.dependencies.caller import PrincipalDep, principal_of, require
from app.api.dependencies.resources import AuthDep, ResourcesDep
from app.api.openapi.document import problems
from app.api.openapi.streams import stream_frames
from app.api.streams.browser_stream import BrowserSocket, as_event_messages
from app.api.streams.event_stream import EventStream, format_events
from app.api.streams.socket_protocol import closing_on_failure
from app.api.streams.stream_lifetime import hold_stream
from app.auth.principal import Principal, Scope
from app.resources import Resources
from app.sessions.events.watches import MAX_WATCHES, Watches
from app.sessions.queries import SessionReader

router = APIRouter(tags=["sessions"])

WatchText = Annotated[
    str, Query(pattern=r"^[\w.-]{1,40}:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:\d{1,16}$")
]


def _watches(resources: Resources, principal: Principal) -> Watches:
    reader = SessionReader(resources.database, principal.user_id)
    return Watches(resources.watch.stream_batches, reader.check_exists, reader.lists_position)


@router.get(
    "/events",
    operation_id="stream_many_sessions",
    response_class=StreamingResponse,
    responses={200: {"content": stream_frames()}, **problems(401, 429)},
)
async def stream_many(
    principal: PrincipalDep,
    resources: ResourcesDep,
    watch: Annotated[
        list[WatchText],
        Query(max_length=MAX_WATCHES, description="`name:session:cursor`, once for each watched session."),
    ] = [],  # noqa: B006 - FastAPI copies it
    lists: Annotated[str, Query(max_length=40, description="Name of a watch of the lists.")] = "",
) -> Response:
    """Stream frames of many sessions as server-sent events, for where sockets are cut.

    A client reconnects with the cursors of its watches. See `docs/api.md` for the frames.
    """
    watches = _watches(resources, principal)
    for text in watch:
        name, session, since = text.split(":")
        watches.watch(name, UUID(session), int(since))
    if lists:
        watches.watch_lists(lists)
    return EventStream(principal, as_event_messages(watches), format_events)


@router.websocket("/stream")
async def stream(socket: WebSocket, resources: ResourcesDep, auth_services: AuthDep) -> None:
    """Serve the socket."""
    await socket.accept()
    async with closing_on_failure(socket):
        principal = await principal_of(socket, auth_services)
        require(principal, Scope.READ)
        async with hold_stream(socket, principal, "socket") as ended:
            take = partial(take_command, auth_services, principal)
            await BrowserSocket(socket, _watches(resources, principal), take).serve(ended)
