"""Messages to the assistant: said and waited for, or followed as a stream."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.session_ends import MAX_WAIT_S, Wait, ends_within
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.dependencies.threads import ThreadReaderDep, ThreadServiceDep
from app.api.openapi.document import problems
from app.api.openapi.streams import chat_events
from app.api.streams.event_stream import format_event
from app.api.streams.stream_lifetime import hold_stream
from app.api.streams.turn_stream import stream_turn
from app.sessions.events.serialization import EventMessage
from app.threads.schemas import ChatMessage, Mode, ToolCode, TurnPreferences, TurnView
from app.threads.service import CreatedTurn

router = APIRouter(tags=["chat"], responses=problems(401))


async def _hold_stream(request: Request, principal: PrincipalDep) -> AsyncIterator["asyncio.Task[None]"]:
    """Hold a stream slot until the response has ended; yield the task of `hold_stream`."""
    async with hold_stream(request, principal, "sse") as ended:
        yield ended


StreamSlotDep = Annotated[Any, Depends(_hold_stream, scope="request")]
"""A stream slot from before a message is stored: a stream that is refused leaves no turn behind."""


@router.post(
    "/chat",
    operation_id="chat",
    responses={
        202: {
            "model": TurnView,
            "description": "The turn goes on: it did not end within `wait`, or it asks you.",
        },
        **problems(404, 409),
    },
    dependencies=[CHECK_STORAGE],
)
async def chat(
    body: ChatMessage,
    principal: PrincipalDep,
    service: ThreadServiceDep,
    reader: ThreadReaderDep,
    resources: ResourcesDep,
    request: Request,
    response: Response,
    wait: Wait = MAX_WAIT_S,
    idempotency_key: IdempotencyKey = None,
) -> TurnView:
    """Say something and wait for the answer.

    A message that arrives while the turn before it runs begins when that one has ended, and one that arrives
    while as many of your turns run as may begins when one of those has ended or waits for you.
    """
    created = await service.post(principal.user_id, body, idempotency_key)
    response.headers["Location"] = _turn_path(request, created)
    has_ended = await ends_within(resources, created.turn_id, wait)
    response.status_code = 200 if has_ended else 202
    return await reader.get_turn(created.turn_id)


@router.post(
    "/chat/stream",
    operation_id="chat_stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Events of the turn; the first one and `Location` name it.",
            "content": chat_events(),
        },
        **problems(404, 409),
    },
    dependencies=[CHECK_STORAGE],
)
async def chat_stream(
    body: ChatMessage,
    principal: PrincipalDep,
    service: ThreadServiceDep,
    reader: ThreadReaderDep,
    resources: ResourcesDep,
    request: Request,
    slot: StreamSlotDep,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Say something and follow the answer as server-sent events.

    Leaving does not cancel the turn: `GET /turns/{turn_id}/events` goes on after the last received `id`.
    """
    created = await service.post(principal.user_id, body, idempotency_key)
    fields = {"turn_id", "thread_id", "worldline_id", "status", "queue"}
    # Before the stream begins: its first event names the turn.
    turn = await reader.get_turn(created.turn_id)
    opening = EventMessage(None, "status", turn.model_dump_json(include=fields))
    return stream_turn(
        resources,
        principal,
        created.turn_id,
        0,
        format_event(opening),
        {"Location": _turn_path(request, created)},
        slot,
    )


async def _run_tool(
    body: ToolCode, mode: Mode, principal: PrincipalDep, service: ThreadServiceDep, resources: ResourcesDep
) -> UUID:
    message = ChatMessage(
        message=body.code,
        mode=mode,
        worldline_id=body.worldline_id,
        preferences=TurnPreferences(time_limit_s=body.timeout_s),
    )
    created = await service.post(principal.user_id, message)
    await ends_within(resources, created.turn_id, MAX_WAIT_S)
    return created.turn_id


@router.post("/tools/sql", operation_id="run_sql_tool", responses=problems(404), dependencies=[CHECK_STORAGE])
async def run_sql_tool(
    body: ToolCode,
    principal: PrincipalDep,
    service: ThreadServiceDep,
    reader: ThreadReaderDep,
    resources: ResourcesDep,
) -> TurnView:
    """Run SQL at the end of a worldline, as a message of the mode `sql` does, and wait for its turn."""
    return await reader.get_turn(await _run_tool(body, "sql", principal, service, resources))


@router.post(
    "/tools/python", operation_id="run_python_tool", responses=problems(404), dependencies=[CHECK_STORAGE]
)
async def run_python_tool(
    body: ToolCode,
    principal: PrincipalDep,
    service: ThreadServiceDep,
    reader: ThreadReaderDep,
    resources: ResourcesDep,
) -> TurnView:
    """Run a program at the end of a worldline, as a message of the mode `python` does; wait for its turn."""
    return await reader.get_turn(await _run_tool(body, "python", principal, service, resources))


def _turn_path(request: Request, created: CreatedTurn) -> str:
    prefix = request.url.path.partition("/chat")[0]
    return f"{prefix}/turns/{created.turn_id}"
