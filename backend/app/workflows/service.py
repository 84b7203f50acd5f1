"""Commands of a user on workflows. Each change is a new version, made by compare-and-set."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID, uuid4, uuid5

from app.db.keyset import MAX_COUNTED_ROWS, ListPage, PageRequest, make_page
from app.db.pool import Database
from app.errors import Conflict, NotFound, TooMany
from app.observability.metrics.workflows import WORKFLOW_VERSIONS
from app.sessions.events.serialization import dumps
from app.workflows.authors import Author, AuthorKind
from app.workflows.document import WorkflowDocument
from app.workflows.patching import make_patch
from app.workflows.run_records import WorkflowRunRecord
from app.workflows.schemas import (
    VersionAuthor,
    VersionSummary,
    VersionView,
    WorkflowRunView,
    WorkflowSummary,
    WorkflowView,
)
from app.workflows.statements import WORKFLOWS

MAX_WORKFLOWS = 1_000
"""Workflows of a user."""
MAX_VERSIONS = 1_000
"""Versions that are kept of a workflow; the oldest go first."""


class WorkflowRecord(NamedTuple):
    """A workflow with its current version. `document`: JSON."""

    id: UUID
    name: str
    version: int
    created_at: datetime
    updated_at: datetime
    document: str
    owner: str
    tags: list[str]


class VersionRecord(NamedTuple):
    """A version with its author. JSON: `patch`, and `document`, which lists leave out."""

    version: int
    message: str
    patch: str | None
    created_at: datetime
    email: str
    author_kind: AuthorKind | None
    author_ref: UUID | None
    key_name: str | None
    tags: list[str]
    document: str = "null"

    def make_summary(self) -> VersionSummary:
        is_session = self.author_kind in ("conversation", "job")
        author = self.author_kind and VersionAuthor(
            email=self.email,
            kind=self.author_kind,
            name=self.key_name,
            session_id=self.author_ref if is_session else None,
        )
        return VersionSummary(
            version=self.version,
            message=self.message,
            author=author,
            tags=self.tags,
            patch=_loads(self.patch),
            created_at=self.created_at,
        )


@dataclass(frozen=True)
class WorkflowChangeRequest:
    """A new content for a workflow. `read_version`: refused if another one is the current by then."""

    document: WorkflowDocument
    message: str
    author: Author
    name: str | None = None
    read_version: int | None = None
    patch: list[dict[str, Any]] | None = None


@dataclass(frozen=True)
class WorkflowService:
    db: Database
    owner: UUID

    async def create(
        self,
        name: str,
        document: WorkflowDocument,
        message: str,
        author: Author,
        idempotency_key: str | None = None,
    ) -> WorkflowView:
        """Save the first version, or return the workflow that was created with this key.

        Raises Conflict if the key was used for another content, TooMany above the limit of workflows.
        """
        # The id follows from the key, so that a repeated request meets the row of the first.
        workflow_id = uuid5(self.owner, idempotency_key) if idempotency_key else uuid4()
        content = dumps(document.to_json(), "workflow")
        row = await self.db.row(
            WORKFLOWS.create_workflow,
            workflow_id,
            self.owner,
            name,
            content,
            message,
            MAX_WORKFLOWS,
            author.kind,
            author.reference,
        )
        if row is not None:
            WORKFLOW_VERSIONS.labels(author.kind).inc()
            return WorkflowView(**WorkflowSummary(**row).model_dump(), document=document)
        if not await self._exists(workflow_id):
            raise TooMany(
                "too_many_workflows",
                f"You have {MAX_WORKFLOWS:,} workflows. Delete one that is not needed.",
                limit=MAX_WORKFLOWS,
            )
        first = await self.get_version(workflow_id, 1)
        # The first version, since the workflow may have been changed after it was created.
        if first.document != document:
            raise Conflict(
                "idempotency_key_reused",
                "This Idempotency-Key was used for another workflow. Use a new key for a new workflow.",
            )
        return await self.get(workflow_id)

    async def get(self, workflow_id: UUID) -> WorkflowView:
        """Raises NotFound."""
        row = await self.db.row(WORKFLOWS.get_workflow, workflow_id, self.owner)
        if row is None:
            raise NotFound("workflow_not_found", f"There is no workflow with the id {workflow_id}.")
        record = WorkflowRecord(**row)
        return WorkflowView(**{**record._asdict(), "document": json.loads(record.document)})

    async def change(self, current: WorkflowView, request: WorkflowChangeRequest) -> WorkflowView:
        """Save a new version of a workflow that was just read.

        Raises Conflict if it is not the version that the caller read, or was changed since.
        """
        if request.read_version not in (None, current.version):
            raise make_changed_error(current.id, current.version)
        version = await self.db.value(
            WORKFLOWS.save_version,
            current.id,
            self.owner,
            current.version,
            request.name,
            dumps(request.document.to_json(), "workflow"),
            dumps(request.patch or make_patch(current.document, request.document), "patch"),
            request.message,
            MAX_VERSIONS,
            request.author.kind,
            request.author.reference,
        )
        if version is None:
            raise make_changed_error(current.id, (await self.get(current.id)).version)
        WORKFLOW_VERSIONS.labels(request.author.kind).inc()
        return preview(current, request)

    async def delete(self, workflow_id: UUID) -> None:
        """Delete a workflow with its versions; its runs stay. Raises NotFound."""
        if await self.db.value(WORKFLOWS.delete_workflow, workflow_id, self.owner) is None:
            raise NotFound("workflow_not_found", f"There is no workflow with the id {workflow_id}.")

    async def list_workflows(self, portion: PageRequest, tag: str | None = None) -> ListPage[WorkflowSummary]:
        """List workflows, the last changed first. `tag`: those that have it."""
        after = portion.after
        rows = await self.db.rows(
            WORKFLOWS.list_workflows,
            self.owner,
            after.at if after else None,
            after.id if after else None,
            # One more than is shown tells whether there is a next page.
            portion.limit + 1,
            portion.offset,
            tag,
        )
        total = (
            after.total
            if after
            else await self.db.value(WORKFLOWS.count_workflows, self.owner, MAX_COUNTED_ROWS, tag)
        )
        workflows = [WorkflowSummary(**row) for row in rows]
        return make_page(workflows, portion, int(total), lambda workflow: (workflow.updated_at, workflow.id))

    async def list_versions(self, workflow_id: UUID, limit: int, offset: int) -> list[VersionSummary]:
        """List versions, newest first. Raises NotFound."""
        rows = await self.db.rows(WORKFLOWS.list_versions, workflow_id, self.owner, limit, offset)
        # No versions, or no such workflow: `get` tells which.
        if not rows:
            await self.get(workflow_id)
        return [VersionRecord(**row).make_summary() for row in rows]

    async def get_version(self, workflow_id: UUID, version: int) -> VersionView:
        """Raises NotFound."""
        row = await self.db.row(WORKFLOWS.get_version, workflow_id, self.owner, version)
        if row is None:
            await self.get(workflow_id)
            raise NotFound("version_not_found", f"This workflow has no version {version}.")
        record = VersionRecord(**row)
        document = WorkflowDocument.model_validate_json(record.document)
        return VersionView(**record.make_summary().model_dump(), document=document)

    async def list_runs(self, workflow_id: UUID, limit: int, offset: int) -> list[WorkflowRunView]:
        """List runs, newest first. Raises NotFound."""
        await self.get(workflow_id)
        rows = await self.db.rows(WORKFLOWS.list_runs, self.owner, str(workflow_id), limit, offset)
        return [WorkflowRunRecord(**row).make_view() for row in rows]

    async def _exists(self, workflow_id: UUID) -> bool:
        return await self.db.row(WORKFLOWS.get_workflow, workflow_id, self.owner) is not None


def preview(current: WorkflowView, request: WorkflowChangeRequest) -> WorkflowView:
    """Return the workflow as it is after the change."""
    return current.model_copy(
        update={
            "name": request.name or current.name,
            "version": current.version + 1,
            "updated_at": datetime.now(UTC),
            "document": request.document,
        }
    )


def make_changed_error(workflow_id: UUID, version: int | None) -> Conflict:
    """Make the error of a change that began with a version which is no longer the current one."""
    now = "" if version is None else f": its version is {version}"
    return Conflict(
        "workflow_changed",
        f"This workflow was changed meanwhile{now}. Read it again, then change it.",
        workflow=str(workflow_id),
        version=version,
    )


def _loads(text: str | None) -> Any:
    return None if text is None else json.loads(text)
