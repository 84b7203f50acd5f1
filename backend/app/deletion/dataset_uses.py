"""Uses of a dataset: what began with it, what was made of it, and what would read it again."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.db.keyset import MAX_COUNTED_ROWS, ListPage, PageRequest, make_page
from app.db.pool import Database
from app.deletion.dependents import DERIVED
from app.errors import NotFound


class UseKind(StrEnum):
    """Kind of what uses a dataset. `artifact`: a table of predictions that belongs to no session."""

    SESSION = "session"
    THREAD = "thread"
    MODEL = "model"
    WORKFLOW = "workflow"
    RUN = "run"
    ARTIFACT = "artifact"


class DatasetUse(BaseModel):
    """Something of the same owner that uses a dataset."""

    model_config = ConfigDict(frozen=True)

    kind: UseKind = Field(examples=["session"])
    id: UUID
    name: str = Field(
        description="Goal, title, name or code, at most 80 characters of it.",
        examples=["Predict who survived."],
    )
    is_live: bool = Field(
        description="It has not ended: the dataset is deleted with it, after it was cancelled, or not at all."
    )
    is_derived: bool = Field(
        description="Deleting the dataset with `derived=true` deletes it too. Threads and workflows stay."
    )
    created_at: datetime
    workflow_id: UUID | None = Field(default=None, description="Of a run of a workflow.")


# $3 holds the one dataset. Documents spell its id as their authors do: in capitals, without hyphens, as a URN.
_USES = """
with -- DERIVED
, uses as (
  select kind, id, name, is_live, true as is_derived, created_at, workflow_id from dependents
  union all
  select 'model', id, left(name, 80), false, true, created_at, null from artifacts
  where owner_id = $1 and kind = 'model' and session_id in (select id from begun)
  union all
  select 'thread', t.id, left(t.title, 80), false, false, t.created_at, null from threads t
  where owner_id = $1 and deleted_at is null and (t.dataset_ids && $3::uuid[] or exists (
    select from turns join sessions s on s.id = session_id
    where thread_id = t.id and s.dataset_ids && $3::uuid[]))
  union all
  select 'workflow', w.id, left(w.name, 80), false, false, w.created_at, null
  from workflows w join workflow_versions v on v.workflow_id = w.id and v.n = w.version
  where owner_id = $1 and exists (
    select from json_array_elements(v.document -> 'nodes') node
    where right(regexp_replace(lower(node -> 'config' ->> 'dataset_id'), '[^0-9a-f]', '', 'g'), 32)
      = replace(($3::uuid[])[1]::text, '-', ''))
)
""".replace("-- DERIVED", DERIVED)
_LIST = """
-- USES
select kind, id, name, is_live, is_derived, created_at, workflow_id from uses
where ($5::text is null or kind = $5) and created_at <= coalesce($6, 'infinity'::timestamptz)
  and ($6 is null or created_at < $6 or id > $7::uuid)
order by created_at desc, id limit $8 offset $9
""".replace("-- USES", _USES)
_COUNT = """
-- USES
select count(*) from (select from uses where $5::text is null or kind = $5 limit $6) as counted
""".replace("-- USES", _USES)
_FIND = "select from datasets where id = $1 and owner_id = $2"


async def list_uses(
    db: Database, owner: UUID, dataset_id: UUID, kind: UseKind | None, portion: PageRequest
) -> ListPage[DatasetUse]:
    """List what of `owner` uses a dataset, newest first; of one kind, or with None of all. Raises NotFound."""
    if await db.row(_FIND, dataset_id, owner) is None:
        raise NotFound("dataset_not_found", f"There is no dataset with the id {dataset_id}.")
    no_others: list[UUID] = []
    scope = (owner, no_others, [dataset_id], no_others, kind)
    after = portion.after
    cursor = (after.at, after.id) if after else (None, None)
    rows = await db.rows(_LIST, *scope, *cursor, portion.limit + 1, portion.offset)
    total = after.total if after else int(await db.value(_COUNT, *scope, MAX_COUNTED_ROWS))
    uses = [DatasetUse(**row) for row in rows]
    return make_page(uses, portion, total, lambda use: (use.created_at, use.id))
