"""Claims of a plan on the words of a question, by which a plan of the decoder is judged.

Rules make a plan out of words, so that each word has a part of it. The decoder may pass over a word, or compare
a column with a value that no word says.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.stemming import stems
from app.agents.questions.answered_words import MIN_NAMED_SCORE
from app.agents.questions.grammar_words import NEGATIONS, SUPERLATIVES
from app.agents.questions.grammatical_number import is_plural
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import ColumnMatch
from app.agents.questions.matching.value_matching import (
    NO,
    YES,
    ValueMatch,
    denies_flag,
    flag_values,
)
from app.agents.questions.unexplained_words import MIN_PARTIAL_SCORE, is_filler
from app.plans.plan import LimitStep, Plan, WindowStep


def unclaimed_words(plan: Plan, items: Sequence[QuestionItem], columns: Collection[Column]) -> list[str]:
    """Words that name a column or a value without a part of the plan, and conditions that no word says.

    `columns`: those of the plan.
    """
    equalities = [*_equalities(plan.model_dump())]
    by_name = {column.name: column for column in columns}
    return [
        *(item.text for item in items if not _is_claimed(item, by_name.keys(), equalities)),
        *(value for name, value in equalities if name in by_name and not _is_said(by_name[name], value, items)),
        *_denied_flags(items, by_name, equalities),
        *_unclaimed_counts(plan, items),
    ]


def names_one_row(plan: Plan, columns: Collection[Column]) -> bool:
    """Tell if a plan is about the row with one value of a column whose values are all different."""
    unique = {column.name for column in columns if column.unique}
    return any(name in unique for name, _ in _equalities(plan.model_dump()))


def passes_over(item: QuestionItem, used: Collection[str], others: Collection[str]) -> bool:
    """Tell if a word means one of the columns that are used, and none of the others."""
    matches: list[ColumnMatch | ValueMatch] = [*item.columns, *item.values]
    meant = {match.column.name for match in matches if match.score >= MIN_PARTIAL_SCORE}
    return bool(meant & {*used}) and not meant & {*others}


def _is_claimed(item: QuestionItem, names: Collection[str], equalities: Sequence[tuple[str, str]]) -> bool:
    """Tell if a plan has what a word names. A noun of rows and a word of grammar claim nothing."""
    if item.kind != "word" or item.row_tables or is_filler(item.text):
        return True
    matches: list[ColumnMatch | ValueMatch] = [*item.columns, *item.values]
    meant = {match.column.name for match in matches if match.score >= MIN_PARTIAL_SCORE}
    # A plural is more often the noun of what the rows are: `payments` of a column `payment`.
    names_column = not is_plural(item.word) and any(
        match.score >= MIN_NAMED_SCORE and match.coverage == 1 for match in item.columns
    )
    is_named = names_column or any(match.score >= MIN_NAMED_SCORE for match in item.values)
    return not is_named or bool(meant & {*names, *(name for name, _ in equalities)})


def _is_said(column: Column, value: str, items: Sequence[QuestionItem]) -> bool:
    """Tell if a word says a value of a column, or names the column whose yes or no it is."""
    words = {stem for item in items for stem in stems(item.text)}
    if not words.isdisjoint(stems(value)):
        return True
    is_flag = flag_values(column) is not None
    for item in items:
        matches: list[ColumnMatch | ValueMatch] = [*item.columns, *item.values]
        if any(m.column.name == column.name and value in map(_folded, m.values) for m in item.values):
            return True
        if is_flag and (any(m.column.name == column.name for m in matches) or denies_flag(item.text, column)):
            return True
    # Of values that the profile does not list nothing is known; a rate of solutions is that of `solved`.
    return value in YES if is_flag else not column.values


def _denied_flags(
    items: Sequence[QuestionItem], columns: Mapping[str, Column], equalities: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Yield words that deny a yes/no column of which a plan takes the yes: `accident` of `accident_free`."""
    if any(item.word in NEGATIONS for item in items):
        return
    for item in items:
        for match in item.columns:
            column = columns.get(match.column.name)
            if column is None or match.score < MIN_PARTIAL_SCORE or not denies_flag(item.text, column):
                continue
            values = {value for name, value in equalities if name == column.name}
            if values & {*YES} and not values & {*NO}:
                yield item.text


def _unclaimed_counts(plan: Plan, items: Sequence[QuestionItem]) -> Iterator[str]:
    """Yield the number behind a superlative of which a plan keeps another number: `bottom 2 classes`."""
    limits = {step.rows for step in plan.steps if isinstance(step, LimitStep)}
    keeps_first = any(isinstance(step, WindowStep) for step in plan.steps)
    for before, item in pairwise(items):
        is_count = before.text in SUPERLATIVES and item.number is not None and item.number > 1
        is_kept = item.number in limits if limits else not keeps_first
        if is_count and not is_kept:
            yield item.text


def _equalities(part: Any) -> Iterator[tuple[str, str]]:
    """Yield the column and value of each comparison for equality in a plan."""
    if isinstance(part, list | tuple):
        for inner in part:
            yield from _equalities(inner)
    # The steps of a scale by which groups are ordered are no condition.
    if not isinstance(part, Mapping) or part.get("kind") == "case":
        return
    operand = part.get("left") or part.get("operand")
    if isinstance(operand, Mapping) and part.get("kind") in ("compare", "in"):
        name = _column_of(operand)
        values = part.get("values") or [(part.get("right") or {}).get("value")]
        is_equality = part["kind"] == "in" or part.get("op") in ("=", "!=")
        yield from ((name, _folded(v)) for v in values if name and is_equality and isinstance(v, str | bool))
    for inner in part.values():
        yield from _equalities(inner)


def _column_of(operand: Mapping[str, Any]) -> str:
    """The column that an operand is, whatever the case of its letters."""
    if operand.get("kind") == "call" and operand.get("arguments"):
        operand = operand["arguments"][0]
    return str(operand["name"]) if operand.get("kind") == "column" else ""


def _folded(value: object) -> str:
    return str(value).strip().casefold()
