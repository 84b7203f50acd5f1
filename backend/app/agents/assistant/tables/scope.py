"""The tables that a message is about, where tables of the conversation repeat columns of older ones."""

from collections.abc import Iterator, Sequence

from app.agents.assistant.brief import EarlierTurn
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.tokenizer import words


def drop_superseded(
    message: str, tables: Sequence[TableProfile], earlier: Sequence[EarlierTurn]
) -> list[TableProfile]:
    """Leave out tables whose columns a newer table of the conversation has, too, unless they are named."""
    ages = _rank_by_age(tables, earlier)
    mentioned = {table.name for table in tables if _is_named(table, message)}
    return [
        table
        for table in tables
        if table.name in mentioned
        or not any(ages[other.name] < ages[table.name] and _covers(other, table) for other in tables)
    ]


def list_narrower_scopes(
    tables: Sequence[TableProfile], earlier: Sequence[EarlierTurn]
) -> Iterator[tuple[TableProfile, ...]]:
    """List the newest tables of the conversation, each alone: a word that several tables have means theirs."""
    ages = _rank_by_age(tables, earlier)
    changed = {name for turn in earlier for name in turn.changed}
    if len(tables) > 1:
        newest = sorted(
            (table for table in tables if table.name in changed), key=lambda table: ages[table.name]
        )
        yield from ((table,) for table in newest)


def list_joinable_groups(tables: Sequence[TableProfile]) -> list[tuple[TableProfile, ...]]:
    """Part tables into groups that share identifiers, so that a question about one is not read in another."""
    groups: list[tuple[TableProfile, ...]] = []
    for table in tables:
        joined = [group for group in groups if any(_share_identifier(table, other) for other in group)]
        others = [group for group in groups if group not in joined]
        # A table that shares identifiers with two groups makes them one.
        groups = [*others, (*(other for group in joined for other in group), table)]
    return groups if len(groups) > 1 else []


def _share_identifier(first: TableProfile, second: TableProfile) -> bool:
    return bool(_list_identifiers(first) & _list_identifiers(second))


def _list_identifiers(table: TableProfile) -> set[str]:
    names = {column.name.casefold(): column for column in table.columns}
    return {name for name, column in names.items() if column.hint == "id" or words(name)[-1:] in _IDENTIFIERS}


_IDENTIFIERS = (["id"], ["key"], ["code"], ["no"], ["nr"])
"""Last words of the names of identifiers."""


def _rank_by_age(tables: Sequence[TableProfile], earlier: Sequence[EarlierTurn]) -> dict[str, int]:
    """Rank tables, 0 for the newest: those that a turn changed last, then the others, all of one age."""
    changed = [name for turn in reversed(earlier) for name in reversed(turn.changed)]
    order = list(dict.fromkeys(changed))
    return {t.name: order.index(t.name) if t.name in order else len(order) for t in tables}


def _covers(newer: TableProfile, older: TableProfile) -> bool:
    names = {column.name.casefold() for column in newer.columns}
    return {column.name.casefold() for column in older.columns} <= names


def _is_named(table: TableProfile, message: str) -> bool:
    name = table.name.casefold()
    return name in words(message) or name in message.casefold().split()
