"""The target column of a goal. Every column gets a score; without a clear winner the user is asked."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.agents.goals.column_ranking import rank_columns
from app.agents.goals.column_roles import match_roles
from app.agents.goals.columns import avoided_columns, match_columns
from app.agents.goals.goal import Goal
from app.agents.goals.intents import GENERIC
from app.agents.goals.name_score import (
    NAMED_SCORE,
    QUOTED_SCORE,
    UNSUITABLE_SHARE,
    WRITTEN_SCORE,
    score_column,
)
from app.agents.goals.stemming import stem, stems
from app.agents.goals.tables import Column, TableProfile, mentioned_tables
from app.agents.goals.tokenizer import words
from app.agents.goals.word_index import make_word_index

MIN_CLEAR_SCORE = 2.8
"""Score of a column that the goal names clearly."""
MIN_PROBABILITY, MIN_ODDS = 0.45, 1.5
"""Probability from which a target is planned without a question, and its ratio to that of any other column."""
MIN_ODDS_ALIKE = 8.0
"""The same ratio between two columns that the goal names alike: the rest of it must tell them apart."""
MIN_NAMED_PROBABILITY = 0.9
"""Probability of the only column that the goal names wholly: its user may still mean another."""
MIN_LEAD_RATIO = 1.15
"""Ratio of two scores from which one column is named more clearly: a synonym beside an exact word."""
NAMED_TABLE_FACTOR = 1.3
"""Above `MIN_LEAD_RATIO`: between equal columns the goal's table decides."""
TARGET_NAMES = frozenset({"target", "label"})
EDGE_TARGET_NAMES = frozenset({"y", "class", "outcome", "response"})
"""Names that mark the target only in the first or last column; elsewhere `class` may be a cabin class."""

MAX_OPTIONS = 8
"""Columns that a question offers: as many as a user compares at a glance."""
_GENERIC_STEMS = frozenset(map(stem, GENERIC))


@dataclass(frozen=True)
class ScoredColumn:
    table: TableProfile
    column: Column
    score: float
    """Clearness with which the goal names it."""
    probability: float = 0.0
    """Estimated probability that the goal means it, among all columns."""


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
    target = _conventional_target(goal, scored)
    if not any(goal.names_no_target(table.name) for table in tables):
        target = target or _clear_winner(scored)
    if target is None and (unsuitable := _unsuitable_name(scored)):
        return TargetMatch(None, (*_rank_options(scored), unsuitable), unsuitable.column)
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
        names |= set(avoided_columns(goal, table.columns))
        for phrase in goal.excluded_phrases:
            names |= set(match_columns(phrase, table.columns))
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
    probabilities = rank_columns(goal, [(candidate.table, candidate.column) for candidate in scored])
    ranked = [
        replace(candidate, probability=probability)
        for candidate, probability in zip(scored, probabilities, strict=True)
    ]
    return sorted(ranked, key=lambda candidate: (-candidate.probability, -candidate.score))


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


def _find_phrase(text_words: list[str], name: list[str]) -> int | None:
    starts = range(len(text_words) - len(name) + 1)
    return next((i for i in starts if text_words[i : i + len(name)] == name), None)


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
    """Return the column that the goal quotes, writes out or names alone, or else the likeliest."""
    for clear_score in (QUOTED_SCORE, WRITTEN_SCORE, NAMED_SCORE):
        candidates = [candidate for candidate in scored if candidate.score >= clear_score / MIN_LEAD_RATIO]
        if len(candidates) == 1 and candidates[0].score >= clear_score and candidates[0].column.can_be_target:
            return replace(candidates[0], probability=max(candidates[0].probability, MIN_NAMED_PROBABILITY))
    if not scored or scored[0].probability < MIN_PROBABILITY:
        return None
    likeliest, *others = scored
    return None if any(_is_rival(other, likeliest) for other in others) else likeliest


def _is_rival(other: ScoredColumn, likeliest: ScoredColumn) -> bool:
    """Test if another column is about as likely, or is named alike: of two prices nobody can tell which."""
    is_named_alike = min(other.score, likeliest.score) >= MIN_CLEAR_SCORE and max(
        other.score, likeliest.score
    ) <= MIN_LEAD_RATIO * min(other.score, likeliest.score)
    return likeliest.probability < (MIN_ODDS_ALIKE if is_named_alike else MIN_ODDS) * other.probability


def _unsuitable_name(scored: Sequence[ScoredColumn]) -> ScoredColumn | None:
    """Return a column that the goal names but that is no useful target, where it names no other one."""
    if any(candidate.column.can_be_target and candidate.score >= MIN_CLEAR_SCORE for candidate in scored):
        return None
    candidates = [candidate for candidate in scored if not candidate.column.can_be_target]
    best = max(candidates, key=lambda candidate: candidate.score, default=None)
    return best if best and best.score >= UNSUITABLE_SHARE * NAMED_SCORE else None


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
            -round(entry[1].probability, 3),
            not _has_target_name(entry[1]),
            entry[1].column.distinct != 2,
            -entry[0],
        ),
    )
    return [s for _, s in ranked[:MAX_OPTIONS]]
