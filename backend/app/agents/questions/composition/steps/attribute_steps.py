"""Steps of a sketch over nouns that are no measures: what is asked for, counted, or shown."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.sketch import NOTHING, CountBound, Mention, Ranking, Sketch
from app.agents.questions.grouping import display_reference, make_period
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking.row_nouns import DAYS, PERSONS, is_daily
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.question_reading import QuestionReading, make_value
from app.agents.questions.tables.scope import Reference

SHOWN_FLAG_COST = 0.3
"""Cost of a yes/no column that is shown: it rather is a condition."""
RESTATED_COST = 0.2
"""Cost of a plural behind a measure that only says what the rows are of."""
EVENT_ROWS_COST = 0.1
"""Cost of the rows of a table for the plural of what one of its times is of: `arrivals`."""
DISTINCT_DAYS_COST = 0.1
"""Cost of different days of a table with several rows a day."""
FLAG_HEAD_COST = 0.1
"""Cost of a yes/no column as what is asked for, which rather is a condition."""
COUNTED_NOUN_COST, DAILY_ROWS_COST = 0.03, 0.33
"""Cost of different values of a column as what is counted, and the same of days, which rather are rows."""
_COUNT_SUPERLATIVES = frozenset({"most", "fewest", "least"})
_ASKING = frozenset({"which", "what", "who", "whose", "where"})


def attribute_steps(
    sketch: Sketch, reading: QuestionReading, mention: Mention, reference: Reference
) -> Iterator[Sketch]:
    """Yield the sketches in which a column that is no measure is asked for, counted, or shown."""
    pending = sketch.pending
    if pending.bound and _is_number_of_things(mention, reference):
        # `learners with at least 3 courses`
        bound = CountBound(mention, pending.bound)
        bounds = (*sketch.bounds, bound)
        yield sketch.advance([sketch.place], COUNTED_NOUN_COST, bounds=bounds, pending=NOTHING, last="rows")
        return
    # A noun that a group, an order or a gap waits for is read by other steps.
    if pending.key_word or pending.is_negated or pending.orders or pending.bound or pending.is_missing:
        return
    display = display_reference(reading, reference)
    noun = replace(mention, value=make_value(display), table=display.table, functions=pending.functions)
    if _is_counted(sketch, mention, reference):
        # The value behind restricts the rows, which are then what is counted.
        if _names_value(reading, mention, reference) and not pending.is_distinct:
            yield sketch.advance([sketch.place], pending=pending, last=sketch.last)
            return
        yield from _counted_noun(sketch, reading, noun, reference)
        return
    if reference.column.type == "datetime":
        is_event = mention.item.word.endswith("s") and mention.item.word not in words(reference.column.name)
        if is_event:
            yield _rows_by_time(sketch, mention)
        # The most arrivals are the most rows and no latest time.
        if is_event and pending.superlative in _COUNT_SUPERLATIVES:
            return
        if pending.functions:
            yield sketch.advance(
                [sketch.place], measures=(*sketch.measures, noun), pending=NOTHING, last="measure"
            )
            return
    if _restates_rows(sketch, mention, reference):
        yield sketch.advance([sketch.place], RESTATED_COST, pending=pending, last="rows")
    yield from _asked_or_shown(sketch, noun, is_flag=flag_values(reference.column) is not None)


def _is_number_of_things(mention: Mention, reference: Reference) -> bool:
    """Tell if a noun behind a bound names different things that a column holds: `more than 3 courses`."""
    column, word = reference.column, mention.item.word
    is_name = stem(word) in map(stem, words(column.name))
    return column.type == "text" and flag_values(column) is None and word.endswith("s") and is_name


def _names_value(reading: QuestionReading, mention: Mention, reference: Reference) -> bool:
    """Tell if a noun only says of which column the value behind it is: `cars of the colour red`."""
    behind = reading.text.items[mention.place + 1 : mention.place + 2]
    key = (reference.table, reference.column.name)
    return any(
        match.key == key and match.score >= MIN_SPELLED_SCORE for item in behind for match in item.values
    )


MIN_SPELLED_SCORE = 0.9
"""Score of a stored value that a word spells out."""


def _is_counted(sketch: Sketch, mention: Mention, reference: Reference) -> bool:
    # A unique name is one of a row each, so that rows are counted.
    is_row_name = reference.column.unique and mention.table in mention.item.row_tables
    is_flag = flag_values(reference.column) is not None
    # "Headcount by department and gender" lists two groups.
    is_group = sketch.last == "key" and sketch.link in ("and", ",", "&", "/")
    is_subject = sketch.counts and not sketch.rows and not sketch.heads and not is_group
    return sketch.pending.is_distinct or (is_subject and not is_row_name and not is_flag)


def _counted_noun(
    sketch: Sketch, reading: QuestionReading, noun: Mention, reference: Reference
) -> Iterator[Sketch]:
    """A column whose different values are counted."""
    pending = sketch.pending
    cleared = replace(pending, is_distinct=False)
    if not pending.is_distinct and _counts_rows(noun, reading, reference):
        rows = (*sketch.rows, replace(noun, value=None, table=reference.table))
        yield sketch.advance([sketch.place], KIND_ROWS_COST, rows=rows, pending=cleared, last="rows")
        return
    flags = sketch.flagged("distinct") if pending.is_distinct else sketch.flags
    is_time, names_days = reference.column.type == "datetime", noun.item.word in DAYS
    is_day = names_days and is_daily(reading.scope.table(reference.table))
    if is_time and names_days and not is_day:
        days = replace(noun, value=make_period(reference, "day"))
        yield sketch.advance(
            [sketch.place], DISTINCT_DAYS_COST, heads=(*sketch.heads, days), pending=cleared, last="head"
        )
    elif pending.is_distinct or not is_time:
        cost = DAILY_ROWS_COST if is_day else COUNTED_NOUN_COST
        heads = (*sketch.heads, noun)
        yield sketch.advance([sketch.place], cost, heads=heads, pending=cleared, flags=flags, last="head")


KIND_ROWS_COST = 0.05
"""Cost of rows for a noun of which a column says the kind: `boats` of `boat_type`."""
MIN_ROWS_OF_KIND = 5
"""Rows of each value from which a column says the kind of what moves, and does not name it."""
_KIND_PARTS = frozenset({"type", "kind", "class", "category"})
_MOVING = word_set(
    "arrived came passed left went entered stopped crossed drove flew sailed landed departed docked"
)
"""Verbs of things each of which is a row: `how many vehicles passed`."""


def _counts_rows(noun: Mention, reading: QuestionReading, reference: Reference) -> bool:
    """Tell if a counted noun means rows, of which its column says the kind: `how many boats arrived`."""
    column, items = reference.column, reading.text.items
    # Of a column that tells all rows apart, different values and rows are the same number.
    if column.type != "text" or column.unique:
        return False
    if _KIND_PARTS & {*words(column.name)} and not _KIND_PARTS & {
        noun.item.word,
        noun.item.word.removesuffix("s"),
    }:
        return True
    following = items[noun.place + 1].text if noun.place + 1 < len(items) else ""
    is_kind = column.distinct * MIN_ROWS_OF_KIND <= reading.scope.table(reference.table).rows
    is_person = bool(PERSONS & {noun.item.word, *words(column.name)})
    return following in _MOVING and is_kind and not is_person


def _rows_by_time(sketch: Sketch, mention: Mention) -> Sketch:
    """The rows, by the time that a noun names: `arrivals per month`, `the yard with the most arrivals`."""
    pending, rows = sketch.pending, replace(mention, value=None)
    if pending.superlative in _COUNT_SUPERLATIVES and (sketch.rows or sketch.interrogative):
        ranking = Ranking(pending.superlative, sketch.place, rows, pending.superlative_count, pending.ordinal)
        return sketch.advance([sketch.place], EVENT_ROWS_COST, ranking=ranking, pending=NOTHING, last="rows")
    return sketch.advance(
        [sketch.place], EVENT_ROWS_COST, rows=(*sketch.rows, rows), pending=pending, last="rows"
    )


def _restates_rows(sketch: Sketch, mention: Mention, reference: Reference) -> bool:
    """Tell if a noun says again what the rows are of: `median population of African countries`.

    So it does before an amount: `how much did customers pay`.
    """
    is_measured = bool(sketch.measures and sketch.measures[-1].functions) and not sketch.rows
    is_measured = is_measured or ("amount" in sketch.flags and not sketch.measures and not sketch.rows)
    is_plural_text = mention.item.word.endswith("s") and reference.column.type == "text"
    return is_measured and is_plural_text and not sketch.pending.superlative


def is_attribute(noun: Mention, items: Sequence[QuestionItem]) -> bool:
    """Tell if a column is asked for of one thing, and not as groups: `the class of the youngest passenger`."""
    following = [item.text for item in items[noun.place + 1 : noun.place + 3]]
    reference = noun.value.reference if noun.value else None
    is_name = reference is not None and noun.item.word in words(reference.column.name)
    return (
        reference is not None and following == ["of", "the"] and (is_name or not noun.item.word.endswith("s"))
    )


VERB_HEAD_COST = 0.4
"""Cost of a time as what is asked for, where only the verb of its events stands: `who paid the most`."""


def _is_verb_of_time(noun: Mention) -> bool:
    reference = noun.value.reference if noun.value else None
    is_verb = noun.item.word.endswith("ed") or noun.item.word in ("paid", "sold", "sent", "won")
    return (
        reference is not None and reference.column.type == "datetime" and is_verb and noun.item.kind == "word"
    )


def _is_time_for_who(sketch: Sketch, noun: Mention) -> bool:
    """Tell if `who` would ask for a time, of whose events only the verb stands: `who closes the most`."""
    reference = noun.value.reference if noun.value else None
    is_time = reference is not None and reference.column.type == "datetime"
    return sketch.interrogative == "who" and is_time and not sketch.pending.superlative


def _asked_or_shown(sketch: Sketch, noun: Mention, is_flag: bool) -> Iterator[Sketch]:
    pending, place = sketch.pending, sketch.place
    is_asked = not sketch.rows or pending.superlative or sketch.ranking
    has_asker = pending.superlative or sketch.interrogative in _ASKING or sketch.ranking
    if is_asked and has_asker and not sketch.heads and not _is_time_for_who(sketch, noun):
        cost = (FLAG_HEAD_COST if is_flag else 0.02) + VERB_HEAD_COST * _is_verb_of_time(noun)
        yield sketch.advance([place], cost, heads=(*sketch.heads, noun), pending=pending, last="head")
    if not pending.superlative or (sketch.rows and sketch.link == "and"):
        cost = 0.1 if not is_flag or sketch.shows else SHOWN_FLAG_COST
        cost += VERB_HEAD_COST * _is_time_for_who(sketch, noun)
        displayed = (*sketch.displayed, noun)
        yield sketch.advance([place], cost, displayed=displayed, pending=pending, last="displayed")
