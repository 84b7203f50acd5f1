"""The target column of a goal. Every column gets a score; without a clear winner the user is asked."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from app.agents.goals.columns.derived_targets import (
    event_flag,
    explicit_target,
    is_half_read,
    with_derived_columns,
)
from app.agents.goals.columns.name_score import (
    NAMED_SCORE,
    QUOTED_SCORE,
    UNSUITABLE_SHARE,
    WRITTEN_SCORE,
    score_column,
)
from app.agents.goals.columns.named_columns import OTHERS, avoided_columns, match_columns
from app.agents.goals.columns.outright_names import (
    asks_for_duration,
    asks_for_moment,
    classified_rows,
    is_explained,
    is_named_first,
    is_predicted_state,
)
from app.agents.goals.columns.ranking import weigh_columns
from app.agents.goals.columns.totals_of_parts import parts_of_total
from app.agents.goals.goal import Goal
from app.agents.goals.tables.column_roles import match_roles
from app.agents.goals.tables.profiles import Column, TableProfile, mentioned_tables
from app.agents.goals.words.index import make_word_index
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words

MIN_CLEAR_SCORE = 2.8
"""Score of a column that the goal names clearly."""
MIN_PROBABILITY, MIN_ODDS = 0.7, 1.5
"""Probability from which a target is planned without a question, and its ratio to that of any other column. On
tables that a fit had not seen 34 % of the targets were planned right from 0.7 and 6.1 % of the goals wrong, and
from 0.6 it were 39 % and 8.5 %."""
MIN_AGREED_PROBABILITY, MIN_AGREED_ODDS = 0.6, 3.0
"""The same of a column that both readers have first. Of the tuned goals from 0.6 to 0.7 that name it by a word,
all six that may not be asked about are right from these odds, and three of five below them."""
MIN_ODDS_ALIKE = 25.0
"""The same ratio between two columns that the goal names alike: the rest of it must tell them apart."""
MIN_NAMED_PROBABILITY = 0.9
"""Probability of the only column that the goal writes as it stands: its user may still mean another."""
MIN_ALONE_PROBABILITY = 0.4
"""Probability from which the only column that the goal names wholly is planned, if it is the likeliest."""
MIN_LEAD_RATIO = 1.15
"""Ratio of two scores from which one column is named more clearly: a synonym beside an exact word."""
NAMED_TABLE_FACTOR = 1.3
"""Above `MIN_LEAD_RATIO`: between equal columns the goal's table decides."""
TARGET_NAMES = frozenset({"target", "label"})
EDGE_TARGET_NAMES = frozenset({"y", "class", "outcome", "response"})
"""Names that mark the target only in the first or last column; elsewhere `class` may be a cabin class."""

MAX_OPTIONS = 8
"""Columns that a question offers: as many as a user compares at a glance."""
MIN_NUMBERED = 4
"""Columns of one name but for its number that are a row of their kind: weeks, items, indicators of years."""
_NUMBER = re.compile(r"\d{1,9}")
_VALUE_OF = re.compile(r"^\s{0,3}(?:the |a )?(?:value|amount|level|size)s? of ", re.IGNORECASE)
"""Words before the name of a column that add nothing to it."""


@dataclass(frozen=True)
class ScoredColumn:
    table: TableProfile
    column: Column
    score: float
    """Clearness with which the goal names it."""
    probability: float = 0.0
    """Estimated probability that the goal means it, among all columns."""
    has_evidence: bool = True
    """A word of the goal has to do with it."""
    is_supported: bool = True
    """A word of the goal means it by more than a likeness of meaning."""
    is_agreed: bool = False
    """The words of the goal and the fitted decoder both make it the likeliest."""


N_STATES = 2
"""Values of a column whose name is a state: late or not."""


@dataclass(frozen=True)
class TargetMatch:
    """`target` if goal and data determine it; else the `options` of the question, the likeliest first."""

    target: ScoredColumn | None
    options: tuple[ScoredColumn, ...]
    unsuitable: Column | None = None
    """A column that the goal names but that is no useful target: text, dates or an identifier."""


