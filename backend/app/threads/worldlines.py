"""Branches of conversations: commands of a user on worldlines. No data is copied."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple
from uuid import NAMESPACE_OID, UUID, uuid4, uuid5

import asyncpg

from app.db.pool import Database
from app.errors import Conflict, LabError, TooMany
from app.threads.schemas import ChatMessage, WorldlineCreate
from app.threads.service import ThreadService, make_not_found, make_turn_not_found
from app.threads.statements import WORLDLINES

MAX_WORLDLINES = 200
"""Worldlines of a thread, which are listed as a whole."""


class CreatedWorldlineRow(NamedTuple):
    """`worldlines`: their number before. `is_repeated`: one of this id exists; `is_same`: by this request."""

    worldlines: int
    has_turn: bool
    is_name_taken: bool
    is_created: bool
    is_same: bool
    is_repeated: bool


@dataclass(frozen=True)
class WorldlineService:
    db: Database
    threads: ThreadService

    async def create(self, owner: UUID, request: WorldlineCreate, idempotency_key: str | None = None) -> UUID:
        """Create a branch, with its first message if there is one; return its id.

        Raises NotFound for a thread or turn of another owner, Conflict for a name that is taken or a key that
        was used for another request, TooMany above the limits of worldlines and open turns.
        """
        # With the owner in it, or the key of one user would give the id of another's branch.
        repeatable = uuid5(NAMESPACE_OID, f"worldline {owner} {idempotency_key}")
        worldline_id = repeatable if idempotency_key else uuid4()
        is_created = await self._create(owner, worldline_id, request)
        if request.message is not None:
            message = ChatMessage(message=request.message, worldline_id=worldline_id)
            try:
                await self.threads.post(owner, message, idempotency_key)
            except LabError:
                if is_created:  # a branch whose message was refused would stay behind
                    await self.delete(owner, worldline_id)
                raise
        return worldline_id

    async def _create(self, owner: UUID, worldline_id: UUID, request: WorldlineCreate) -> bool:
        """Create the row; return False if an earlier request with the same key did."""
        for name in _list_names(request):
            row = await self.db.row(
                WORLDLINES.create_worldline,
                worldline_id,
                owner,
                request.thread_id,
                request.from_turn,
                name,
                MAX_WORLDLINES,
                request.name is not None,
            )
            if row is None:
                raise make_not_found(request.thread_id)
            created = CreatedWorldlineRow(**row)
            # The statement decides, not a check before it: of two requests at once only one takes a name.
            if created.is_created:
                return True
            if created.is_repeated:
                if created.is_same:
                    return False
                raise Conflict(
                    "idempotency_key_reused",
                    "This Idempotency-Key was used for another request. Use a new key for a new branch.",
                )
            _check_refusal(created, request)
        raise AssertionError("there is always another name")

    async def rename(self, owner: UUID, worldline_id: UUID, name: str) -> None:
        """Raises NotFound, Conflict for a name that another worldline of the thread has."""
        try:
            row = await self.db.row(WORLDLINES.rename_worldline, worldline_id, owner, name)
        except asyncpg.UniqueViolationError as error:  # another worldline took the name at the same time
            raise _make_name_conflict(name) from error
        if row is None or not row["is_there"]:
            raise make_not_found(None, worldline_id)
        if not row["is_renamed"]:
            raise _make_name_conflict(name)

    async def delete(self, owner: UUID, worldline_id: UUID) -> None:
        """Delete a branch; its turns stay in the tree of the thread.

        Raises NotFound, Conflict for the only worldline.
        """
        row = await self.db.row(WORLDLINES.delete_worldline, worldline_id, owner)
        if row is None or not row["is_there"]:
            raise make_not_found(None, worldline_id)
        if not row["is_deleted"]:
            raise Conflict(
                "only_worldline", "This is the only worldline of its thread: DELETE /threads/{id} deletes both."
            )


MAX_NAME_CHARS = 60
"""Characters of a message in the name of its branch: they fit into a button, and tell branches apart."""


def _list_names(request: WorldlineCreate) -> Iterator[str]:
    """Yield the names to try: the requested one, or those that the message gives, which tells what differs."""
    if request.name:
        yield request.name
        return
    words = " ".join((request.message or "").split())
    stem = words if len(words) <= MAX_NAME_CHARS else f"{words[:MAX_NAME_CHARS].rstrip()}…"
    if stem:
        yield stem
    yield from (f"{stem or 'branch'} {number}" for number in count(2))


def _check_refusal(created: CreatedWorldlineRow, request: WorldlineCreate) -> None:
    """Raise the reason of a refusal; return if only the next default name has to be tried."""
    if not created.has_turn and request.from_turn is not None:
        raise make_turn_not_found(request.from_turn)
    if created.worldlines >= MAX_WORLDLINES:
        raise TooMany(
            "too_many_worldlines",
            f"This thread has {MAX_WORLDLINES} worldlines. Delete one, or begin a new thread.",
            limit=MAX_WORLDLINES,
        )
    if request.name:
        raise _make_name_conflict(request.name)


def _make_name_conflict(name: str) -> Conflict:
    return Conflict("worldline_name_taken", f"This thread has a worldline {name!r} already.", name=name)
