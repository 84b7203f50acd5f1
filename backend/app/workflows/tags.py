"""Tags of workflows: names of versions, such as `production`, that are moved by compare-and-set."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.db.pool import Database
from app.errors import Conflict, InvalidInput, NotFound, TooMany
from app.workflows.schemas import MAX_VERSION
from app.workflows.service import WorkflowService
from app.workflows.statements import TAGS

CURRENT = "main"
"""The tag of the current version. Each change moves it, and nothing else does."""
MAX_TAGS = 50
"""Tags of a workflow: each keeps its version for good."""

TagName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$")]


class WorkflowTag(BaseModel):
    """A tag and its version. `main` is always the current one."""

    name: str
    version: int
    moved_at: datetime


class TagMove(BaseModel):
    """The version that a tag is to name.

    `former_version`: the one that was read, 0 if there was no such tag. A tag that was moved since stays.
    """

    model_config = ConfigDict(extra="forbid")

    version: int = Field(ge=1, le=MAX_VERSION)
    former_version: int | None = Field(default=None, ge=0, le=MAX_VERSION)


@dataclass(frozen=True)
class WorkflowTags:
    db: Database
    owner: UUID

    async def list_tags(self, workflow_id: UUID) -> list[WorkflowTag]:
        """List the tags of a workflow, `main` first. Raises NotFound."""
        workflow = await WorkflowService(self.db, self.owner).get(workflow_id)
        rows = await self.db.rows(TAGS.list_tags, workflow_id, self.owner)
        current = WorkflowTag(name=CURRENT, version=workflow.version, moved_at=workflow.updated_at)
        return [current, *(WorkflowTag(**row) for row in rows)]

    async def find_version(self, workflow_id: UUID, name: str) -> int:
        """Return the version of a tag. Raises NotFound."""
        versions = {tag.name: tag.version for tag in await self.list_tags(workflow_id)}
        if name not in versions:
            raise _make_missing_error(name)
        return versions[name]

    async def move(self, workflow_id: UUID, name: str, move: TagMove) -> WorkflowTag:
        """Give a version a tag, or move it there.

        Raises NotFound for a version that there is not, TooMany, Conflict if the tag was moved since it was
        read.
        """
        _require_movable(name)
        row = await self.db.row(
            TAGS.move_tag, workflow_id, self.owner, name, move.version, move.former_version, MAX_TAGS
        )
        if row is not None:
            return WorkflowTag(**row)
        await WorkflowService(self.db, self.owner).get_version(workflow_id, move.version)
        versions = {tag.name: tag.version for tag in await self.list_tags(workflow_id)}
        version = versions.get(name, 0)
        if move.former_version not in (None, version):
            place = f"stands at version {version}" if version else "is gone"
            raise Conflict(
                "tag_moved",
                f"This tag was moved meanwhile: it {place}. Read it again, then move it.",
                tag=name,
                version=version,
            )
        raise TooMany(
            "too_many_tags",
            f"This workflow has {MAX_TAGS} tags. Delete one that is not needed.",
            limit=MAX_TAGS,
        )

    async def delete(self, workflow_id: UUID, name: str) -> None:
        """Delete a tag; its version stays. Raises NotFound."""
        _require_movable(name)
        if await self.db.value(TAGS.delete_tag, workflow_id, self.owner, name) is None:
            await WorkflowService(self.db, self.owner).get(workflow_id)
            raise _make_missing_error(name)


def _require_movable(name: str) -> None:
    if name == CURRENT:
        raise InvalidInput(
            "tag_reserved", f"The tag {CURRENT} is the current version: a change of the workflow moves it."
        )


def _make_missing_error(name: str) -> NotFound:
    return NotFound("tag_not_found", f"This workflow has no tag {name}.")
