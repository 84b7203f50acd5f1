"""Search in the names and words of a user's sessions, conversations, datasets, models and workflows."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.db.like_patterns import like_patterns
from app.db.pool import Database

MAX_HITS = 50
"""Hits of one search: more than anybody reads through; a longer word finds fewer."""


class HitKind(StrEnum):
    """Kind of a search hit."""

    SESSION = "session"
    THREAD = "thread"
    DATASET = "dataset"
    MODEL = "model"
    WORKFLOW = "workflow"


class SearchHit(BaseModel):
    """`text`: the goal, title or name; `detail`: what else tells it from others."""

    model_config = ConfigDict(frozen=True)

    kind: HitKind
    id: UUID
    text: str
    detail: str = Field(
        description="Status of a session or `not_understood`, file name of a dataset and its columns that "
        "have a word, kind of estimator; may be empty."
    )
    created_at: datetime


_SEARCH = """
with hits as (
  (select 'session' as kind, id, coalesce(name, goal) as text,
      case error ->> 'code' when 'not_understood' then 'not_understood' else status end as detail, created_at
    from sessions
    where owner_id = $1 and graph = 'pipeline' and concat_ws(' ', name, goal) ilike all($2)
    order by created_at desc limit $3)
  union all
  (select 'thread', t.id, t.title, '', t.created_at from threads t
    where owner_id = $1 and deleted_at is null and (title ilike all($2) or exists (
      select from turns join sessions s on s.id = session_id where thread_id = t.id and s.goal ilike all($2)))
    order by updated_at desc limit $3)
  union all
  (select 'dataset', id, name, concat_ws(', ', filename, 'column: ' || matches), created_at from datasets
    cross join lateral (
      select string_agg(c ->> 'name', ' ') as names,
        string_agg(c ->> 'name', ', ') filter (where c ->> 'name' ilike any($2)) as matches
      from json_array_elements(columns::json) c
    ) as own
    where owner_id = $1 and concat_ws(' ', name, filename, note, names) ilike all($2)
    order by created_at desc limit $3)
  union all
  -- Of the models of a session the one that it chose.
  (select 'model', a.id, a.name, coalesce(a.meta -> 'fit' ->> 'estimator', ''), a.created_at
    from artifacts a join sessions s on s.id = a.session_id
    where a.owner_id = $1 and a.kind = 'model' and s.result ->> 'model' = a.id::text
      and concat_ws(' ', a.name, a.meta -> 'fit' -> 'problem' ->> 'target') ilike all($2)
    order by a.created_at desc limit $3)
  union all
  (select 'workflow', id, name, 'version ' || version, created_at from workflows
    where owner_id = $1 and name ilike all($2) order by updated_at desc limit $3)
)
select kind, id, left(text, 300) as text, detail, created_at from hits order by created_at desc limit $3
"""


async def search(database: Database, owner: UUID, words: str, limit: int = MAX_HITS) -> list[SearchHit]:
    """Return what has all of `words` in its name, goal or messages, in any order, the newest first."""
    patterns = like_patterns(words)
    if not patterns:
        return []
    rows = await database.rows(_SEARCH, owner, patterns, limit)
    return [SearchHit(**row) for row in rows]
