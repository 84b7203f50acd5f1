"""Preferences that name columns: found in the tables as they are written there, or asked about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.agents.goals.tables import Table
from app.modeling.problem.names import nearest_names

NAMING = ("target", "time_column", "group_column")
NONE_OF_THEM = "none of them"
MAX_OPTIONS = 8


@dataclass(frozen=True)
class Unknown:
    """A preference that names no column, and what may have been meant."""

    key: str
    name: str
    options: tuple[str, ...]


def resolve_preferences(
    preferences: Mapping[str, Any], tables: Sequence[Table], answers: Mapping[str, str]
) -> tuple[dict[str, Any], list[Unknown], list[str]]:
    """The preferences with names as the tables write them; those to ask about; and notes on what was left out.

    `answers`: what the user said to `Unknown` keys.
    """
    known = list(dict.fromkeys(column.name for table in tables for column in table.columns))
    by_folded = {name.casefold(): name for name in known}
    wishes = {key: value for key, value in preferences.items() if value not in (None, [], "")}
    unknown: list[Unknown] = []
    for key in NAMING:
        if key not in wishes:
            continue
        name = answers.get(key, str(wishes[key]))
        if name.casefold() in by_folded:
            wishes[key] = by_folded[name.casefold()]
        elif name == NONE_OF_THEM:
            del wishes[key]
        else:
            unknown.append(Unknown(key, name, _options(key, name, known)))
    typed = wishes.get("column_types", {}).items()
    types = {by_folded.get(str(name).casefold(), str(name)): kind for name, kind in typed}
    if types:
        wishes["column_types"] = {name: kind for name, kind in types.items() if name in known}
    excluded = [by_folded.get(str(name).casefold(), str(name)) for name in wishes.get("exclude", ())]
    missing = [name for name in excluded if name not in known]
    if excluded:
        wishes["exclude"] = [name for name in excluded if name in known]
    notes = [f"There is no column {name!r} to leave out." for name in missing]
    notes += [f"There is no column {name!r} whose type could be set." for name in types if name not in known]
    return wishes, unknown, notes


def _options(key: str, name: str, known: Sequence[str]) -> tuple[str, ...]:
    close = nearest_names(name, known, MAX_OPTIONS) or list(known[:MAX_OPTIONS])
    return (*close,) if key == "target" else (*close, NONE_OF_THEM)
