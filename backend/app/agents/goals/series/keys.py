"""Columns that tell apart the series that a goal asks for: "per machine", "which branch will lend most"."""

import re
from collections.abc import Collection

from app.agents.goals.columns.named_columns import match_columns
from app.agents.goals.periods import vocabulary
from app.agents.goals.series.layout import SeriesLayout
from app.agents.goals.series.select_sql import GroupRanking
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.tokenizer import words

MAX_SERIES = 50
"""Groups of transactions that are forecast each: more make a report that nobody reads."""
_HIGHEST = r"most|best|highest|largest|biggest|greatest|busiest|hottest|strongest|top"
_LOWEST = r"least|worst|lowest|smallest|fewest|quietest|coldest|weakest|bottom"
_SUPERLATIVE = rf"(?P<superlative>{_HIGHEST}|{_LOWEST})"
_GROUP = r"(?P<phrase>\w{2,40}(?: \w{2,40})?)"
_RANKINGS = (
    re.compile(
        rf"\b(?:which|what)(?: of (?:the|our))? {_GROUP}"
        rf" (?:will|(?:is|are) (?:going|likely|expected|set|about) to)\b[^.?!]{{0,80}}\b{_SUPERLATIVE}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:what|which) will (?:be )?(?:the |our )?{_SUPERLATIVE} (?P<phrase>\w{{2,40}})\b", re.IGNORECASE
    ),
    re.compile(
        rf"^\W{{0,3}}(?:the )?{_SUPERLATIVE} (?P<phrase>\w{{2,40}}) (?:by|in|for|with)\b", re.IGNORECASE
    ),
    re.compile(
        r"^\W{0,3}(?:please )?(?:rank|order|sort)(?: all)?(?: the| our)? (?P<phrase>\w{2,40}) (?:by|on|for)\b",
        re.IGNORECASE,
    ),
)
"""Questions which of some groups will be first or last, for which each of them is forecast."""
_IS_LOWEST = re.compile(_LOWEST, re.IGNORECASE)


def find_ranked_keys(text: str, table: TableProfile) -> list[Column]:
    """Return the columns of the groups that a goal compares: "which branch will lend most"."""
    ranked = _find_ranking(text, table)
    return ranked[0] if ranked else []


def find_ranking(text: str, table: TableProfile) -> GroupRanking | None:
    """Return the order of the groups that a goal compares by their forecasts; None without one."""
    ranked = _find_ranking(text, table)
    return ranked[1] if ranked else None


def _find_ranking(text: str, table: TableProfile) -> tuple[list[Column], GroupRanking] | None:
    for pattern in _RANKINGS:
        if match := pattern.search(text):
            names = match_columns(match["phrase"], table.columns)
            columns = [c for c in table.columns if c.name in names and _makes_groups(c)]
            is_least = _IS_LOWEST.fullmatch(match.groupdict().get("superlative") or "") is not None
            if columns:
                return columns, "least" if is_least else "most"
    return None


def find_group_columns(text: str, table: TableProfile) -> list[Column]:
    """Return the columns of few values that a goal tells apart: "per machine"."""
    return [column for column in _find_mentioned(text, table) if _makes_groups(column)]


def _makes_groups(column: Column) -> bool:
    return column.hint == "category" and 2 <= column.distinct <= MAX_SERIES


def _find_mentioned(text: str, table: TableProfile) -> list[Column]:
    """Return the columns that a goal tells apart, or whose values it compares."""
    # "The sales of all stores together" adds the stores, "of all stores" alone tells them apart.
    is_added = vocabulary.TOTAL.search(text) is not None
    phrases = [
        match["phrase"]
        for match in vocabulary.GROUPS.finditer(text)
        if not (is_added and {"all", "across"} & set(words(match["marker"])))
    ]
    ranked = find_ranked_keys(text, table)
    return [
        column
        for column in table.columns
        if column in ranked or any(column.name in match_columns(phrase, table.columns) for phrase in phrases)
    ]


def choose_keys(
    text: str, table: TableProfile, layout: SeriesLayout, values: Collection[str]
) -> tuple[Column, ...]:
    """Choose the columns that tell apart the series that the goal asks for, without those of `values`."""
    mentioned = _find_mentioned(text, table)
    if layout.kind == "panel":
        free = tuple(key for key in layout.keys if key.name not in values)
        mentioned_keys = [column for column in mentioned if column in (*layout.keys, *layout.spare_keys)]
        if vocabulary.TOTAL.search(text) or find_ranked_keys(text, table):
            return tuple(column for column in mentioned_keys if column.name not in values)
        is_subset = (
            mentioned_keys and len(free) > 1 and {c.name for c in mentioned_keys} < {c.name for c in free}
        )
        return tuple(mentioned_keys) if is_subset or len(mentioned_keys) == len(free) == 1 else free
    groups = [column for column in mentioned if _makes_groups(column) and column.name not in values]
    return tuple(groups[:1]) if layout.kind == "transactions" else ()
