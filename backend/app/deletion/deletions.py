"""Deletion of sessions, datasets and artifacts, with everything derived from them.

Sessions that must end first are cancelled, and a row of `deletions` records the request; workers complete it,
also after crashes. The sweep of blobs deletes bytes that no row refers to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from redis.asyncio import Redis

from app.db.pool import Database
from app.deletion.dependents import DeletionTargets, Dependent, dependents_exist, find_dependents
from app.errors import Conflict, NotFound
from app.jobs import REDIS_AWAY, SendJob, advance_job
from app.observability.metrics.deletion import DELETIONS_DONE
from app.sessions.checkpoint_keys import checkpoint_key
from app.sessions.events.publisher import EventPublisher
from app.sessions.queries import make_not_found_error

LEASE_S = 10.0
"""Lease of a deletion; longer than a batch takes, and renewed by each batch."""
_MAX_SESSIONS_AT_ONCE = 20
"""Sessions that a request deletes itself, so that it answers soon; workers delete the others."""

# One statement: nothing is cancelled or deleted without the record that workers complete.
_REQUEST = """
with requested as (
  insert into deletions (id, kind, target_id, owner_id, asked_by)
  select gen_random_uuid(), 'session', id, owner_id, $5 from sessions
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

USER = "user"
"""Who asked for a deletion: the owner."""

_CANCEL_SESSIONS = """
select cancel_sessions(array(
  select id from sessions
  where (id = any($1::uuid[]) or (parent_id = any($1::uuid[]) and graph = 'run')) and not cancel)) as id
"""

# A session waits for the runs inside it, which still read its frames.
_DELETE_SESSIONS = """
select gone from delete_sessions(array(
  select id from sessions s where id = any($1::uuid[]) and not exists (
    select from sessions where parent_id = s.id and graph = 'run' and ended_at is null))) as gone
"""

_COMPLETE = """
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

_COUNT_REMAINING = "select count(*) from sessions where id = any($1::uuid[])"

# One statement: a hidden thread always has the record by which workers complete its deletion. The lease lets
# the request that hides it delete what it can itself.
_HIDE_THREAD = """
with hidden as (
  update threads set deleted_at = coalesce(deleted_at, now()) where id = $1 and owner_id = $2
  returning id, owner_id
), requested as (
  insert into deletions (id, kind, target_id, owner_id, asked_by, lease_until)
  select gen_random_uuid(), 'thread', id, owner_id, 'user', now() + $3 * interval '1 second' from hidden
  on conflict (kind, target_id) where done_at is null do nothing
)
select id from hidden
"""
# After this no turn is added: the statement that adds one first changes the thread, if that is not hidden.
_LIST_TURNS_AND_RUNS = """
select session_id from turns where thread_id = $1
union all
select id from sessions where owner_id = $2 and class = 'run' and (preferences ->> 'thread_id')::uuid = $1
"""
# The record is complete without a thread, too: one whose account is deleted goes with that.
_DELETE_THREAD = """
with gone as (
  delete from threads where id = $1 and owner_id = $2 returning id
), done as (
  update deletions set done_at = now(), lease_until = null,
    gone = jsonb_build_object('threads', (select count(*) from gone))
  where kind = 'thread' and done_at is null and target_id = $1
  returning id, asked_by
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $2, coalesce((select asked_by from done), 'user'), 'thread_deleted', jsonb_build_object('thread', id)
  from gone
)
select id from done
"""

# A hold-out is hidden until its session has ended, here as everywhere.
_READ_ARTIFACT = """
select a.kind, s.ended_at is null and s.id is not null as is_session_live,
  s.class is not distinct from 'turn' and a.kind in ('workspace', 'variables') or exists (
    select from turns t join turns u on u.thread_id = t.thread_id
      join artifacts w on w.session_id = u.session_id and w.kind = 'workspace'
    where t.session_id = a.session_id and a.digest = any(w.mentions)) as is_in_workspace
from artifacts a left join sessions s on s.id = a.session_id
where a.id = $1 and a.owner_id = $2 and (a.kind <> 'holdout' or s.ended_at is not null)
"""
_FIND_DATASET = "select from datasets where id = $1 and owner_id = $2"
# Without a thread: a turn that goes on to be deleted after its thread.
_READ_SESSION = """
select s.class as session_class, t.thread_id from sessions s left join turns t on t.session_id = s.id
where s.id = $1 and s.owner_id = $2
"""


class DeletedSession(NamedTuple):
    """A row of `_READ_SESSION`. `thread_id`: the conversation of a turn."""

    session_class: str
    thread_id: UUID | None


class ArtifactStatus(NamedTuple):
    """A row of `_READ_ARTIFACT`."""

    kind: str
    is_session_live: bool
    is_in_workspace: bool


@dataclass(frozen=True)
class Deletions:
    """Delete on behalf of owners. A method with an owner touches only rows of that owner."""

    db: Database
    redis: Redis
    tail: EventPublisher
    send: SendJob

    async def delete_session(
        self, owner: UUID, session_id: UUID, also_derived: bool | None, run: bool = False
    ) -> int:
        """Delete a session (with `run`: a run) and its runs; return the number of sessions that must end first.

        `also_derived`: delete predictions with its models, too; None raises Conflict if there are any.
        Raises NotFound, and Conflict for a turn of a conversation.
        """
        row = await self.db.row(_READ_SESSION, session_id, owner)
        session = DeletedSession(**row) if row else None
        if session is None or (run and session.session_class != "run"):
            raise make_not_found_error(session_id)
        if session.thread_id is not None:
            # The turns after it and the worldlines that end at it would lose the turn before them.
            raise Conflict(
                "turn_of_thread",
                "A turn is deleted with its conversation only: DELETE /threads/"
                f"{session.thread_id} deletes all of its turns.",
                thread_id=str(session.thread_id),
            )
        dependents = await find_dependents(self.db, owner, DeletionTargets(sessions=[session_id]))
        # A session's own rows and runs go with it, whatever its owner chooses.
        own = [dependent for dependent in dependents if session_id in (dependent.id, dependent.parent_id)]
        external = [dependent for dependent in dependents if dependent not in own]
        return await self._delete(owner, [*own, *_choose_dependents("session", external, also_derived)])

    async def delete_dataset(self, owner: UUID, dataset_id: UUID, also_derived: bool | None) -> int:
        """Delete a dataset like `delete_session`. Raises also Conflict when a live session would lose it."""
        if await self.db.row(_FIND_DATASET, dataset_id, owner) is None:
            raise NotFound("dataset_not_found", f"There is no dataset with the id {dataset_id}.")
        dependents = await find_dependents(self.db, owner, DeletionTargets(datasets=[dataset_id]))
        if also_derived is False and any(dependent.is_live for dependent in dependents):
            raise Conflict(
                "dataset_in_use",
                "A session that has not ended uses this dataset; cancel it first, or send `derived=true` to "
                "delete everything derived from the dataset, too.",
            )
        included = _choose_dependents("dataset", dependents, also_derived)
        return await self._delete(owner, included, datasets=[dataset_id])

    async def delete_artifact(self, owner: UUID, artifact_id: UUID, also_derived: bool | None) -> int:
        """Delete an artifact like `delete_dataset`; the dependents of a model are its predictions.

        Raises Conflict also for one that a workspace of its conversation has: its bytes would stay uncounted.
        """
        row = await self.db.row(_READ_ARTIFACT, artifact_id, owner)
        if row is None:
            raise NotFound("artifact_not_found", f"There is no artifact with the id {artifact_id}.")
        artifact = ArtifactStatus(**row)
        if artifact.is_session_live:
            raise Conflict("session_not_ended", "Its session has not ended and may need it; cancel that first.")
        if artifact.is_in_workspace:
            raise Conflict(
                "artifact_in_use",
                "Messages of its conversation still use this artifact. It is deleted with the conversation.",
            )
        dependents: list[Dependent] = []
        if artifact.kind == "model":
            dependents = await find_dependents(self.db, owner, DeletionTargets(models=[artifact_id]))
        included = _choose_dependents("model", dependents, also_derived)
        return await self._delete(owner, included, artifacts=[artifact_id])

    async def delete_thread(self, owner: UUID, thread_id: UUID) -> int:
        """Delete a conversation with its turns and runs; return the number of those that must end first.

        Raises NotFound.
        """
        if await self.db.row(_HIDE_THREAD, thread_id, owner, LEASE_S) is None:
            raise NotFound("thread_not_found", f"There is no thread with the id {thread_id}.")
        return await self.resume_thread(owner, thread_id)

    async def resume_thread(self, owner: UUID, thread_id: UUID, asked_by: str = USER) -> int:
        """Delete a hidden conversation; return the number of sessions that must end first. Safe to repeat."""
        sessions = await self.db.column(_LIST_TURNS_AND_RUNS, thread_id, owner)
        remaining = await self._delete_rows(owner, sessions, asked_by=asked_by)
        # Turns that must end first go on to be deleted as sessions, without their thread.
        if await self.db.row(_DELETE_THREAD, thread_id, owner) is not None:
            DELETIONS_DONE.labels("thread").inc()
        return remaining

    async def delete_ended(self, sessions: Sequence[UUID]) -> int:
        """Delete the ended sessions and cancel the others; return how many remain. Safe to repeat."""
        if not sessions:
            return 0
        self.notify_cancelled(await self.db.column(_CANCEL_SESSIONS, sessions))
        deleted = await self.db.column(_DELETE_SESSIONS, sessions)
        completed = await self.db.rows(_COMPLETE, sessions)
        DELETIONS_DONE.labels("session").inc(len(completed))
        await self._delete_checkpoints(deleted)
        return int(await self.db.value(_COUNT_REMAINING, sessions) or 0)

    def notify_cancelled(self, sessions: Sequence[UUID]) -> None:
        """Notify the drivers of sessions that were cancelled in the database."""
        for session_id in sessions:
            self.tail.announce_change(session_id)
            self.send(advance_job(session_id))

    async def _delete(
        self,
        owner: UUID,
        dependents: Sequence[Dependent],
        datasets: Sequence[UUID] = (),
        artifacts: Sequence[UUID] = (),
    ) -> int:
        sessions = [dependent.id for dependent in dependents if dependent.kind != "artifact"]
        predictions = [dependent.id for dependent in dependents if dependent.kind == "artifact"]
        return await self._delete_rows(owner, sessions, [*artifacts, *predictions], datasets)

    async def _delete_rows(
        self,
        owner: UUID,
        sessions: Sequence[UUID],
        artifacts: Sequence[UUID] = (),
        datasets: Sequence[UUID] = (),
        asked_by: str = USER,
    ) -> int:
        """Record the request and delete what can be deleted now; return the number of sessions that remain."""
        ids = (list(sessions), list(artifacts), list(datasets))
        self.notify_cancelled(await self.db.column(_REQUEST, owner, *ids, asked_by))
        remaining = await self.delete_ended(sessions[:_MAX_SESSIONS_AT_ONCE])
        return remaining + len(sessions[_MAX_SESSIONS_AT_ONCE:])

    async def _delete_checkpoints(self, sessions: Sequence[UUID]) -> None:
        try:
            for session_id in sessions:
                await self.redis.delete(checkpoint_key(str(session_id)))
        except REDIS_AWAY:
            return  # a checkpoint expires by itself


def _choose_dependents(
    noun: str, dependents: Sequence[Dependent], also_derived: bool | None
) -> Sequence[Dependent]:
    """Return the dependents to delete; raises Conflict where their owner must choose."""
    if also_derived is None and dependents:
        raise dependents_exist(noun, dependents)
    return dependents if also_derived else ()
