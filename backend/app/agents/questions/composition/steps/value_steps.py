"""Steps of a sketch over values and numbers: conditions on the rows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.conditions.value_conditions import flag_condition, names_flag, value_condition
from app.agents.questions.grammar_words import ROW_WORDS
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.value_matching import (
    ALIASES,
    ValueMatch,
    denies_flag,
    flag_spellings,
    flag_values,
    plurals_of,
)
from app.agents.questions.question_reading import Condition, QuestionReading, is_measurable
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.expressions import Scalar

EXACT_SCORE = 0.98
"""Score of a value that a word spells out."""
MIN_VALUE_SCORE = 0.4
"""Score of a value beside the name of its column."""
MIN_BARE_VALUE_SCORE = 0.6
"""Score of a value that stands alone."""
MIN_AGENT_SCORE, AGENT_COST = 0.9, 0.05
"""Score and cost of a value behind `by`, where groups stand: `books by Khan`."""
BEHIND_SUPERLATIVE_COST = 0.05
"""Cost of a value between a superlative and its noun: `the most vip tickets`."""
VALUE_DISTANCE_COST = 0.6
"""Cost of a value that a word does not resemble at all."""
FLAG_COST, FLAG_IN_LIST_COST = 0.05, 0.3
"""Cost of a yes/no column as a condition; behind `by sex and` it is rather a group."""
OTHER_COLUMN_COST = 0.1
"""Cost of a value behind `or` of another column than the value before: alternatives are mostly of one kind."""
OTHER_VALUE_TABLE_COST = 0.08
"""Cost of a value of a table that the question does not name, where it names one."""
_COMPARING = frozenset({"versus", "than", "and", ","})
_VALUE_LINKS = frozenset({"versus", "than", "and", "or", ",", "to", "/", "&", "nor", "from", "with"})


def value_steps(sketch: Sketch, reading: QuestionReading, items: Sequence[QuestionItem]) -> Iterator[Sketch]:
    """Yield the sketches in which the item at the sketch's place is a value of a column."""
    item = items[sketch.place]
    # Behind `per` a noun names groups, and a word that is a value as well is not one of them.
    if sketch.pending.key_word in ("per", "each", "every") or sketch.pending.bound:
        return
    # `books by Khan` restricts books, where `by` before a column groups them.
    is_agent = sketch.pending.key_word == "by"
    for match in item.values[:3]:
        is_beside = _stands_beside(match, items, sketch.place)
        if match.score < (MIN_VALUE_SCORE if is_beside else MIN_BARE_VALUE_SCORE):
            continue
        # A letter by itself is a word such as `a`.
        if item.kind == "word" and len(item.text) == 1 and not is_beside:
            continue
        if item.word in ROW_WORDS and match.score < EXACT_SCORE and not _names_kind(item, match):
            continue  # `readings` are rows and no `read`
        if match.score < MIN_AGENT_SCORE and _is_name(item):
            continue  # `cashier` is no `cash`
        if is_agent and match.score < MIN_AGENT_SCORE:
            continue
        # A single letter behind the name of its column is spelled out: `grade E`.
        is_label = is_beside and item.text == str(match.values[0]).casefold()
        score = 1.0 if is_label else match.score
        cost = _match_cost(sketch, reading, match, is_beside, score)
        for step in _conditions_of(sketch, match, item):
            annotated = step
            if score < 0.9:
                note = f"`{match.column.name}` {match.values[0]!r} is taken for {item.text!r}."
                # Two values of one column are spelled alike: if the first is meant, so is the second.
                is_second = any(text.startswith(f"`{match.column.name}` ") for text in step.assumptions)
                annotated = step.with_note(note) if is_second else step.with_assumption(note)
                cost = cost / 2 if is_second else cost
            yield replace(
                annotated, cost=annotated.cost + cost, qualities=(*annotated.qualities, score), link=""
            )


def _match_cost(
    sketch: Sketch, reading: QuestionReading, match: ValueMatch, is_beside: bool, score: float
) -> float:
    """The cost of a value by its spelling, its table and the words around it."""
    cost = (1.0 - score) * VALUE_DISTANCE_COST + (0.05 if not is_beside else 0.0)
    cost += AGENT_COST if sketch.pending.key_word == "by" else 0.0
    cost += BEHIND_SUPERLATIVE_COST if sketch.pending.superlative else 0.0
    cost += OTHER_COLUMN_COST if _lists_other_column(sketch, match) else 0.0
    tables = _tables_of_verb(match, reading.text.items, sketch.place) or reading.main_tables
    is_elsewhere = bool(tables) and match.table not in tables and not is_beside
    return cost + (OTHER_VALUE_TABLE_COST if is_elsewhere else 0.0)


