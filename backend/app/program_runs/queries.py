"""One owner's runs: a view of each, and their list."""

from dataclasses import dataclass
from uuid import UUID

from app.db.keyset import MAX_COUNTED_ROWS, ListPage, PageRequest, make_page
from app.db.pool import Database
from app.db.statements import load
from app.program_runs.schemas import REFUSALS, Language, RunArtifact, RunStatus, RunSummary, RunView
from app.sessions.queries import SessionReader

_RUNS = load("app.program_runs", "runs")
_LIST = _RUNS.list_runs.replace("-- RUNS", _RUNS.runs)
MAX_RUN_ARTIFACTS = 100
"""Files in the view of a run, as many as a page of artifacts has at most."""
_COUNT = _RUNS.count_runs.replace("-- RUNS", _RUNS.runs)


@dataclass(frozen=True)
class RunFilter:
    """Runs in a status, over a dataset, in a language, of a conversation; None admits all."""

    status: RunStatus | None = None
    dataset_id: UUID | None = None
    language: Language | None = None
    thread_id: UUID | None = None


@dataclass(frozen=True)
class RunReader:
    """Read access of one owner to runs. Methods raise NotFound for a run of another owner."""

    db: Database
    owner: UUID

    async def get(self, run_id: UUID) -> RunView:
        session = await SessionReader(self.db, self.owner, runs=True).get(run_id)
        rows = await self.db.rows(_RUNS.list_artifacts, run_id, self.owner, MAX_RUN_ARTIFACTS)
        return RunView.from_session_view(session, [RunArtifact(**dict(row)) for row in rows])


async def list_runs(
    database: Database, owner: UUID, admitted: RunFilter, portion: PageRequest
) -> ListPage[RunSummary]:
    """List the runs that a filter admits, newest first. Their status is that of `RunView`."""
    thread_id = str(admitted.thread_id) if admitted.thread_id else None
    scope = (owner, admitted.status, admitted.dataset_id, admitted.language, sorted(REFUSALS), thread_id)
    after = portion.after
    cursor = (after.at, after.id) if after else (None, None)
    rows = await database.rows(_LIST, *scope, *cursor, portion.limit + 1, portion.offset)
    if after:
        total = after.total
    else:
        count = await database.row(_COUNT, *scope, MAX_COUNTED_ROWS)
        total = int(count["total"]) if count else 0
    runs = [RunSummary(**dict(row)) for row in rows]
    return make_page(runs, portion, total, lambda run: (run.created_at, run.id))
