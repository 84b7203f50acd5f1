"""Conversations: messages to the assistant, their turns, and the threads that hold them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from app.api.deletion import OUTCOMES, DeletionsDep, deletion_response
from app.api.deps import (
    CHECK_STORAGE,
    IdempotencyKey,
    KeyedPageDep,
    Page,
    PageDep,
    PrincipalDep,
    ResourcesDep,
    keyed_page,
)
from app.api.openapi.document import problems
from app.api.openapi.streams import chat_events, thread_events
from app.api.session_deps import ServiceDep
from app.api.session_waits import MAX_WAIT_S, Wait, ends_within
from app.api.streams.event_stream import EventStream, format_event, format_parts
from app.api.streams.stream_lifetime import hold_stream
from app.resources import Resources
from app.sessions.events.serialization import EventMessage
from app.sessions.queries import SessionReader
from app.threads.queries import ThreadReader
from app.threads.schemas import (
    AwaitingTurnView,
    ChatMessage,
    Mode,
    ThreadMessages,
    ThreadSummary,
    ThreadTree,
    ThreadUpdate,
    ThreadView,
    ToolCode,
    TurnPreferences,
    TurnView,
)
from app.threads.service import CreatedTurn, ThreadService
from app.threads.stream_events import TurnTranslation
from app.threads.thread_events import ThreadEvents, ThreadMessage, parse_cursor
from app.threads.tree import ThreadTrees

router = APIRouter(tags=["chat"], responses=problems(401))


async def _service(resources: ResourcesDep) -> ThreadService:
    return ThreadService(resources.database, resources.send, resources.settings.sessions)


async def _reader(resources: ResourcesDep, principal: PrincipalDep) -> ThreadReader:
    return ThreadReader(resources.database, principal.user_id)


async def _hold_stream(request: Request, principal: PrincipalDep) -> AsyncIterator["asyncio.Task[None]"]:
    """Hold a stream slot until the response has ended; yield the task of `hold_stream`."""
    async with hold_stream(request, principal, "sse") as ended:
        yield ended


StreamSlotDep = Annotated[Any, Depends(_hold_stream, scope="request")]
"""A stream slot from before a message is stored: a stream that is refused leaves no turn behind."""
MAX_CURSOR_CHARS = 12_000
"""Characters of the cursor of a thread: 200 sessions with their numbers."""
ThreadServiceDep = Annotated[ThreadService, Depends(_service)]
ThreadReaderDep = Annotated[ThreadReader, Depends(_reader)]


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
    return _stream(
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
    since: Annotated[int, Query(ge=0, le=2**53, description="Number of the last received event.")] = 0,
    last_event_id: Annotated[str | None, Header(pattern=r"^\d{1,16}$")] = None,
) -> Response:
    """Stream the events of a turn after `since` or `Last-Event-ID` until it has ended."""
    # The header first: a browser that comes back sends the address with its first cursor again.
    cursor = int(last_event_id) if last_event_id is not None else since
    if await reader.is_over(turn_id, cursor):
        return Response(status_code=204)
    return _stream(resources, principal, turn_id, cursor)


@router.get("/threads", operation_id="list_threads")
async def list_threads(
    reader: ThreadReaderDep,
    page: KeyedPageDep,
    search: Annotated[
        str | None, Query(min_length=1, max_length=200, description="Text in a title or a message.")
    ] = None,
    archived: bool = False,
    dataset_id: Annotated[UUID | None, Query(description="Those about this dataset.")] = None,
) -> Page[ThreadSummary]:
    """List your conversations, the last used first."""
    return keyed_page(page, await reader.list_threads(page.portion, search, archived, dataset_id))


@router.get("/threads/{thread_id}", operation_id="get_thread", responses=problems(404))
async def get_thread(thread_id: UUID, reader: ThreadReaderDep) -> ThreadView:
    """Describe a conversation with its worldlines."""
    return await reader.get_thread(thread_id)


@router.get("/threads/{thread_id}/messages", operation_id="list_thread_messages", responses=problems(404))
async def list_thread_messages(
    thread_id: UUID,
    reader: ThreadReaderDep,
    worldline: Annotated[UUID | None, Query(description="By default the first one of the thread.")] = None,
    before: Annotated[UUID | None, Query(description="`next` of a page: turns before that one.")] = None,
    turns: Annotated[int, Query(ge=1, le=200, description="Number of turns.")] = 50,
) -> ThreadMessages:
    """List the messages of a worldline, oldest first, from its root to its last turn."""
    return await reader.list_messages(thread_id, worldline, before, turns)


@router.get(
    "/threads/{thread_id}/events",
    operation_id="stream_thread_events",
    response_class=StreamingResponse,
    responses={
        200: {"description": "`id` is the cursor for reconnecting.", "content": thread_events()},
        **problems(404),
    },
)
async def stream_thread_events(
    thread_id: UUID,
    principal: PrincipalDep,
    resources: ResourcesDep,
    since: Annotated[str, Query(max_length=MAX_CURSOR_CHARS, description="`id` of the last event.")] = "",
    last_event_id: Annotated[str | None, Header(max_length=MAX_CURSOR_CHARS)] = None,
) -> Response:
    """Stream the events of the live turns and studies of a conversation, and of those that begin.

    It goes on after `since` or `Last-Event-ID`, also with what began and ended meanwhile, until the
    conversation is deleted. Earlier turns are listed by `GET /threads/{thread_id}/messages`.
    """
    # The header first: a browser that comes back sends the address with its first cursor again.
    positions = parse_cursor(since if last_event_id is None else last_event_id)
    sessions = SessionReader(resources.database, principal.user_id)
    events = ThreadEvents(
        resources.database,
        principal.user_id,
        thread_id,
        resources.watch.stream_batches,
        sessions.check_exists,
        positions,
    )
    await events.check_exists()

    def write(batch: Sequence[ThreadMessage]) -> str:
        return "".join(format_parts(*message) for message in batch)

    return EventStream(principal, events.stream(), write)


@router.get("/threads/{thread_id}/tree", operation_id="get_thread_tree", responses=problems(404))
async def get_thread_tree(
    thread_id: UUID,
    reader: ThreadReaderDep,
    after: Annotated[UUID | None, Query(description="`next` of a page: turns after that one.")] = None,
    turns: Annotated[int, Query(ge=1, le=1000, description="Number of turns.")] = 500,
) -> ThreadTree:
    """Describe all branches of a conversation: turns with their parents, oldest first, and worldlines."""
    return await ThreadTrees(reader).read(thread_id, after, turns)


@router.patch("/threads/{thread_id}", operation_id="update_thread", responses=problems(404))
async def update_thread(
    thread_id: UUID,
    body: ThreadUpdate,
    principal: PrincipalDep,
    service: ThreadServiceDep,
    reader: ThreadReaderDep,
) -> ThreadView:
    """Change the title or the datasets of a conversation, or archive it."""
    await service.update_thread(principal.user_id, thread_id, body)
    return await reader.get_thread(thread_id)


@router.delete(
    "/threads/{thread_id}",
    status_code=204,
    operation_id="delete_thread",
    response_class=Response,
    responses={**problems(404), **OUTCOMES},
)
async def delete_thread(thread_id: UUID, principal: PrincipalDep, deletions: DeletionsDep) -> Response:
    """Delete a conversation with all of its turns and their files. Running turns are cancelled first."""
    return deletion_response(await deletions.delete_thread(principal.user_id, thread_id))


def _turn_path(request: Request, created: CreatedTurn) -> str:
    prefix = request.url.path.partition("/chat")[0]
    return f"{prefix}/turns/{created.turn_id}"


def _stream(
    resources: Resources,
    principal: PrincipalDep,
    turn_id: UUID,
    cursor: int,
    preamble: str = "",
    headers: dict[str, str] | None = None,
    slot: "asyncio.Task[None] | None" = None,
) -> EventStream[list[EventMessage]]:
    translation = TurnTranslation(str(turn_id))

    def write(batch: Sequence[EventMessage]) -> str:
        return "".join(format_event(event) for recorded in batch for event in translation.translate(recorded))

    events: AsyncGenerator[list[EventMessage], None] = resources.watch.stream_batches(turn_id, cursor)
    return EventStream(principal, events, write, preamble, headers, slot)
