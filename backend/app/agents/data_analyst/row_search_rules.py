"""Rules of the stage `answer` for searches among the rows: the search itself, and what it says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.agents.data_analyst.brief import AnswerBrief
from app.agents.goals.conditions.row_conditions import select_rows
from app.agents.goals.series.select_sql import select_all
from app.agents.runtime.conversation import CompletedCall, ConversationView
from app.agents.runtime.offline_policy import AgentAction, call
from app.counts import describe_count

UNUSUAL, GROUPS = "find_unusual_rows", "find_row_groups"
FOUND_ROWS = (UNUSUAL, GROUPS)
"""Tools that search among rows."""
_MAX_TRAITS = 3
"""Traits of a group in its sentence; the table has the figures of all."""
_MIN_NUMBER_TRAIT, _MIN_LEVEL_TRAIT = 0.5, 0.2
"""Difference of a group from the other rows that is told: in standard deviations, and in shares of a level."""


@dataclass(frozen=True)
class FoundUnusualRows:
    """The facts of unusual rows that their sentence needs, see `computations.queries.row_structure`."""

    columns: Sequence[Mapping[str, Any]]
    rows: Sequence[Sequence[Any]]
    unusual: int
    rows_used: int
    judged_columns: Sequence[str] = ()
    unjudged_columns: Sequence[str] = ()


@dataclass(frozen=True)
class FoundGroups:
    """The facts of groups that their sentence needs."""

    rows: Sequence[Sequence[Any]]
    row_count: int
    is_separated: bool
    is_stable: bool
    agreement: float
    traits: Sequence[Sequence[Mapping[str, Any]]] = field(default_factory=tuple)


def search_rows(view: ConversationView[AnswerBrief]) -> AgentAction | None:
    """Search the planned rows, once: a refused search would be refused again."""
    search = view.brief.plan.row_search
    if search is None or view.was_called(UNUSUAL) or view.was_called(GROUPS):
        return None
    source = select_all(view.brief.plan.tables[0])
    sql = select_rows(source, view.brief.plan.filter) if view.brief.plan.filter else source
    message = "I compare the rows with each other."
    if search.kind == "groups":
        return call(GROUPS, message=message, sql=sql, columns=[*search.columns], count=search.count)
    return call(
        UNUSUAL, message=message, sql=sql, columns=[*search.columns], focus=search.focus, side=search.side
    )


def describe_search(completed: CompletedCall) -> str:
    """Describe what a search found, with what may be chance. Every figure is one of its facts."""
    if completed.name == GROUPS:
        return _describe_groups(completed.read(FoundGroups))
    return _describe_unusual(completed.read(FoundUnusualRows))


def _describe_unusual(search: FoundUnusualRows) -> str:
    skipped = ", ".join(f"`{name}`" for name in search.unjudged_columns)
    rest = f" There was no time to judge {skipped}." if skipped else ""
    if not search.unusual:
        return (
            f"No row is unusual: none of {search.rows_used:,} is three times as far from what its other values"
            f" lead to expect as nine of ten rows like it are. The table lists those that fit least.{rest}"
        )
    names = [str(column["name"]) for column in search.columns]
    cells = [dict(zip(names, row, strict=True)) for row in search.rows]
    first = cells[0]
    column = first.get("column") or search.judged_columns[0]
    of_rows, verb = describe_count(search.rows_used, "row"), "does" if search.unusual == 1 else "do"
    has_level = any(not _has_range(row_cells) for row_cells in cells)
    or_level = ", or at most one in a hundred rows like it has it" if has_level else ""
    return (
        f"{search.unusual:,} of {of_rows} {verb} not fit the others: a value is at least three times as far"
        f" from what the other columns lead to expect as in nine of ten rows like it{or_level}."
        f"\nFarthest off is row {first['row']}: its `{column}` is {_say(first['value'])} where"
        f" {_say(first['expected'])} would be expected{_describe_range(first)}.{rest}"
        "\nunusual_rows.csv has these rows with all of their columns."
    )


def _has_range(cells: Mapping[str, Any]) -> bool:
    return cells.get("usually from") not in (None, "")


def _describe_range(cells: Mapping[str, Any]) -> str:
    if not _has_range(cells):
        return ""
    return f", and usually {_say(cells['usually from'])} to {_say(cells['usually to'])}"


def _say(value: object) -> str:
    return f"{value:,.10g}" if isinstance(value, float) else str(value)


def _describe_groups(search: FoundGroups) -> str:
    groups = "; ".join(
        f"{row[0]} ({describe_count(int(row[1]), 'row')}){_describe_traits(traits)}"
        for row, traits in zip(search.rows, search.traits, strict=True)
    )
    number = describe_count(search.row_count, "group")
    first = (
        f"The rows form {number}: {groups}."
        if search.is_separated
        else (
            "The rows form no groups that stand apart: rows without groups, whose columns go together alike,"
            f" are divided as well.\nDivided all the same, there are {number}: {groups}."
        )
    )
    samples = (
        f"Samples of the rows are divided alike (agreement {search.agreement}, where one is the same)."
        if search.is_stable
        else (
            f"Samples of the rows are divided differently (agreement {search.agreement}, where one is the same"
            " and zero is chance): which group a row is in depends on the rows that happen to be there."
        )
    )
    return f"{first}\n{samples}\nrow_groups.csv has the group of each row."


def _describe_traits(traits: Sequence[Mapping[str, Any]]) -> str:
    texts = [text for trait in traits if (text := _describe_trait(trait))][:_MAX_TRAITS]
    return f" with {' and '.join(texts)}" if texts else ""


def _describe_trait(trait: Mapping[str, Any]) -> str:
    difference, typical = float(trait["difference"]), trait["typical"]
    if isinstance(typical, str):
        return f"mostly {typical} (`{trait['column']}`)" if difference >= _MIN_LEVEL_TRAIT else ""
    if abs(difference) < _MIN_NUMBER_TRAIT:
        return ""
    return f"{'high' if difference > 0 else 'low'} `{trait['column']}`"