def find_target(
    goal: Goal,
    tables: Sequence[TableProfile],
    preference: str | None = None,
    excluded: Sequence[str] = (),
    learned: Mapping[tuple[str, str], float] | None = None,
) -> TargetMatch:
    """Find the target in any of the tables. A `preference` that names a column decides.

    Columns that the goal denies, groups by or excludes (`excluded`) are never the target. A goal that wants no
    model, or one that names text or an identifier, determines no target. `learned`: as of `weigh_columns`.
    """
    # A preference is a name, and its user has chosen it: nothing of the goal is weighed against it.
    if preference and (exact := _columns_of_name(preference, tables)):
        return TargetMatch(exact[0], tuple(exact))
    # An operation that is spelled out names columns that are only its parts.
    if spelled_out := explicit_target(goal, tables):
        computed = ScoredColumn(*spelled_out, QUOTED_SCORE, probability=MIN_NAMED_PROBABILITY)
        return TargetMatch(computed, (computed,))
    tables = with_derived_columns(goal, tables)
    scored = _score_columns(goal, tables, _columns_in_other_roles(goal, tables) | set(excluded), learned)
    target = _conventional_target(goal, scored) or _target_of_classes(goal, scored)
    if any(is_half_read(goal, table) for table in tables):
        return TargetMatch(None, tuple(_rank_options(scored)))
    if any(goal.names_no_target(table.subject) for table in tables):
        # General words alone ("train a model") mean no column, unless it is a letter or in quotes.
        target = target or _named_by_sign(goal, scored)
    else:
        target = target or _named_outright(goal, scored) or _clear_winner(scored) or _total_of_meant(scored)
    if target is None and (unsuitable := _unsuitable_name(scored)):
        return TargetMatch(None, (*_rank_options(scored), unsuitable), unsuitable.column)
    if target and (flag := event_flag(goal, target.column)):
        target = replace(target, column=flag)
    options = tuple(_rank_options(scored))
    # A yes or no does not say when: the user is asked what is meant.
    if target and asks_for_moment(goal.text) and target.column.distinct == N_STATES:
        return TargetMatch(None, options)
    # The user is told of the column that was meant, and why it is no target.
    if target and not target.column.can_be_target:
        return TargetMatch(None, (*options, target), target.column)
    return TargetMatch(None if goal.wants_no_model else target, options)


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
        names |= _named_inputs(goal, table)
        names |= set(match_roles(goal.roles, table.columns))
        names |= set(avoided_columns(goal, table.columns))
        for phrase in goal.excluded_phrases:
            if OTHERS.isdisjoint(words(phrase)):  # "the other scores" may stand beside a score as target
                names |= set(match_columns(phrase, table.columns))
        for phrase in (*goal.denied_phrases, *goal.excluded_rows):
            names |= set(match_columns(phrase, table.columns))
        # By whole names alone: "per customer" groups rows, and `customer_value` may still be the target.
        for phrase in goal.group_phrases:
            names |= {column.name for column in table.columns if stems(column.name) == stems(phrase)}
    return names


def _named_inputs(goal: Goal, table: TableProfile) -> set[str]:
    """Return the columns that only the inputs of the goal name; a forecast may also have them as its target."""
    if goal.lookahead or goal.outlook:
        return set()
    inputs, targets = set(stems(goal.input_text)), set(stems(goal.target_text))
    own_stems = {column.name: set(stems(column.name)) for column in table.columns}
    return {name for name, own in own_stems.items() if own and own <= inputs and not own & targets}


