"""Check of the columns that a request names against those of its datasets, before anything is started."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from app.datasets.repository import DatasetRepository
from app.errors import InvalidInput
from app.modeling.problem.name_resolution import nearest_names

MAX_LISTED_COLUMNS = 30
"""Columns that a refusal lists: those of a usual table. A wide one is named by the nearest alone."""

COLUMN_PREFERENCES = ("target", "time_column", "group_column", "exclude", "column_types")
"""Preferences of a session that name columns: one, a list, or the keys of an object."""


def check_columns(preferences: Mapping[str, object], columns: Iterable[str], path: str) -> None:
    """Check that every preference names columns that exist, whatever their case. `path`: of the preferences.

    Raises InvalidInput with the nearest names and the columns that there are.
    """
    available = list(dict.fromkeys(columns))
    spellings = {name.casefold() for name in available}
    for preference in COLUMN_PREFERENCES:
        names = _list_names(preferences.get(preference))
        for name in names:
            if name.casefold() not in spellings:
                raise _make_refusal(preference, name, available, path)


async def check_dataset_columns(
    db: AsyncSession, owner: UUID, dataset_ids: Sequence[UUID], preferences: Mapping[str, object], path: str
) -> None:
    """Check the preferences against the datasets of an owner. Raises as `check_columns`.

    Nothing is checked without datasets, where stored prices are the table, and where one does not exist.
    """
    if not dataset_ids or not any(_list_names(preferences.get(name)) for name in COLUMN_PREFERENCES):
        return
    by_dataset = await DatasetRepository(db, owner).column_names(dataset_ids)
    if len(by_dataset) == len(dataset_ids):
        check_columns(preferences, (name for names in by_dataset for name in names), path)


def _list_names(preference: object) -> list[str]:
    """List the names of a preference."""
    if isinstance(preference, str):
        return [preference]
    return [str(name) for name in preference] if isinstance(preference, Iterable) else []


def _make_refusal(preference: str, name: str, columns: Sequence[str], path: str) -> InvalidInput:
    nearest = nearest_names(name, columns)
    remarks = [f"Did you mean {' or '.join(nearest)}?"] if nearest else []
    if len(columns) <= MAX_LISTED_COLUMNS:
        remarks.append(f"The columns are {', '.join(columns)}.")
    elif not nearest:
        remarks.append(f"The first of {len(columns):,} columns are {', '.join(columns[:MAX_LISTED_COLUMNS])}.")
    role = preference.replace("_", " ")
    return InvalidInput(
        "unknown_column",
        f"There is no column {name!r}, which {role} names. {' '.join(remarks)}",
        field=f"{path}.{preference}",
        nearest=nearest,
    )
