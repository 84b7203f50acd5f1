"""The conditions of a plan on its rows: values, numbers and dates, states, and values in other spellings."""

import re
from collections.abc import Iterator, Sequence

from app.agents.goals.clauses import Part, goal_words, head_stems
from app.agents.goals.columns.named_columns import avoided_columns, match_columns
from app.agents.goals.conditions.age_bounds import find_age_bounds
from app.agents.goals.conditions.filters import COMPARISON_GOAL, find_conditions
from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.conditions.scale_bounds import find_scale_bounds
from app.agents.goals.conditions.states import (
    find_phrases,
    find_states,
    is_denied,
    names_column,
)
from app.agents.goals.conditions.unit_bounds import find_unit_bounds
from app.agents.goals.goal import Goal
from app.agents.goals.phrases.patterns import RESTRICTION
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.questions.matching.value_matching import MISSPELLING_SCORE, ValueIndex, ValueMatch

MIN_SPELLING_SCORE = 0.6
"""Score from which a word is another spelling of a value: `french` for `fr`, `tomato` for `TOM`."""
MIN_VALUE_LETTERS = 3
"""Letters of a word that stands for a value."""
_RELATION = re.compile(
    r"^\W{0,3}(?:does|do|did)\b|^\W{0,3}(?:is|are|was|were|how much)\b.{0,200}"
    r"\b(?:[a-z]{2,15}er|(?:more|less) [a-z]{1,20}|worse) (?:for|in|on|when|where|if|with|among|at|after)\b",
    re.IGNORECASE,
)
"""Questions whose conditions are causes."""
_SCORED = re.compile(
    r"^\W{0,3}(?:(?:find|list|show|flag|identify|predict|which|what|the|all|our|those|any) ){0,3}"
    r"(?P<rows>[\w-]{3,30}) (?:in [\w ]{1,30} )?(?:at (?:high |a high |the )?risk of|(?:most |more )?likely to"
    r"|(?:are|is) (?:(?:most |more )?likely to|at risk of|going to)|will|who will)\b",
    re.IGNORECASE,
)
"""The rows whose probability a goal asks for: "smokers at risk of readmission" are those of a value."""
_DEGREE = re.compile(r"\b(?:more|less|most|least)\b", re.IGNORECASE)
_PLURAL_ENDINGS = ("", "s", "es")


def find_row_conditions(
    goal: Goal, tables: Sequence[TableProfile], target: Column | None, *, of_series: bool = False
) -> list[RowCondition]:
    """Find the conditions that a goal sets on the rows of joined tables; of each column the plainest one.

    `of_series`: the rows make a series, which has no inputs: "from the Netherlands" and "without express" can
    only select, and so do words before the noun of what is counted or added up: "express parcels".
    """
    # What rises or falls is the subject, and may be a value: "will ACME fall next week".
    heads = [] if goal.outlook == "direction" else head_stems(goal.target_text)
    name = target.name if target else None
    # A value that is a cause restricts nothing: "does rain affect sales" compares rain with other weather.
    # An age before other numbers: of "aged 65 and older" the 65 is no value of the column.
    conditions = [*find_age_bounds(goal.effect_text, tables, name), *_excluded_values(goal, tables, name)]
    bounded = {condition.column for condition in conditions}
    plain = find_conditions(goal.effect_text, tables, name, heads)
    # Of "good or better" the step alone would be one value.
    scaled = [b.condition for b in find_scale_bounds(goal.effect_text, tables) if b.column.name != name]
    conditions += [condition for condition in scaled if condition.column not in bounded]
    bounded = {condition.column for condition in conditions}
    conditions += [condition for condition in plain if condition.column not in bounded]
    measured_rows = _measured_rows(goal) if of_series else ""
    text = _restricting_text(goal, goal.text if of_series else goal.request_text, measured_rows)
    excluded = set() if of_series else {name for table in tables for name in _excluded_columns(goal, table)}
    is_related = asks_for_relation(goal)
    for further in (
        () if is_related else (state.condition for state in find_states(text, tables, name)),
        () if is_related else _spelled_values(text, tables, name, {*heads}),
        find_unit_bounds(goal, tables, target),
    ):
        for condition in further:
            if condition.column not in {*excluded, *(other.column for other in conditions)}:
                conditions.append(condition)
    return conditions


