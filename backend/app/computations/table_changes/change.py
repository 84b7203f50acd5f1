"""The effect of one statement on the tables of a conversation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from app.computations.sql_policy.select_policy import DATASET
from app.computations.table_changes.syntax_trees import Columns
from app.computations.table_changes.tables import TableScope, find_name

Describe = Callable[[exp.Expr], Columns]
"""Return the columns of a query."""
ChangeKind = Literal[
    "created", "replaced", "inserted", "updated", "deleted", "altered", "renamed", "dropped", "kept"
]


@dataclass(frozen=True)
class Change:
    """The effect of one statement. `rows`: the SELECT of the new version; None if no row changes.

    `is_view`: the SELECT is kept, not its rows. `count_query`: counts the changed rows; None if the
    sizes of both versions tell. `keeps_size`: both versions have as many rows. `note`: the change of columns.
    """

    kind: ChangeKind
    table: str
    rows: exp.Expr | None = None
    is_view: bool = False
    new_name: str = ""
    count_query: exp.Expr | None = None
    keeps_size: bool = False
    note: str = ""


def is_copy_of_dataset(change: Change, tables: TableScope) -> bool:
    """Test if a change makes the conversation's own copy of a dataset."""
    return tables.find(change.table) is None and find_name(change.table, tables.datasets) is not None


def describe_copy(name: str) -> str:
    """Say that a conversation has its own copy of a dataset."""
    return (
        f"{name} is now a table of this conversation; the dataset stays as it is, and can be read as "
        f"{DATASET}.{name}."
    )
