"""Refusal of files whose reading ended a cell.

The readers are native code: a damaged or hostile file may crash them, or use up time or memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from app.errors import InvalidInput, TooLarge
from app.sandbox.computation_runner import CellLost, ComputationFailed
from app.sandbox.exchange.contract import End

_TOO_LARGE = {
    End.TIMED_OUT: (
        "too_long_to_read",
        "The file takes longer to read than reading may take: send fewer rows.",
    ),
    End.OUT_OF_MEMORY: (
        "too_large_to_read",
        "The file needs more memory than reading may take: send its table as CSV, or of CSV fewer columns.",
    ),
    End.OUT_OF_DISK: ("expands_too_far", "The file unpacks to more than may be written: send fewer rows."),
}


@contextmanager
def refuse_unreadable_files() -> Iterator[None]:
    """Raise TooLarge or InvalidInput when the cell of the block ended without a result.

    A cell that was lost for a reason of the host, or cancelled, is no evidence against the file.
    """
    try:
        yield
    except CellLost:
        raise
    except ComputationFailed as failed:
        end = failed.code.removeprefix("computation_")
        if end in _TOO_LARGE:
            raise TooLarge(*_TOO_LARGE[End(end)]) from failed
        if end in (End.DIED, End.RAISED):
            raise InvalidInput(
                "damaged_file",
                "The file cannot be read: its reader broke off. Open it where it was made, and save it again.",
            ) from failed
        raise
