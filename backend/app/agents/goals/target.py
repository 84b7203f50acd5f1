"""The target column of a goal. Every column gets a score; without a clear winner the user is asked."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from app.agents.goals.column_roles import match_roles
from app.agents.goals.columns import match_columns
from app.agents.goals.evidence import find_evidence, make_word_table
from app.agents.goals.goal import Goal
from app.agents.goals.intents import GENERIC
from app.agents.goals.stemming import stem, stems
from app.agents.goals.tables import Column, TableProfile, mentioned_tables
from app.agents.goals.tokenizer import words
from app.agents.goals.word_index import WordIndex, make_word_index

QUOTED_SCORE = 20.0
"""A column in quotes: above any sum of the scores below, which end at 12 with the bonus for its position
and at 16 in the table that the goal names."""
WRITTEN_SCORE = 14.0
"""A name as only columns are called (`arr_delay`), whatever its part in the sentence."""
NAMED_SCORE = 9.0
"""A name that is the head of the request; other evidence counts for a share of it."""
WORDS_SCORE = 6.0
"""All words of a name, but not one after the other."""
MEANING_SCORE = MISSPELT_SCORE = 4.0
VALUE_SCORE = 3.0
"""One of the column's values, such as "is it a Gentoo?"."""
SIMILAR_SCORE = 1.5
"""A similar spelling: below `MIN_LONE_SCORE`, to rank a column first among the options."""
_WRONG_TYPE_SHARE = 0.6
"""Share of its score that a column of classes keeps where an amount is asked for."""
_CONSEQUENCE_SHARE = 0.7
"""Share of its score that a column keeps that is empty in most rows."""
MIN_CLEAR_SCORE, MIN_LEAD_RATIO = 2.8, 1.15
"""Score of a clear winner, and its ratio to the second: a synonym beside an exact word is no rival, and two
exact words are."""
MIN_LONE_SCORE, MAX_NO_RIVAL_SCORE = 2.0, 0.5
"""A lower score is enough if no other column scores above `MAX_NO_RIVAL_SCORE`."""

NAMED_TABLE_FACTOR = 1.3
"""Above `MIN_LEAD_RATIO`: between equal columns the goal's table decides."""
TARGET_NAMES = frozenset({"target", "label"})
EDGE_TARGET_NAMES = frozenset({"y", "class", "outcome", "response"})
"""Names that mark the target only in the first or last column; elsewhere `class` may be a cabin class."""

MAX_OPTIONS = 8
"""Columns that a question offers: as many as a user compares at a glance."""
MIN_SIMILARITY = 0.6
"""Ratio of `SequenceMatcher` from which names are similar; its own `get_close_matches` takes the same."""
MAX_COMPARED_WORDS = 100
"""Words of a goal that are compared with every name by edit similarity: 0.2 s for 2,000 columns. Misspelt names
are not searched for in the rest of a longer text."""
_GENERIC_STEMS = frozenset(map(stem, GENERIC))


@dataclass(frozen=True)
class ScoredColumn:
    table: TableProfile
    column: Column
    score: float


@dataclass(frozen=True)
class TargetMatch:
    """`target` if goal and data determine it; else the `options` of the question, the likeliest first."""

    target: ScoredColumn | None
    options: tuple[ScoredColumn, ...]
    unsuitable: Column | None = None
    """A column that the goal names but that is no useful target: text, dates or an identifier."""


def find_target(
    goal: Goal, tables: Sequence[TableProfile], preference: str | None = None, excluded: Sequence[str] = ()
) -> TargetMatch:
    """Find the target in any of the tables. A `preference` that names a column decides.

    Columns that the goal denies, groups by or excludes (`excluded`) are never the target. An exploratory goal,
    or one that names text or an identifier, determines no target.
    """
    if preference and (exact := _columns_of_name(preference, tables)):
        return TargetMatch(exact[0], tuple(exact))
    scored = _score_columns(goal, tables, _columns_in_other_roles(goal, tables) | set(excluded))
    target = _clear_winner(scored) or _conventional_target(goal, scored)
    options = tuple(_rank_options(scored))
    if target and not target.column.can_be_target:
        return TargetMatch(None, (*options, target), target.column)
    return TargetMatch(None if goal.is_exploratory else target, options)


def _columns_of_name(name: str, tables: Sequence[TableProfile]) -> list[ScoredColumn]:
    return [
        ScoredColumn(table, column, QUOTED_SCORE)
        for table in tables
        for column in table.columns
        if column.name.casefold() == name.casefold()
    ]


def _columns_in_other_roles(goal: Goal, tables: Sequence[TableProfile]) -> set[str]:
    """Return the columns that the goal denies, groups by or describes as something else than the target."""
    names: set[str] = set()
    for table in tables:
        names |= set(match_roles(goal.roles, table.columns))
        for phrase in goal.denied_phrases:
            names |= set(match_columns(phrase, table.columns))
        for phrase in goal.group_phrases:
            names |= {column.name for column in table.columns if stems(column.name) == stems(phrase)}
    return names


def _score_columns(goal: Goal, tables: Sequence[TableProfile], refused: Collection[str]) -> list[ScoredColumn]:
    """Score the columns of all tables, the best first, without the `refused` and the excluded ones."""
    named_tables = mentioned_tables(tables, goal.text)
    # If the goal names all tables, their names say nothing about the target's.
    boosted = named_tables if len(named_tables) < len(tables) else []
    excluded_names = {tuple(words(phrase)) for phrase in goal.excluded_phrases}
    candidates = [
        ScoredColumn(
            table,
            column,
            score_column(goal, column, table.name) * (NAMED_TABLE_FACTOR if table in boosted else 1.0),
        )
        for table in tables
        for column in table.columns
        if column.name not in refused and tuple(words(column.name)) not in excluded_names
    ]
    scored = _penalise_partial_names(goal, _drop_duplicates(candidates, boosted))
    return sorted(scored, key=lambda s: -s.score)