def _score_columns(
    goal: Goal,
    tables: Sequence[TableProfile],
    refused: Collection[str],
    learned: Mapping[tuple[str, str], float] | None,
) -> list[ScoredColumn]:
    """Score the columns of all tables, the best first, without the `refused` and the excluded ones."""
    named_tables = mentioned_tables(tables, goal.text)
    # If the goal names all tables, their names say nothing about the target's.
    boosted = named_tables if len(named_tables) < len(tables) else []
    excluded_names = {tuple(words(phrase)) for phrase in goal.excluded_phrases}
    candidates = [
        ScoredColumn(
            table,
            column,
            score_column(goal, column, table.subject) * (NAMED_TABLE_FACTOR if table in boosted else 1.0),
        )
        for table in tables
        for column in table.columns
        if column.name not in refused and tuple(words(column.name)) not in excluded_names
    ]
    scored = _penalise_partial_names(goal, _drop_duplicates(candidates, boosted))
    ranks = weigh_columns(goal, [(candidate.table, candidate.column) for candidate in scored], learned)
    ranked = [replace(candidate, **rank._asdict()) for candidate, rank in zip(scored, ranks, strict=True)]
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
        return bool(name) and any(
            len(name) < len(longer)
            and _find_phrase(longer, name) is not None
            and index.count_words(name) <= index.count_words(longer)
            for longer in named_words
        )

    return [replace(s, score=s.score / 2) if is_part(words(s.column.name)) else s for s in candidates]


def _named_outright(goal: Goal, scored: Sequence[ScoredColumn]) -> ScoredColumn | None:
    """Return the only column that stands where the goal says its target outright."""
    suitable = [candidate for candidate in scored if candidate.column.can_be_target]
    explained = [option for option in suitable if is_explained(goal.after_verb, option.column.name)]
    states = [
        option
        for option in suitable
        if option.column.distinct == N_STATES and is_predicted_state(goal.text, option.column.name)
    ]
    names, goal_words = [option.column.name for option in suitable], {*words(goal.text)}
    first = [o for o in suitable if is_named_first(goal.after_verb, o.column.name, names, goal_words)]
    # Computed only where no column stores a duration.
    elapsed = [o for o in suitable if o.column.derivation and o.column.derivation.kind == "elapsed"]
    durations = elapsed if asks_for_duration(goal.text) else []
    for options in (explained, states, first, durations):
        if len(options) == 1:
            return replace(options[0], probability=max(options[0].probability, MIN_NAMED_PROBABILITY))
    return None


def _named_by_sign(goal: Goal, scored: Sequence[ScoredColumn]) -> ScoredColumn | None:
    """Return the only column that the goal quotes, or whose name of one letter is all that it predicts."""
    quoted = [candidate for candidate in scored if candidate.column.name in goal.quoted]
    letters = [
        candidate
        for candidate in scored
        if len(candidate.column.name) == 1
        and is_explained(_VALUE_OF.sub("", goal.after_verb), candidate.column.name)
    ]
    options = quoted or letters
    if len(options) != 1:
        return None
    return replace(options[0], probability=max(options[0].probability, MIN_NAMED_PROBABILITY))


def _target_of_classes(goal: Goal, scored: Sequence[ScoredColumn]) -> ScoredColumn | None:
    """Return the only column of classes, for a goal that only says that rows are to be classified."""
    suitable, noun = [s for s in scored if s.column.can_be_target], classified_rows(goal.text)
    if noun is None or any(stem(noun) in stems(option.column.name) for option in suitable):
        return None
    classes = [option for option in suitable if option.column.has_few_values]
    return replace(classes[0], probability=MIN_NAMED_PROBABILITY) if len(classes) == 1 else None


