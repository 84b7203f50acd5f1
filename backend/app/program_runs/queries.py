"""List of one owner's runs."""

from dataclasses import dataclass
from uuid import UUID

from app.db.keyset import MAX_COUNTED_ROWS, ListPage, PageRequest, make_page
from app.db.pool import Database
from app.db.statements import load
from app.program_runs.schemas import REFUSALS, Language, RunStatus, RunSummary

_RUNS = load("app.program_runs", "runs")
_LIST = _RUNS.list_runs.replace("-- RUNS", _RUNS.runs)
_COUNT = _RUNS.count_runs.replace("-- RUNS", _RUNS.runs)


@dataclass(frozen=True)
class RunFilter:
    """Runs in a status, over a dataset, in a language; None admits all."""

    status: RunStatus | None = None
    dataset_id: UUID | None = None
    language: Language | None = None


async def list_runs(
    database: Database, owner: UUID, admitted: RunFilter, portion: PageRequest
) -> ListPage[RunSummary]:
    """List the runs that a filter admits, newest first. Their status is that of `RunView`."""
    scope = (owner, admitted.status, admitted.dataset_id, admitted.language, sorted(REFUSALS))
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