def _drop_duplicates(
    candidates: Sequence[ScoredColumn], named_tables: Sequence[TableProfile]
) -> list[ScoredColumn]:
    """Keep one of several columns of the same name: in the named table, else in the widest and longest one."""
    best: dict[str, ScoredColumn] = {}
    for candidate in sorted(
        candidates,
        key=lambda s: (s.table not in named_tables, -len(s.table.columns), -s.table.rows, s.table.name),
    ):
        best.setdefault(candidate.column.name.casefold(), candidate)
    return [candidate for candidate in candidates if best[candidate.column.name.casefold()] is candidate]


def score_column(goal: Goal, column: Column, table: str = "") -> float:
    """Score how clearly the goal names this column as its target. Identifiers and constants score low."""
    text = _text_score(goal, column, table)
    fit = 1.0 if column.can_be_target else 0.3
    if goal.kind == "regression" and not column.is_number and not column.is_stored_as_text:
        fit *= _WRONG_TYPE_SHARE
    # What is known of a minority of the rows is rather a consequence of the outcome: a reason, a fee.
    if column.missing > 0.5:
        fit *= _CONSEQUENCE_SHARE
    return fit * text + 0.5 * (goal.kind == "classification" and column.has_few_values and text > 0)


def _text_score(goal: Goal, column: Column, table: str) -> float:
    name = words(column.name)
    if any(words(quoted) == name for quoted in goal.quoted):
        return QUOTED_SCORE
    evidence = find_evidence(make_word_table(goal.target_text), column, table)
    score = NAMED_SCORE * evidence.strength
    if _is_written_out(goal.target_text, column.name):
        score = max(score, WRITTEN_SCORE)
    elif _find_initials(make_word_index(goal.after_verb or goal.target_text), "".join(name)) is not None:
        score = max(score, NAMED_SCORE)
    # "Direction from these prices": in a forecast the input columns may also be the target.
    if goal.lookahead or goal.outlook:
        score = max(
            score, 0.6 * NAMED_SCORE * find_evidence(make_word_table(goal.input_text), column, table).strength
        )
    return score


_NAME = re.compile(r"\w+")


def _is_written_out(text: str, name: str) -> bool:
    """Tell if a text holds a name that is no plain word as it stands: `arr_delay`, `SalePrice`, `Q7`."""
    is_plain = name.isalpha() and (name.islower() or name.istitle() or name.isupper())
    return not is_plain and name in _written_names(text)


@lru_cache(maxsize=64)
def _written_names(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


def _find_phrase(text_words: list[str], name: list[str]) -> int | None:
    starts = range(len(text_words) - len(name) + 1)
    return next((i for i in starts if text_words[i : i + len(name)] == name), None)


def _find_initials(index: WordIndex, name: str) -> int | None:
    """Return the position of words whose initials spell the name (miles per gallon: mpg), or None."""
    if len(name) < 3:
        return None
    at = index.initials.find(name)
    return at if at >= 0 else None


def _penalise_partial_names(goal: Goal, candidates: Sequence[ScoredColumn]) -> list[ScoredColumn]:
    """Halve the scores of names inside longer matched names: `sub-category` does not also mean Category."""
    index = make_word_index(goal.target_text)
    names = (words(s.column.name) for s in candidates)
    named_words = [name for name in names if name and index.find_words(name) is not None]

    def is_part(name: list[str]) -> bool:
        return any(
            len(name) < len(longer)
            and _find_phrase(longer, name) is not None
            and index.count_words(name) <= index.count_words(longer)
            for longer in named_words
        )

    return [replace(s, score=s.score / 2) if is_part(words(s.column.name)) else s for s in candidates]


def _clear_winner(scored: Sequence[ScoredColumn]) -> ScoredColumn | None:
    if not scored:
        return None
    first, *rest = scored
    rival = next((s.score for s in rest), 0.0)
    if first.score < (MIN_LONE_SCORE if rival < MAX_NO_RIVAL_SCORE else MIN_CLEAR_SCORE):
        return None
    return first if first.score >= MIN_LEAD_RATIO * rival or first.score >= QUOTED_SCORE > rival else None


def _conventional_target(goal: Goal, scored: Sequence[ScoredColumn]) -> ScoredColumn | None:
    """Return the only column with a conventional target name, if the goal names no target."""
    by_name = [s for s in scored if _has_target_name(s) and goal.names_no_target(s.table.name)]
    return by_name[0] if len(by_name) == 1 else None


def _has_target_name(candidate: ScoredColumn) -> bool:
    name, columns = candidate.column.name.lower(), candidate.table.columns
    at_an_end = candidate.column in (columns[0], columns[-1])
    return candidate.column.can_be_target and (
        name in TARGET_NAMES or (name in EDGE_TARGET_NAMES and at_an_end)
    )


def _rank_options(scored: Sequence[ScoredColumn]) -> list[ScoredColumn]:
    """Rank the possible targets by score; ties by target name, two values before many, later columns first."""
    possible = [(position, s) for position, s in enumerate(scored) if s.column.can_be_target]
    ranked = sorted(
        possible,
        key=lambda entry: (
            -entry[1].score,
            not _has_target_name(entry[1]),
            entry[1].column.distinct != 2,
            -entry[0],
        ),
    )
    return [s for _, s in ranked[:MAX_OPTIONS]]
