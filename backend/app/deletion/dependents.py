"""Dependents of sessions, datasets and models: sessions that used them, runs and predictions."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.db.pool import Database
from app.errors import Conflict

_MAX_LISTED = 10
"""Dependents in the body of a refusal; `derived_count` has their number."""
_MAX_NAMED = 3
"""Dependents in the sentence of a refusal, which stays on one line."""
_MAX_NAME_CHARS = 80
"""Characters of a name in a refusal: a goal may have thousands. The statement cuts at the same length."""

DERIVED = """
begun as (
  select id from sessions where owner_id = $1
    and (id = any($2::uuid[]) or (dataset_ids && $3::uuid[] and class <> 'turn'))
), inside as (
  select id from sessions where parent_id in (select id from begun) and graph = 'run'
), models as (
  select a.id::text, a.digest, s.forked_from is null as is_original
  from artifacts a left join sessions s on s.id = a.session_id
  where a.owner_id = $1 and a.kind = 'model'
    and (a.id = any($4::uuid[]) or a.session_id in (select id from begun))
), predicting as (
  -- A fork has copies of the models of its source, so a digest names several. Earlier runs have no id.
  select r.id from sessions r where r.owner_id = $1 and r.graph = 'run' and exists (
    select from models m where coalesce(r.preferences #>> '{prediction,model_id}' = m.id,
      m.is_original and r.preferences #>> '{prediction,model}' = m.digest))
), dependents as (
  -- The goal of a run of a workflow is a document, which nobody recognises.
  select case class when 'run' then 'run' else 'session' end as kind, id,
    left(coalesce(s.name, case when graph = 'workflow' then coalesce(
      (select w.name from workflows w where w.id::text = s.preferences #>> '{workflow,id}'), 'workflow')
      else goal end), 80) as name,
    ended_at is null as is_live, parent_id, created_at,
    case when graph = 'workflow' then (s.preferences #>> '{workflow,id}')::uuid end as workflow_id
  from sessions s where id in (
    select id from begun union select id from inside union select id from predicting)
  union all
  select 'artifact', id, left(name, 80), false, null, created_at, null from artifacts
  where owner_id = $1 and session_id is null and (
    meta ->> 'model_id' in (select id from models) or meta ->> 'table_id' = any($3::uuid[]::text[]))
)
"""
"""Expressions of a statement: `begun` by the targets, their `models`, and all `dependents`.

$1 owner; targets: $2 sessions, $3 datasets, $4 models (artifacts' ids)."""

_FIND_DEPENDENTS = """
with -- DERIVED
select kind, id, name, is_live, parent_id from dependents order by kind desc, created_at
""".replace("-- DERIVED", DERIVED)


@dataclass(frozen=True)
class Dependent:
    """Something derived from a target. `kind`: `session`, `run` or `artifact`. `is_live`: it has not ended."""

    kind: str
    id: UUID
    name: str
    is_live: bool
    parent_id: UUID | None = None
    """The session of a run."""


@dataclass(frozen=True)
class DeletionTargets:
    """Ids of one owner that are to be deleted."""

    sessions: Sequence[UUID] = ()
    datasets: Sequence[UUID] = ()
    models: Sequence[UUID] = ()


async def find_dependents(db: Database, owner: UUID, targets: DeletionTargets) -> list[Dependent]:
    """Find everything derived from the targets, directly or not, and the target sessions themselves."""
    ids = (list(targets.sessions), list(targets.datasets), list(targets.models))
    return [Dependent(**row) for row in await db.rows(_FIND_DEPENDENTS, owner, *ids)]


def dependents_exist(noun: str, dependents: Sequence[Dependent]) -> Conflict:
    """Make the refusal that names dependents and the two ways to choose."""
    names = ", ".join(f'{dependent.kind} "{dependent.name}"' for dependent in dependents[:_MAX_NAMED])
    more = f" and {len(dependents) - _MAX_NAMED} more" if len(dependents) > _MAX_NAMED else ""
    return Conflict(
        "derived_exists",
        f"This {noun} was used: {names}{more}. Send `derived=true` to delete all of that too, or "
        f"`derived=false` to delete the {noun} alone.",
        derived=[
            {
                "kind": dependent.kind,
                "id": str(dependent.id),
                "name": dependent.name[:_MAX_NAME_CHARS],
                "ended": not dependent.is_live,
            }
            for dependent in dependents[:_MAX_LISTED]
        ],
        derived_count=len(dependents),
    )
