"""Streams of a session: server-sent events, and a socket that also takes commands."""

from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response, WebSocket
from fastapi.responses import StreamingResponse

from app.api.access.rate_limit import take_command
from app.api.dependencies.caller import PrincipalDep, principal_of, require
from app.api.dependencies.event_cursor import EventCursorDep, Since
from app.api.dependencies.resources import AuthDep, ResourcesDep
from app.api.dependencies.sessions import ReaderDep, session_service
from app.api.openapi.document import problems
from app.api.openapi.streams import session_events
from app.api.streams.event_stream import EventStream, format_events
from app.api.streams.session_socket import SessionSocket, push_to
from app.api.streams.socket_protocol import closing_on_failure
from app.api.streams.stream_lifetime import hold_stream
from app.auth.principal import Principal, Scope
from app.auth.services import AuthServices
from app.auth.tickets import TICKET_TTL_S
from app.sessions.queries import SessionReader
from app.sessions.schemas import TicketView

router = APIRouter(prefix="/lab/agent/sessions/{session_id}", tags=["sessions"])


@router.post("/ticket", status_code=201, operation_id="create_ticket", responses=problems(401, 404, 503))
async def create_ticket(
    session_id: UUID, principal: PrincipalDep, auth_services: AuthDep, reader: ReaderDep
) -> TicketView:
    """Issue a ticket for browsers, which send no header with a socket: append `?ticket=` to the address."""
    await reader.check_exists(session_id)
    ticket = await auth_services.tickets.issue(principal.reference, session_id)
    return TicketView(ticket=ticket, expires_in=TICKET_TTL_S)


@router.get(
    "/events",
    operation_id="stream_session_events",
    response_class=StreamingResponse,
    responses={
        200: {"description": "`id` is the cursor for reconnecting.", "content": session_events()},
        204: {"description": "The session has ended, and no further event exists."},
        **problems(401, 404),
    },
)
async def stream_events(
    session_id: UUID,
    principal: PrincipalDep,
    reader: ReaderDep,
    resources: ResourcesDep,
    cursor: EventCursorDep,
) -> Response:
    """Stream the events after `since` or `Last-Event-ID` until the session has ended."""
    if await reader.is_over(session_id, cursor):
        return Response(status_code=204)
    return EventStream(principal, resources.watch.stream_batches(session_id, cursor), format_events)


@router.websocket("/stream")
async def stream(
    socket: WebSocket,
    session_id: UUID,
    resources: ResourcesDep,
    auth_services: AuthDep,
    since: Since = 0,
    ticket: Annotated[str | None, Query(max_length=100)] = None,
) -> None:
    """Serve the socket."""
    await socket.accept()
    async with closing_on_failure(socket, session_id):
        principal = await _authenticate(socket, session_id, auth_services, ticket)
        await SessionReader(resources.database, principal.user_id).check_exists(session_id)
        async with hold_stream(socket, principal, "socket") as ended:
            events = resources.watch.stream_batches(session_id, since, push_to(socket))
            confirm = partial(auth_services.authenticator.confirm, principal.reference)
            take = partial(take_command, auth_services, principal)
            service = session_service(resources)
            await SessionSocket(socket, service, confirm, take, session_id).serve(events, ended)


async def _authenticate(
    socket: WebSocket, session_id: UUID, auth_services: AuthServices, ticket: str | None
) -> Principal:
    """Authenticate by ticket or header. A ticket grants what its credential grants now."""
    if ticket is not None:
        principal = await auth_services.authenticator.confirm(
            await auth_services.tickets.redeem(ticket, session_id)
        )
    else:
        principal = await principal_of(socket, auth_services)
    require(principal, Scope.READ)
    return principal
