"""One list of what waits for a user: open questions, and proposed changes of workflows."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.db.keyset import MAX_COUNTED_ROWS
from app.db.pool import Database
from app.db.statements import load

INBOX = load("app.inbox", "inbox")
MAX_TEXT_CHARS = 1_000
"""Characters of a title or a text in the list: a goal has up to 10,000, and the item itself shows all of it."""


class ItemKind(StrEnum):
    """Kind of what waits, which says where it is answered."""

    STUDY = "study"
    TURN = "turn"
    RUN = "run"
    PROPOSAL = "proposal"


class InboxItem(BaseModel):
    """Something that waits for its user.

    `id`: of the session, the turn, the run or the proposal. `title`: goal, title of the conversation, or name
    of the workflow. `text`: the question, or what a proposal changes.
    """

    model_config = ConfigDict(frozen=True)

    kind: ItemKind
    id: UUID
    title: str
    text: str
    since: datetime
    thread_id: UUID | None = Field(description="Of a turn.")
    worldline_id: UUID | None = Field(description="Of a turn: its branch of the conversation.")
    workflow_id: UUID | None = Field(description="Of a run or a proposal.")


@dataclass(frozen=True)
class Inbox:
    db: Database
    owner: UUID

    async def list_items(self, limit: int, offset: int) -> tuple[list[InboxItem], int]:
        """List what waits, the longest waiting first, with the number of all items."""
        rows = [
            dict(row)
            for row in await self.db.rows(
                INBOX.list_items, self.owner, MAX_TEXT_CHARS, limit, offset, MAX_COUNTED_ROWS
            )
        ]
        # Behind the last item no row tells the number: the first page does.
        if not rows and offset:
            return [], (await self.list_items(1, 0))[1]
        totals = [int(row.pop("total")) for row in rows]
        return [InboxItem(**row) for row in rows], max(totals, default=0)
