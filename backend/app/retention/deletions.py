"""Deletion of sessions, datasets and what sessions left, with everything derived from them.

What must end first is cancelled and noted in a row, which survives whatever is killed: workers finish it. Bytes
that nothing names any more go with the sweep of blobs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from redis.asyncio import Redis

from app.db.pool import Database
from app.errors import Conflict, NotFound
from app.jobs import REDIS_AWAY, SendJob, advance_job
from app.observability.metrics.retention import DELETIONS_DONE
from app.retention.dependents import Made, Origin, derived, must_choose
from app.sessions.checkpoints import RedisCheckpoints
from app.sessions.events.publisher import EventPublisher
from app.sessions.queries import make_not_found_error

_AT_ONCE = 20
"""Sessions that a request deletes itself; the workers delete more."""

_ASK = """
with asked as (
  insert into deletions (id, kind, target_id, owner_id, asked_by)
  select gen_random_uuid(), 'session', id, owner_id, 'user' from sessions
  where owner_id = $1 and id = any($2::uuid[])
  on conflict (kind, target_id) where done_at is null do nothing
), cancelled as (
  select cancel_sessions(array(select id from sessions where owner_id = $1 and id = any($2::uuid[]))) as id
), artifact as (
  delete from artifacts where owner_id = $1 and id = any($3::uuid[]) returning id
), dataset as (
  delete from datasets where owner_id = $1 and id = any($4::uuid[]) returning id
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $1, 'user', 'dataset_deleted', jsonb_build_object('dataset', id) from dataset
  union all select $1, 'user', 'artifact_deleted', jsonb_build_object('artifact', id) from artifact
)
select id from cancelled
"""

_CANCEL = """
select cancel_sessions(array(
  select id from sessions
  where (id = any($1::uuid[]) or (parent_id = any($1::uuid[]) and graph = 'run')) and not cancel)) as id
"""

_DELETE = """
select gone from delete_sessions(array(
  select id from sessions s where id = any($1::uuid[]) and not exists (
    select from sessions where parent_id = s.id and graph = 'run' and ended_at is null))) as gone
"""

_NOTE = """
with done as (
  update deletions d set done_at = now(), lease_until = null, gone = '{"sessions": 1}'
  where kind = 'session' and done_at is null and target_id = any($1::uuid[])
    and not exists (select from sessions where id = d.target_id)
  returning owner_id, target_id, asked_by
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select owner_id, asked_by, 'session_deleted', jsonb_build_object('session', target_id) from done
)
select target_id from done
"""

_LEFT = "select count(*) as n from sessions where id = any($1::uuid[])"

_ARTIFACT = """
select a.kind, s.ended_at is null and s.id is not null as live
from artifacts a left join sessions s on s.id = a.session_id
where a.id = $1 and a.owner_id = $2 and (a.kind <> 'holdout' or s.ended_at is not null)
"""
_DATASET = "select from datasets where id = $1 and owner_id = $2"
_IS_RUN = "select graph = 'run' as is_run from sessions where id = $1 and owner_id = $2"


@dataclass(frozen=True)
class Deletions:
    """What one process needs to delete. Each method that takes an owner touches nothing of anybody else."""

    db: Database
    redis: Redis
    tail: EventPublisher
    send: SendJob

    async def session(self, owner: UUID, session_id: UUID, also_derived: bool | None, run: bool = False) -> int:
        """Delete a session (a `run`) with the runs inside it; how many sessions must end before they go.

        `also_derived`: predictions that its models made elsewhere, too; None raises Conflict where there are
        any. Raises NotFound.
        """
        found = await self.db.row(_IS_RUN, session_id, owner)
        if found is None or (run and not found["is_run"]):
            raise make_not_found_error(session_id)
        made = await derived(self.db, owner, Origin(sessions=[session_id]))
        own = [one for one in made if session_id in (one.id, one.inside)]
        others = [one for one in made if one not in own]
        return await self._delete(owner, [*own, *_chosen("session", others, also_derived)])

    async def dataset(self, owner: UUID, dataset_id: UUID, also_derived: bool | None) -> int:
        """Delete an upload, as `session`. Raises NotFound, and Conflict where a running session is to stay."""
        if await self.db.row(_DATASET, dataset_id, owner) is None:
            raise NotFound("dataset_not_found", f"There is no dataset with the id {dataset_id}.")
        made = await derived(self.db, owner, Origin(datasets=[dataset_id]))
        if also_derived is False and any(one.live for one in made):
            raise Conflict(
                "dataset_in_use",
                "A session that has not ended uses this dataset; cancel it first, or send `derived=true` to "
                "delete what was made of the dataset, too.",
            )
        return await self._delete(owner, _chosen("dataset", made, also_derived), datasets=[dataset_id])

    async def artifact(self, owner: UUID, artifact_id: UUID, also_derived: bool | None) -> int:
        """Delete what a session left; of a model, predictions with it are derived. As `dataset`."""
        row = await self.db.row(_ARTIFACT, artifact_id, owner)
        if row is None:
            raise NotFound("artifact_not_found", f"There is no artifact with the id {artifact_id}.")
        if row["live"]:
            raise Conflict("session_not_ended", "Its session has not ended and may need it; cancel that first.")
        models = [artifact_id] if row["kind"] == "model" else []
        made = await derived(self.db, owner, Origin(models=models)) if models else []
        return await self._delete(owner, _chosen("model", made, also_derived), artifacts=[artifact_id])

    async def finish(self, sessions: Sequence[UUID]) -> int:
        """Delete those of them that have ended, and cancel the others; how many are left. Safe to repeat."""
        if not sessions:
            return 0
        for row in await self.db.rows(_CANCEL, sessions):
            self._stop(row["id"])
        gone = [row["gone"] for row in await self.db.rows(_DELETE, sessions)]
        noted = await self.db.rows(_NOTE, sessions)
        DELETIONS_DONE.labels("session").inc(len(noted))
        await self._forget(gone)
        left = await self.db.row(_LEFT, sessions)
        return int(left["n"]) if left else 0

    def stop(self, sessions: Sequence[UUID]) -> None:
        """They were cancelled in the database: tell whoever drives them."""
        for session_id in sessions:
            self._stop(session_id)

    async def _delete(
        self,
        owner: UUID,
        made: Sequence[Made],
        datasets: Sequence[UUID] = (),
        artifacts: Sequence[UUID] = (),
    ) -> int:
        sessions = [one.id for one in made if one.kind != "artifact"]
        loose = [*artifacts, *(one.id for one in made if one.kind == "artifact")]
        self.stop([row["id"] for row in await self.db.rows(_ASK, owner, sessions, loose, list(datasets))])
        left = await self.finish(sessions[:_AT_ONCE])
        return left + len(sessions[_AT_ONCE:])

    def _stop(self, session_id: UUID) -> None:
        self.tail.announce_cancel(session_id)
        self.send(advance_job(session_id))

    async def _forget(self, sessions: Sequence[UUID]) -> None:
        checkpoints = RedisCheckpoints(self.redis)
        try:
            for session_id in sessions:
                await checkpoints.adelete_thread(str(session_id))
        except REDIS_AWAY:
            return  # a checkpoint expires by itself


def _chosen(noun: str, made: Sequence[Made], also_derived: bool | None) -> Sequence[Made]:
    """What goes along; raises Conflict where its owner must choose."""
    if also_derived is None and made:
        raise must_choose(noun, made)
    return made if also_derived else ()