def asks_for_relation(goal: Goal) -> bool:
    """Test if a goal asks what its target has to do with other columns: "is it lower for those in default?"."""
    if COMPARISON_GOAL.search(goal.text) or _RELATION.search(goal.text):
        return True
    return goal.wants_drivers and _DEGREE.search(goal.text) is not None


def _excluded_columns(goal: Goal, table: TableProfile) -> Iterator[str]:
    yield from avoided_columns(goal, table.columns)
    for phrase in goal.excluded_phrases:
        yield from match_columns(phrase, table.columns)


def _restricting_text(goal: Goal, request: str, measured_rows: str) -> str:
    """Return the text in which states and values are looked for, with each restriction as a phrase of its own.

    "English only" says that of the rows, and so do the words of `measured_rows`. Inputs and exclusions state
    nothing of the rows: "with age and smoker".
    """
    restrictions = (
        " ".join(word for word in words(match[0]) if word not in ("only", "and", "but"))
        for match in RESTRICTION.finditer(goal.effect_text)
    )
    subjects = (match["rows"] for match in _SCORED.finditer(goal.effect_text))
    left_out = (f"not {phrase}" for phrase in goal.excluded_rows)
    phrases = (*restrictions, measured_rows, *subjects, *left_out)
    return ". ".join([request, *(f"among {phrase}" for phrase in phrases if phrase)])


def _measured_rows(goal: Goal) -> str:
    """Return the words that name what is counted or added up, with a `no` before them: "no-shows"."""
    names = {word.word for word in goal_words(goal.target_text) if word.part in (Part.MODIFIER, Part.HEAD)}
    text_words = words(goal.target_text)
    pairs = zip(text_words, [*text_words[1:], ""], strict=True)
    return " ".join(word for word, following in pairs if word in names or (word == "no" and following in names))


def _spelled_values(
    text: str, tables: Sequence[TableProfile], target: str | None, heads: set[str]
) -> Iterator[RowCondition]:
    """Yield conditions on values that a goal writes otherwise than the tables: `women` for `F`."""
    index = ValueIndex(tables)
    # "Which shipments will be late" asks about all of them, whatever is sent by `Ship`.
    unspecific = heads | {part for table in tables for part in stems(table.subject)}
    for phrase in find_phrases(text, tables):
        for at, word in enumerate(phrase.tokens):
            if stem(word) not in unspecific and (match := _spelled_value(word, index, tables, target)):
                yield _value_condition(match, is_denied(phrase, at))


def _excluded_values(goal: Goal, tables: Sequence[TableProfile], target: str | None) -> Iterator[RowCondition]:
    """Yield conditions that leave out the values of exclusions: "cancelled orders don't count"."""
    phrases = goal.exclusions
    index = ValueIndex(tables) if phrases else None
    conditions: dict[tuple[str, str], list[RowCondition]] = {}
    for phrase in phrases:
        for word in words(phrase):
            if index and (match := _spelled_value(word, index, tables, target)):
                condition = _value_condition(match, is_excluded=True)
                conditions.setdefault((condition.column, condition.operator), []).append(condition)
    for alike in conditions.values():
        values = dict.fromkeys(value for condition in alike for value in condition.values)
        yield alike[0].model_copy(update={"values": [*values]})


def _spelled_value(
    word: str, index: ValueIndex, tables: Sequence[TableProfile], target: str | None
) -> ValueMatch | None:
    """Return the value of one column that a word means, if it has to do with no column's name."""
    if len(word) < MIN_VALUE_LETTERS or any(
        names_column(word, column) for table in tables for column in table.columns
    ):
        return None
    for ending in _PLURAL_ENDINGS:
        singular = word.removesuffix(ending)
        matches = index.match((singular,)) if singular != word or not ending else ()
        best = [match for match in matches if match.score == matches[0].score]
        if len(best) == 1 and best[0].score >= MIN_SPELLING_SCORE and best[0].score != MISSPELLING_SCORE:
            is_group = best[0].column.distinct > 1 and not best[0].column.unique
            return best[0] if is_group and best[0].column.name != target else None
    return None


def _value_condition(match: ValueMatch, is_excluded: bool) -> RowCondition:
    operator = "not_in" if is_excluded != match.is_denied else "in"
    return RowCondition(column=match.column.name, operator=operator, values=[*map(str, match.values)])