def _clear_winner(scored: Sequence[ScoredColumn]) -> ScoredColumn | None:
    """Return the column that the goal quotes or writes out, or else the likeliest."""
    for clear_score in (QUOTED_SCORE, WRITTEN_SCORE):
        candidates = [candidate for candidate in scored if candidate.score >= clear_score / MIN_LEAD_RATIO]
        if len(candidates) == 1 and candidates[0].score >= clear_score and candidates[0].column.can_be_target:
            return replace(candidates[0], probability=max(candidates[0].probability, MIN_NAMED_PROBABILITY))
    if not scored or not scored[0].has_evidence:
        return None
    # What the data itself calls its target needs no word of the goal: `target` for "predict the cultivar".
    if not scored[0].is_supported and not _has_target_name(scored[0]):
        return None
    likeliest, *others = scored
    fully_named = [candidate for candidate in scored if candidate.score >= NAMED_SCORE / MIN_LEAD_RATIO]
    is_only_named = fully_named == [likeliest]
    minimum = MIN_ALONE_PROBABILITY if is_only_named else min_probability(likeliest, others)
    if likeliest.probability < minimum:
        return None
    return None if any(_is_rival(other, likeliest) for other in others) else likeliest


def _total_of_meant(scored: Sequence[ScoredColumn]) -> ScoredColumn | None:
    """Return the total of the likeliest columns, none of which the goal names: of rentals all are meant."""
    suitable = [candidate for candidate in scored if candidate.column.can_be_target]
    for total in suitable[: MAX_OPTIONS // 2]:
        parts = parts_of_total(total.column, [candidate.column for candidate in suitable])
        of_total = [candidate for candidate in suitable if candidate.column in parts]
        probability = total.probability + sum(part.probability for part in of_total)
        is_meant = probability >= MIN_PROBABILITY and total.is_supported
        if of_total and is_meant and all(part.score < MIN_CLEAR_SCORE for part in of_total):
            return replace(total, probability=probability)
    return None


def min_probability(likeliest: ScoredColumn, others: Sequence[ScoredColumn]) -> float:
    """Return the probability from which a column is planned: less where both readers agree on it alone."""
    second = max((other.probability for other in others), default=0.0)
    is_alone = likeliest.is_agreed and likeliest.probability >= MIN_AGREED_ODDS * second
    return MIN_AGREED_PROBABILITY if is_alone else MIN_PROBABILITY


def _is_rival(other: ScoredColumn, likeliest: ScoredColumn) -> bool:
    """Test if another column is about as likely, or is named alike: of two prices nobody can tell which."""
    is_named_alike = min(other.score, likeliest.score) >= MIN_CLEAR_SCORE and max(
        other.score, likeliest.score
    ) <= MIN_LEAD_RATIO * min(other.score, likeliest.score)
    if is_named_alike and min(other.score, likeliest.score) >= NAMED_SCORE:
        return True  # "predict survived and age"
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
    by_name = [s for s in scored if _has_target_name(s) and goal.names_no_target(s.table.subject)]
    return by_name[0] if len(by_name) == 1 else None


def _has_target_name(candidate: ScoredColumn) -> bool:
    name, columns = candidate.column.name.lower(), candidate.table.columns
    at_an_end = candidate.column in (columns[0], columns[-1])
    return candidate.column.can_be_target and (
        name in TARGET_NAMES
        or (name in EDGE_TARGET_NAMES and at_an_end)
        or [candidate.column] == candidate.table.columns_in_name
    )


def _rank_options(scored: Sequence[ScoredColumn]) -> list[ScoredColumn]:
    """Rank the possible targets by score; ties by target name, two values before many, later columns first.

    Columns of a numbered row, as `d80` to `d99`, come last unless a word means them: they would fill the list.
    """
    possible = [(position, s) for position, s in enumerate(scored) if s.column.can_be_target]
    row_sizes = Counter(_NUMBER.sub("", s.column.name) for s in scored)
    ranked = sorted(
        possible,
        key=lambda entry: (
            not entry[1].has_evidence and row_sizes[_NUMBER.sub("", entry[1].column.name)] >= MIN_NUMBERED,
            -round(entry[1].probability, 3),
            not _has_target_name(entry[1]),
            entry[1].column.distinct != 2,
            # Most tables hold their outcome at the end.
            -entry[0],
        ),
    )
    return [s for _, s in ranked[:MAX_OPTIONS]]
