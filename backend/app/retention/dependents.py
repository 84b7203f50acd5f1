"""What was made of a thing: sessions that used it, runs inside them, and predictions with their models."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.db.pool import Database
from app.errors import Conflict

_SHOWN = 10
_NAME = 80

# $1 owner; what it begins with: $2 sessions, $3 datasets, $4 models (artifacts' ids).
_DERIVED = """
with begun as (
  select id from sessions where owner_id = $1 and (id = any($2::uuid[]) or dataset_ids && $3::uuid[])
), inside as (
  select id from sessions where parent_id in (select id from begun) and graph = 'run'
), models as (
  select id::text, digest from artifacts
  where owner_id = $1 and kind = 'model' and (id = any($4::uuid[]) or session_id in (select id from begun))
), predicting as (
  select id from sessions where owner_id = $1 and graph = 'run'
    and preferences #>> '{prediction,model}' in (select digest from models)
), said as (
  select case graph when 'run' then 'run' else 'session' end as kind, id, left(goal, 80) as name,
    ended_at is null as live, parent_id, created_at
  from sessions where id in (
    select id from begun union select id from inside union select id from predicting)
  union all
  select 'artifact', id, left(name, 80), false, null, created_at from artifacts
  where owner_id = $1 and session_id is null and (
    meta ->> 'model_id' in (select id from models) or meta ->> 'table_id' = any($3::uuid[]::text[]))
)
select kind, id, name, live, parent_id from said order by kind desc, created_at
"""


@dataclass(frozen=True)
class Made:
    """One thing that was made. `kind`: `session`, `run` or `artifact`. `live`: it has not ended."""

    kind: str
    id: UUID
    name: str
    live: bool
    inside: UUID | None = None
    """The session that a run was inside of."""


@dataclass(frozen=True)
class Origin:
    """What something is derived from: ids of one owner."""

    sessions: Sequence[UUID] = ()
    datasets: Sequence[UUID] = ()
    models: Sequence[UUID] = ()


async def derived(db: Database, owner: UUID, origin: Origin) -> list[Made]:
    """Everything made of it, and what was made of that; sessions of `origin` themselves too."""
    rows = await db.rows(_DERIVED, owner, list(origin.sessions), list(origin.datasets), list(origin.models))
    return [Made(row["kind"], row["id"], row["name"], row["live"], row["parent_id"]) for row in rows]


def must_choose(noun: str, made: Sequence[Made]) -> Conflict:
    """The refusal that names what is derived and says how to choose."""
    names = ", ".join(f'{one.kind} "{one.name}"' for one in made[:3])
    more = f" and {len(made) - 3} more" if len(made) > 3 else ""
    return Conflict(
        "derived_exists",
        f"This {noun} was used: {names}{more}. Send `derived=true` to delete all of that too, or "
        f"`derived=false` to delete the {noun} alone.",
        derived=[
            {"kind": one.kind, "id": str(one.id), "name": one.name[:_NAME], "ended": not one.live}
            for one in made[:_SHOWN]
        ],
        derived_count=len(made),
    )
