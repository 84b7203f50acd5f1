"""The target column of a goal. Every column gets a score; without a clear winner the user is asked."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache

from app.agents.goals.columns import match_columns
from app.agents.goals.goal import Goal
from app.agents.goals.intents import GENERIC
from app.agents.goals.roles import match_roles
from app.agents.goals.stemming import stem, stems
from app.agents.goals.tables import Column, TableProfile, mentioned_tables
from app.agents.goals.tokenizer import words
from app.agents.goals.vocabulary import UNITS_OF_MEASURE
from app.agents.goals.word_index import WordIndex, make_word_index

QUOTED_SCORE = 20.0
"""A column in quotes: above any sum of the scores below, which end at 12 with the bonus for its position
and at 16 in the table that the goal names."""
NAMED_SCORE = 9.0
"""A name as it stands in the goal: below a name in quotes, and above all its words apart."""
WORDS_SCORE = 6.0
"""All words of a name, but not one after the other."""
MEANING_SCORE = MISSPELT_SCORE = 4.0
VALUE_SCORE = 3.0
"""One of the column's values, such as "is it a Gentoo?"."""
SIMILAR_SCORE = 1.5
"""A similar spelling: below `MIN_LONE_SCORE`, to rank a column first among the options."""
MIN_CLEAR_SCORE, MIN_LEAD_RATIO = 3.0, 1.25
"""Score of a clear winner, and its ratio to the second: a quarter more, so that a synonym beside an exact word
is no rival and two exact words are."""
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
    return fit * text + 0.5 * (goal.kind == "classification" and column.has_few_values and text > 0)


def _text_score(goal: Goal, column: Column, table: str) -> float:
    name, name_stems = words(column.name), _distinctive_stems(column.name, table)
    if any(words(quoted) == name for quoted in goal.quoted):
        return QUOTED_SCORE
    text_after_verb = goal.after_verb or goal.target_text
    best = _value_score(goal, column)
    # "Direction from these prices": in a forecast the input columns may also be the target.
    input_text = goal.input_text if goal.lookahead or goal.outlook else ""
    for text, weight in ((text_after_verb, 1.0), (goal.target_text, 0.7), (input_text, 0.9)):
        best = max(best, weight * _phrase_score(text, name, name_stems, early_counts=text is goal.after_verb))
    return best if best >= MISSPELT_SCORE else max(best, _similarity_score(text_after_verb, name))


def _distinctive_stems(name: str, table: str) -> list[str]:
    """Return the distinctive stems of a name: without its unit and without the table's name."""
    name_stems = [stem(word) for word in words(name) if word not in UNITS_OF_MEASURE]
    return [part for part in name_stems if part not in stems(table)] or name_stems or stems(name)


def _value_score(goal: Goal, column: Column) -> float:
    """Score a goal that names one of the column's values ("is it a Gentoo?")."""
    if column.is_number:
        return 0.0
    goal_words = set(words(goal.after_verb or goal.target_text))
    values = (words(str(value)) for value in column.top)
    return (
        VALUE_SCORE
        if any(value and len(value[0]) > 2 and set(value) <= goal_words for value in values)
        else 0.0
    )


def _similarity_score(text: str, name: list[str]) -> float:
    """Score misspelt and similar names: enough to rank a column first, not to choose it."""
    joined_name = "".join(name)
    matcher = SequenceMatcher(b=joined_name)  # the analysis of `b` is reused for every word
    similarity = 0.0
    for word in _words_to_compare(text):
        lengths = len(word) + len(joined_name)
        if 2 * min(len(word), len(joined_name)) < max(similarity, MIN_SIMILARITY) * lengths:
            continue
        matcher.set_seq1(word)
        if matcher.quick_ratio() > max(similarity, MIN_SIMILARITY - 0.01):
            similarity = max(similarity, matcher.ratio())
    if similarity >= 0.85 and len(joined_name) >= 6:
        return MISSPELT_SCORE * similarity
    return SIMILAR_SCORE * similarity if similarity >= MIN_SIMILARITY else 0.0


@lru_cache(maxsize=64)
def _words_to_compare(text: str) -> tuple[str, ...]:
    """Return the first distinct words of the text that are long enough to be a misspelt name."""
    return tuple(dict.fromkeys(word for word in words(text) if len(word) > 3))[:MAX_COMPARED_WORDS]


def _phrase_score(text: str, name: list[str], name_stems: list[str], early_counts: bool) -> float:
    index = make_word_index(text)
    if not index.words or not name:
        return 0.0
    if (at := index.find_words(name)) is not None:
        return NAMED_SCORE + _position_bonus(at, early_counts)
    if len(name) == 1 and (at := _find_initials(index, name[0])) is not None:
        return NAMED_SCORE + _position_bonus(at, early_counts)
    places = [_match_part(part, index) for part in name_stems]
    weight = sum(weight for weight, _ in places) / len(places)
    if not weight:
        return 0.0
    share = sum(part > 0 for part, _ in places) / len(places)
    return weight + share * _position_bonus(min(at for part, at in places if part), early_counts)


def _match_part(part: str, index: WordIndex) -> tuple[float, int]:
    """Return the score and position of one word of a name, matched literally or by a synonym."""
    if len(part) > 1 and (position := index.find_stem(part)) is not None:
        return WORDS_SCORE, position
    if len(part) >= 4 and (position := index.find_prefix(part, _GENERIC_STEMS)) is not None:
        return MEANING_SCORE, position
    position = index.find_synonym(part)
    return (0.0, 0) if position is None else (MEANING_SCORE, position)


def _find_phrase(text_words: list[str], name: list[str]) -> int | None:
    starts = range(len(text_words) - len(name) + 1)
    return next((i for i in starts if text_words[i : i + len(name)] == name), None)


def _find_initials(index: WordIndex, name: str) -> int | None:
    """Return the position of words whose initials spell the name (miles per gallon: mpg), or None."""
    if len(name) < 3:
        return None
    at = index.initials.find(name)
    return at if at >= 0 else None


def _position_bonus(at: int, is_counted: bool) -> float:
    """Return a bonus for early positions: after `predict`, the first noun is the likelier target."""
    return max(0.0, 3.0 - 0.6 * at) if is_counted else 0.0


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
