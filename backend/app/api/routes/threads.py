"""Conversations: their list, messages, branches and events."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.deletion import OUTCOMES, DeletionsDep, deletion_response
from app.api.dependencies.pages import KeyedPageDep, Page, keyed_page
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.threads import ThreadReaderDep, ThreadServiceDep
from app.api.openapi.document import problems
from app.api.openapi.streams import thread_events
from app.api.streams.event_stream import EventStream, format_parts
from app.sessions.queries import SessionReader
from app.threads.schemas import ThreadMessages, ThreadSummary, ThreadTree, ThreadUpdate, ThreadView
from app.threads.thread_events import ThreadEvents, ThreadMessage, parse_cursor
from app.threads.tree import ThreadTrees

router = APIRouter(tags=["chat"], responses=problems(401))

MAX_CURSOR_CHARS = 12_000
"""Characters of the cursor of a thread: 200 sessions with their numbers."""


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