def _tables_of_verb(match: ValueMatch, items: Sequence[QuestionItem], place: int) -> tuple[str, ...]:
    """The table of whose rows the verb before a value tells, if it stores the value: `who visited Harbour`."""
    stored = {other.table for other in items[place].values if other.score >= match.score}
    for item in items[max(place - MAX_VERB_DISTANCE, 0) : place]:
        best = item.columns[0] if item.columns else None
        if best and best.score >= MIN_VERB_SCORE and best.column.type == "datetime" and best.table in stored:
            return (best.table,)
    return ()


MAX_VERB_DISTANCE, MIN_VERB_SCORE = 3, 0.9
"""Words from a verb to its value, and score of the column of times that the verb is."""


def _is_name(item: QuestionItem) -> bool:
    """Tell if a word is the whole name of a column."""
    return bool(item.columns) and item.columns[0].score >= EXACT_SCORE


def _names_kind(item: QuestionItem, match: ValueMatch) -> bool:
    """Tell if a word is the plural of a stored value, or another word for it: `women` of `F`."""
    return item.word in ALIASES or any(item.word in plurals_of(str(value).casefold()) for value in match.values)


def _stands_beside(match: ValueMatch, items: Sequence[QuestionItem], place: int) -> bool:
    near = [*items[max(place - 3, 0) : place], *items[place + 1 : place + 2]]
    return any(column.key == match.key for item in near for column in item.columns[:2])


def _conditions_of(sketch: Sketch, match: ValueMatch, item: QuestionItem) -> Iterator[Sketch]:
    reference = Reference(match.table, match.column)
    last = sketch.conditions[-1] if sketch.conditions else None
    place = sketch.place
    if (
        last is not None
        and sketch.last == "value"
        and last.column == reference
        and sketch.link in _VALUE_LINKS
        and not sketch.pending.is_negated
        # A value that is said twice is no second one of a list.
        and not set(last.values) & set(match.values)
    ):
        yield _joined(sketch, last, match)
        return
    earlier = next(
        (c for c in sketch.conditions if c.column == reference and c.values and c.expression.kind != "not"),
        None,
    )
    # No row has two values of one column, so that a second one is set against the first.
    if earlier is not None and not sketch.pending.is_negated:
        if not set(earlier.values) & set(match.values):
            yield _set_against_value(sketch, earlier, match)
        return
    condition = Condition(value_condition(reference, [match]), reference, tuple(match.values), place=place)
    # Two denials cancel each other: `not unpaid`.
    if sketch.pending.is_negated != match.is_denied:
        condition = replace(condition, expression=build.negate(condition.expression))
    if sketch.last == "displayed" and sketch.displayed:
        value = sketch.displayed[-1].value
        if value is not None and value.reference == reference:
            sketch = replace(sketch, displayed=sketch.displayed[:-1])  # `caused by animals` names it once
    key_word = "" if sketch.pending.key_word == "by" else sketch.pending.key_word
    pending = replace(sketch.pending, is_negated=False, adjective="", key_word=key_word)
    yield sketch.advance([place], conditions=_add_condition(sketch, condition), pending=pending, last="value")


def _add_condition(sketch: Sketch, condition: Condition) -> tuple[Condition, ...]:
    """The conditions with one more, which is an alternative of the last one behind `or`: `lost or insured`."""
    last = sketch.conditions[-1] if sketch.conditions else None
    is_alternative = last is not None and sketch.last == "value" and sketch.link == "or"
    if last is None or not is_alternative or last.column is None or condition.column is None:
        return (*sketch.conditions, condition)
    # Values that are compared stay groups, and rows of two tables have no common row to be either.
    if last.is_compared or last.column.table != condition.column.table:
        return (*sketch.conditions, condition)
    both = build.either([last.expression, condition.expression])
    return (*sketch.conditions[:-1], replace(last, expression=both, values=()))


def _lists_other_column(sketch: Sketch, match: ValueMatch) -> bool:
    """Tell if a value behind `or` is of another column than the one before it: children or seniors."""
    last = sketch.conditions[-1] if sketch.conditions and sketch.last == "value" else None
    is_listed = last is not None and bool(last.values) and sketch.link == "or" and not sketch.pending.is_negated
    return is_listed and last is not None and last.column != Reference(match.table, match.column)


def _compares(sketch: Sketch) -> bool:
    """Tell if two values are set against each other: `women and men`, `higher for men or women`."""
    return sketch.link in _COMPARING or (sketch.link == "or" and "compared" in sketch.flags)


def _joined(sketch: Sketch, last: Condition, match: ValueMatch) -> Sketch:
    """Another value of the same column: an alternative, or one that the first is compared with."""
    values: tuple[Scalar, ...] = (*last.values, *match.values)
    reference = Reference(match.table, match.column)
    is_negated = last.expression.kind == "not"
    expression = build.is_one_of(reference.expression, values)
    condition = replace(
        last,
        expression=build.negate(expression) if is_negated else expression,
        values=values,
        is_compared=(not is_negated and _compares(sketch)) or last.is_compared,
    )
    return sketch.advance([sketch.place], conditions=(*sketch.conditions[:-1], condition), last="value")


