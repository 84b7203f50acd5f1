"""Resolution of preferences that name columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.agents.goals.tables import TableProfile
from app.modeling.problem.names import nearest_names

COLUMN_PREFERENCES = ("target", "time_column", "group_column")
NO_COLUMN_OPTION = "none of them"
MAX_OPTIONS = 8


@dataclass(frozen=True)
class UnknownColumn:
    """A preference that names no column, with the nearest names."""

    key: str
    name: str
    options: tuple[str, ...]


def resolve_preferences(
    preferences: Mapping[str, Any], tables: Sequence[TableProfile], answers: Mapping[str, str]
) -> tuple[dict[str, Any], list[UnknownColumn], list[str]]:
    """Return the preferences in the tables' spelling, those to ask about, and notes on ignored names.

    `answers`: the user's answers about `UnknownColumn` keys.
    """
    columns = list(dict.fromkeys(column.name for table in tables for column in table.columns))
    folded_names = {name.casefold(): name for name in columns}
    resolved = {key: value for key, value in preferences.items() if value not in (None, [], "")}
    unknown: list[UnknownColumn] = []
    for key in COLUMN_PREFERENCES:
        if key not in resolved:
            continue
        name = answers.get(key, str(resolved[key]))
        if name.casefold() in folded_names:
            resolved[key] = folded_names[name.casefold()]
        elif name == NO_COLUMN_OPTION:
            del resolved[key]
        else:
            unknown.append(UnknownColumn(key, name, _options(key, name, columns)))
    typed_columns = resolved.get("column_types", {}).items()
    types = {folded_names.get(str(name).casefold(), str(name)): kind for name, kind in typed_columns}
    if types:
        resolved["column_types"] = {name: kind for name, kind in types.items() if name in columns}
    excluded = [folded_names.get(str(name).casefold(), str(name)) for name in resolved.get("exclude", ())]
    missing = [name for name in excluded if name not in columns]
    if excluded:
        resolved["exclude"] = [name for name in excluded if name in columns]
    notes = [f"There is no column {name!r} to exclude." for name in missing]
    notes += [f"There is no column {name!r} whose type could be set." for name in types if name not in columns]
    return resolved, unknown, notes


def _options(key: str, name: str, columns: Sequence[str]) -> tuple[str, ...]:
    nearest = nearest_names(name, columns, MAX_OPTIONS) or list(columns[:MAX_OPTIONS])
    return (*nearest,) if key == "target" else (*nearest, NO_COLUMN_OPTION)
