"""Turns of conversations: their answers, their events, and their interruption."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.event_cursor import EventCursorDep
from app.api.dependencies.pages import PageDep
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.sessions import ServiceDep
from app.api.dependencies.threads import ThreadReaderDep
from app.api.openapi.document import problems
from app.api.openapi.streams import chat_events
from app.api.streams.turn_stream import stream_turn
from app.threads.schemas import AwaitingTurnView, TurnView

router = APIRouter(tags=["chat"], responses=problems(401))


@router.get("/turns", operation_id="list_turns_awaiting_user")
async def list_turns_awaiting_user(
    reader: ThreadReaderDep,
    page: PageDep,
    status: Annotated[Literal["awaiting_user"], Query(description="Turns that wait for your answer.")],
) -> list[AwaitingTurnView]:
    """List the turns of all conversations that wait for you, the longest waiting first."""
    return await reader.list_awaiting_user(page.limit, page.offset)


@router.get("/turns/{turn_id}", operation_id="get_turn", responses=problems(404))
async def get_turn(turn_id: UUID, reader: ThreadReaderDep) -> TurnView:
    """Describe a turn: message, answer, table, SQL, plan and files."""
    return await reader.get_turn(turn_id)


@router.post(
    "/turns/{turn_id}/interrupt", status_code=202, operation_id="interrupt_turn", responses=problems(404, 409)
)
async def interrupt_turn(
    turn_id: UUID, principal: PrincipalDep, reader: ThreadReaderDep, sessions: ServiceDep
) -> TurnView:
    """Stop a turn: its program or the answer of its model ends, and what was recorded stays.

    Its status is `cancelled` once nothing of it runs.
    """
    await reader.get_turn(turn_id)  # a session that is no turn is not found here
    await sessions.cancel(principal.user_id, turn_id)
    return await reader.get_turn(turn_id)


@router.get(
    "/turns/{turn_id}/events",
    operation_id="stream_turn_events",
    response_class=StreamingResponse,
    responses={
        200: {"description": "`id` is the cursor for reconnecting.", "content": chat_events()},
        204: {"description": "The turn has ended, and no further event exists."},
        **problems(404),
    },
)
async def stream_turn_events(
    turn_id: UUID,
    principal: PrincipalDep,
    reader: ThreadReaderDep,
    resources: ResourcesDep,
    cursor: EventCursorDep,
) -> Response:
    """Stream the events of a turn after `since` or `Last-Event-ID` until it has ended."""
    if await reader.is_over(turn_id, cursor):
        return Response(status_code=204)
    return stream_turn(resources, principal, turn_id, cursor)