def _set_against_value(sketch: Sketch, earlier: Condition, match: ValueMatch) -> Sketch:
    """A second value of a column, apart from the first: no row has both, so the two are compared."""
    values: tuple[Scalar, ...] = (*earlier.values, *match.values)
    reference = Reference(match.table, match.column)
    both = replace(
        earlier,
        expression=build.is_one_of(reference.expression, values),
        values=values,
        is_compared=True,
    )
    conditions = tuple(both if c is earlier else c for c in sketch.conditions)
    pending = replace(sketch.pending, adjective=sketch.pending.adjective)
    return sketch.advance([sketch.place], conditions=conditions, pending=pending, last="value")


def flag_step(
    sketch: Sketch, reference: Reference, item: QuestionItem, tells_rows_of_group: bool = False
) -> Sketch | None:
    """A yes/no column as a condition: `survivors`, `who did not survive`.

    `tells_rows_of_group`: it stands between `per` and the noun of rows, as in `per converted session`.
    """
    flags = flag_values(reference.column)
    is_key = bool(sketch.pending.key_word) and not tells_rows_of_group
    if flags is None or is_key or item.kind == "name":
        return None
    no, yes = flags
    value = yes if sketch.pending.is_negated == denies_flag(item.text, reference.column) else no
    last = sketch.conditions[-1] if sketch.conditions else None
    if last is not None and last.column == reference:
        return _set_against(sketch, last, flags) if last.values == (no if value == yes else yes,) else None
    condition = Condition(
        flag_condition(reference, value),
        reference,
        (value,),
        place=sketch.place,
    )
    pending = replace(sketch.pending, is_negated=False)
    cost = FLAG_IN_LIST_COST if sketch.last == "key" and sketch.link else FLAG_COST
    cost += BEHIND_SUPERLATIVE_COST if sketch.pending.superlative else 0.0
    note = f"Those for which `{reference.column.name}` is {value} are meant."
    matches = [match for match in item.columns if match.column == reference.column]
    is_related = bool(matches) and not (
        denies_flag(item.text, reference.column) or any(names_flag(item, match) for match in matches)
    )
    step = sketch.advance(
        [sketch.place],
        cost + RELATED_FLAG_COST * is_related,
        conditions=_add_condition(sketch, condition),
        pending=pending,
        last="value",
    )
    return step.with_assumption(note) if is_related else step.with_note(note)


RELATED_FLAG_COST = 0.3
"""Cost of a condition by a yes/no column that a word only has to do with."""


def _set_against(sketch: Sketch, last: Condition, flags: tuple[Scalar, Scalar]) -> Sketch:
    """Both values of a yes/no column, which are compared: `employed versus unemployed`."""
    column = last.column.column if last.column else None
    spellings = [text for flag in flags for text in (flag_spellings(column, flag) if column else (flag,))]
    both = build.is_one_of(build.column(column.name if column else ""), spellings)
    condition = replace(last, expression=both, values=flags, is_compared=True)
    # The note of the first value would say that its rows alone are meant.
    notes = tuple(note for note in sketch.notes if not note.startswith("Those for which"))
    return replace(sketch, notes=notes).advance(
        [sketch.place], conditions=(*sketch.conditions[:-1], condition), last="value"
    )


_DENIALS = frozenset({"never", "none", "no", "nothing"})
"""Stored values by which a column says that there is none of what it is about."""


def missing_step(sketch: Sketch, reference: Reference) -> Sketch | None:
    """A negated column as one without a value, or as zero: `without a fare`, `no rain`."""
    column = reference.column
    if sketch.pending.is_missing and column.missing > 0:
        condition = Condition(build.is_missing(reference.expression), reference, place=sketch.place)
        pending = replace(sketch.pending, is_missing=False, is_negated=False)
        return sketch.advance(
            [sketch.place], conditions=(*sketch.conditions, condition), pending=pending, last="value"
        )
    if not sketch.pending.is_negated or flag_values(column) is not None:
        return None
    denials = tuple(value for value in column.values if str(value).casefold() in _DENIALS)
    if column.type == "text" and denials:
        expression = build.is_one_of(reference.expression, denials)  # `non-smokers` of a `smoke` Never
    elif column.missing > 0:
        expression = build.is_missing(reference.expression)
    elif is_measurable(column) and column.low == 0:
        expression = build.compare("=", reference.expression, build.literal(0))
    else:
        return None
    pending = replace(sketch.pending, is_negated=False)
    condition = Condition(expression, reference, place=sketch.place)
    return sketch.advance(
        [sketch.place], 0.1, conditions=(*sketch.conditions, condition), pending=pending, last="value"
    )
