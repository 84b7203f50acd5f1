"""The stored reading of a dataset."""

from app.db.tables import DatasetRow
from app.modeling.problem.readings import FileReading, derive_reading


def get_reading(row: DatasetRow) -> FileReading:
    """The reading of a dataset; of one that was stored before readings were, derived from its format."""
    if row.reading is None:
        return derive_reading(row.columns, row.format)
    return FileReading.model_validate(row.reading)
