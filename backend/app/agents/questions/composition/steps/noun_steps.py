"""Steps of a sketch over nouns: a word as a column, as a value, or as the rows of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from app.agents.goals.words.tokenizer import words
from app.agents.questions.composition.column_costs import (
    is_denied_flag,
    is_only_holder,
    is_own_unit,
    match_cost,
)
from app.agents.questions.composition.cues import PERIODS
from app.agents.questions.composition.sketch import NOTHING, Mention, Ranking, Sketch
from app.agents.questions.composition.steps.attribute_steps import (
    EVENT_ROWS_COST,
    RESTATED_COST,
    attribute_steps,
)
from app.agents.questions.composition.steps.event_times import happened_step, is_duration, time_steps
from app.agents.questions.composition.steps.number_steps import bounded_column, bounded_flag
from app.agents.questions.composition.steps.row_noun_steps import described_things, things_of_share
from app.agents.questions.composition.steps.unit_steps import value_in_unit
from app.agents.questions.composition.steps.value_steps import (
    flag_step,
    missing_step,
)
from app.agents.questions.figures import default_function
from app.agents.questions.grammar_words import ADJECTIVES, CLASSES, SIZES
from app.agents.questions.grouping import (
    MAX_NUMBER_GROUPS,
    display_reference,
    make_period,
)
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking.row_nouns import MIN_CLEAR_SCORE, PEOPLE
from app.agents.questions.matching.column_matching import CONCEPT, ColumnMatch, name_parts, word_strength
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.question_reading import (
    Condition,
    QuestionReading,
    Value,
    is_measurable,
    make_value,
)
from app.agents.questions.tables.scope import Reference
from app.plans import build

MAX_COLUMN_READINGS = 4
"""Columns that one word is tried for."""
MIN_BOUNDED_SCORE = 0.78
"""Score of a column whose name stands behind a number: a weaker match is a noun that is counted."""
MEASURE_AS_KEY_COST = 0.6
"""Cost of a number that groups behind `per`, which rather divides."""
COUNTED_KEY_COST = 0.15
"""The same for a number of rows, which is seldom divided by a measure: `number of wines per vintage`."""
SINGLE_ROW_KEY_COST = 0.3
"""Cost of an aggregate of groups of one row each: `mean km per shift` means each row, not each group."""
UNFIT_ADJECTIVE_COST = 0.3
"""Cost of a superlative of a measure of which its adjective is not said."""
IN_KEYS_COST = 0.15
"""Cost of a measure that stands in a list of groups: `by language and hall`."""
UNJOINED_COST = 0.5
"""Cost of a second measure that nothing joins with the first one."""
_PAIRED = frozenset({"share", "ratio", "per", "difference", "excess"})
_LIST_LINKS = frozenset({",", "and", "or", "&", "/", "versus", "plus"})


def column_steps(sketch: Sketch, reading: QuestionReading, items: Sequence[QuestionItem]) -> Iterator[Sketch]:
    """Yield the sketches in which the item at the sketch's place is a column."""
    item = items[sketch.place]
    best = item.columns[0].score if item.columns else 0.0
    for match in item.columns[:MAX_COLUMN_READINGS]:
        # Weak candidates are left out, and so are adjectives of `most` that only resemble a name.
        if match.score < best - 0.35 or (match.score < MIN_CLEAR_SCORE and _is_adjective(items, sketch.place)):
            continue
        cost = match_cost(sketch, reading, items, match)
        for step in _readings_of_column(sketch, reading, item, match):
            annotated = step
            if match.score < 1 and is_denied_flag(item, match.column):
                annotated = step
            elif is_own_unit(item, match.column) or is_only_holder(item, match, reading):
                annotated = step.with_note(f"`{match.column.name}` is taken for {item.text!r}.")
            elif match.coverage < 1 or match.score < 0.9:
                annotated = step.with_assumption(f"`{match.column.name}` is taken for {item.text!r}.")
            yield replace(
                annotated, cost=annotated.cost + cost, qualities=(*annotated.qualities, match.score), link=""
            )


def _is_adjective(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a word stands between `most` and a noun: `the most active members` are no `trainer`."""
    if not 0 < place < len(items) - 1 or items[place - 1].text not in ("most", "least"):
        return False
    following = items[place + 1]
    return bool(following.row_tables or following.columns) and not items[place].word.endswith("s")


def _readings_of_column(
    sketch: Sketch, reading: QuestionReading, item: QuestionItem, match: ColumnMatch
) -> Iterator[Sketch]:
    reference = Reference(match.table, match.column)
    place, pending = sketch.place, sketch.pending
    # The name of a column beside its value is no further condition.
    if _repeats_condition(sketch, reading, reference):
        yield sketch.advance([place], 0.0)
        return
    if _names_cause(sketch, reference):
        yield sketch.advance([place], 0.0, pending=NOTHING)
        return
    mention = Mention(place, item, value_in_unit(reference, item.text), match.table)
    yield from time_steps(sketch, reading, mention)
    yield from _order_steps(sketch, mention)
    yield from described_things(sketch, reading, mention)
    yield from things_of_share(sketch, reading, mention)
    if _owns_figures(sketch, reading, reference):
        yield from attribute_steps(sketch, reading, mention, reference)
        return
    is_amount = flag_values(match.column) is None or bool(
        pending.functions and not is_denied_flag(item, match.column)
    )
    if is_measurable(match.column) and is_amount:
        yield from _measure_readings(sketch, mention)
        if match.score >= MIN_BOUNDED_SCORE:
            yield from bounded_column(sketch, mention)
    tells_rows = flag_values(match.column) is not None and _stands_before_rows(reading, sketch)
    conditions = (
        bounded_flag(sketch, mention),
        flag_step(sketch, reference, item, tells_rows),
        missing_step(sketch, reference),
        _possessed(sketch, reading, reference),
        happened_step(sketch, reading, reference),
    )
    yield from (step for step in conditions if step is not None)
    if _may_group(sketch, reference) and not pending.is_negated and not tells_rows:
        yield from _key_readings(sketch, reading, mention, reference)
    ranks_values = "frequency" in sketch.flags and not sketch.heads and _may_group(sketch, reference)
    is_owned = bool(sketch.rows) and flag_values(match.column) is not None and _is_owned(reading, place)
    if (not is_measurable(match.column) or pending.is_distinct or ranks_values) and not is_owned:
        yield from attribute_steps(sketch, reading, mention, reference)


def _stands_before_rows(reading: QuestionReading, sketch: Sketch) -> bool:
    """Tell if a word stands between a word of groups and the noun of rows: `per converted session`."""
    following = reading.text.items[sketch.place + 1 : sketch.place + 2]
    return bool(sketch.pending.key_word) and any(item.row_tables for item in following)


_OWNING, _PLACING = frozenset({"has", "have", "had"}), frozenset({"in", "for", "at", "on", "of"})
"""Words behind and before `which` and a noun by which the noun names groups."""


def _owns_figures(sketch: Sketch, reading: QuestionReading, reference: Reference) -> bool:
    """Tell if a number names groups of which something is told: `which gear has the lowest average speed`."""
    items, place = reading.text.items, sketch.place
    if not 0 < place < len(items) - 1 or not is_measurable(reference.column):
        return False
    is_place = place > 1 and items[place - 2].text in _PLACING
    is_asked = items[place - 1].text == "which" and (is_place or items[place + 1].text in _OWNING)
    return is_asked and _may_group(sketch, reference) and flag_values(reference.column) is None


POSSESSED_COST = 0.2
"""Cost of a column behind `with` that rows must have a value of: `orders with a discount`."""
_POSSESSION = frozenset({"with", "have", "has", "had", "having", "got"})


def _possessed(sketch: Sketch, reading: QuestionReading, reference: Reference) -> Sketch | None:
    """A column behind `with` as one that has a value, or one above zero where many are zero."""
    place, pending, column = sketch.place, sketch.pending, reference.column
    is_plain = sketch.rows and not pending.is_negated and not pending.is_missing and not pending.bound
    if not _is_owned(reading, place) or not is_plain or flag_values(column) is not None:
        return None
    if pending.superlative or pending.functions or pending.number is not None or sketch.shows:
        return None
    if column.missing > 0:
        expression = build.is_present(reference.expression)
    # `orders with a discount` have more than 0 of it where zeros are stored.
    elif is_measurable(column) and column.low == 0:
        expression = build.compare(">", reference.expression, build.literal(0))
    else:
        return None
    condition = Condition(expression, reference, place=place)
    conditions = (*sketch.conditions, condition)
    return sketch.advance([place], POSSESSED_COST, conditions=conditions, pending=pending, last="value")


def _is_owned(reading: QuestionReading, place: int) -> bool:
    """Tell if a noun is something that rows have: `with a balcony`."""
    items = reading.text.items[max(place - 2, 0) : place]
    before = [item.text for item in items if item.text not in ("a", "an", "any")]
    return bool(before) and before[-1] in _POSSESSION


def _repeats_condition(sketch: Sketch, reading: QuestionReading, reference: Reference) -> bool:
    """Tell if a column's name only stands beside one of its values: `the 2nd class`."""
    if sketch.last != "value" or sketch.link or not sketch.conditions:
        return False
    between = reading.text.items[sketch.conditions[-1].place : sketch.place]
    if any(item.text == "how" for item in between):
        return False  # `how many stayed and how many cancelled`
    return sketch.conditions[-1].column == reference and not sketch.pending.key_word


def _names_cause(sketch: Sketch, reference: Reference) -> bool:
    """Tell if `by` says of a flag what its own word said: `infested by bark beetles` of one column."""
    is_flag = flag_values(reference.column) is not None
    is_told = sketch.last == "value" and bool(sketch.conditions) and sketch.conditions[-1].column == reference
    return is_flag and is_told and sketch.pending.key_word == "by"


def _order_steps(sketch: Sketch, mention: Mention) -> Iterator[Sketch]:
    """A column behind `sorted by`: the order of rows or groups, or the measure of `top 10 flights`."""
    pending, place = sketch.pending, sketch.place
    if not pending.orders:
        return
    order = replace(mention, functions=pending.functions)
    if pending.superlative in ("top", "bottom"):
        ranking = Ranking(pending.superlative, place, order, pending.superlative_count)
        yield sketch.advance([place], ranking=ranking, pending=NOTHING, last="measure")
    elif not pending.superlative:
        yield sketch.advance([place], ordered_by=order, pending=NOTHING, last="measure")


def _measure_readings(sketch: Sketch, mention: Mention) -> Iterator[Sketch]:
    pending, place = sketch.pending, sketch.place
    if pending.is_negated or pending.is_distinct or pending.bound or pending.is_missing:
        return
    if pending.orders:
        return  # `_order_steps` reads it
    if ranked := _ranked_measure(sketch, mention):
        yield ranked
        return
    if (joined := _lasts_for(sketch, mention) or _joined_measure(sketch, mention)) is not None:
        yield joined
        return
    functions = pending.functions
    if not functions and sketch.last == "measure" and sketch.link in _LIST_LINKS and sketch.measures:
        # In a list one aggregate is said for all: `mean age and weight`.
        functions = sketch.measures[-1].functions
    measure = replace(mention, functions=functions)
    if pending.key_word in ("per", "by", "over"):
        if sketch.heads and sketch.ranking is None and pending.key_word == "by":
            return  # Here a rank is asked for, which `_ranked_by` of the plans reads.
        if pending.key_word == "per":
            yield from _divided(sketch, measure)
        return
    if pending.key_word:
        return
    cleared = replace(pending, functions=(), adjective="")
    is_joined = (
        not sketch.measures or functions or sketch.link in _LIST_LINKS or sketch.flags & _PAIRED or sketch.shows
    )
    cost = 0.0 if is_joined else UNJOINED_COST
    cost += IN_KEYS_COST if sketch.last == "key" and sketch.link in _LIST_LINKS else 0.0
    measure = replace(measure, joining_cost=cost)
    yield sketch.advance([place], cost, measures=(*sketch.measures, measure), pending=cleared, last="measure")


def _lasts_for(sketch: Sketch, mention: Mention) -> Sketch | None:
    """A number of people that only says whose time is meant: `the duration of guests` of a party."""
    if sketch.last != "measure" or not sketch.measures or sketch.link or sketch.pending.functions:
        return None
    names = {mention.item.word, *name_parts(mention.value.label if mention.value else "")}
    is_of_people = bool(PEOPLE & names) and is_duration(sketch.measures[-1])
    return sketch.advance([sketch.place], RESTATED_COST, last="rows") if is_of_people else None


def _ranked_measure(sketch: Sketch, mention: Mention) -> Sketch | None:
    """The measure of a superlative: `the highest fare`, or behind `by`: `top 5 products by revenue`."""
    pending = sketch.pending
    has_things = bool(sketch.heads or sketch.rows or sketch.displayed)
    if not pending.superlative or (pending.key_word and not (pending.key_word == "by" and has_things)):
        return None
    is_size = pending.superlative in SIZES  # any amount is big or small: `the biggest crowd`
    is_fit = bool(pending.key_word) or is_size or fits_adjective(pending.superlative, mention)
    measure = replace(mention, functions=pending.functions)
    ranking = Ranking(pending.superlative, sketch.place, measure, pending.superlative_count, pending.ordinal)
    cost = 0.0 if is_fit else UNFIT_ADJECTIVE_COST
    return sketch.advance([sketch.place], cost, ranking=ranking, pending=NOTHING, last="measure")


def _joined_measure(sketch: Sketch, mention: Mention) -> Sketch | None:
    """The sum or difference of the last measure and this one in each row: `goals plus assists`."""
    sign: Literal["+", "-"] | None = {"plus": "+", "+": "+", "minus": "-"}.get(sketch.link)  # type: ignore[assignment]
    last = sketch.measures[-1] if sketch.measures and sketch.last == "measure" else None
    if sign is None or last is None or last.value is None or mention.value is None:
        return None
    # Values of two tables are in no common row to be added.
    if last.table != mention.table:
        return None
    value = combine_values(last.value, mention.value, sign)
    functions = last.functions or sketch.pending.functions
    if not functions and last.value.reference is not None:
        functions = (default_function(last.value.reference.column),)
    combined = replace(last, value=value, functions=functions)
    pending = replace(sketch.pending, functions=())
    return sketch.advance(
        [sketch.place], measures=(*sketch.measures[:-1], combined), pending=pending, last="measure"
    )


def combine_values(first: Value, second: Value, sign: Literal["+", "-"]) -> Value:
    """Two values of each row by a sign."""
    label = f"{first.label} {'plus' if sign == '+' else 'less'} {second.label}"
    return Value(build.arithmetic(sign, first.expression, second.expression), label, "number")


DIVISOR_COST, WEAK_DIVISOR_COST = 0.03, 0.2
"""Cost of a division, and further cost of a measure behind `per` that its word hardly resembles."""


def _divided(sketch: Sketch, divisor: Mention) -> Iterator[Sketch]:
    """The last measure, or the rows, divided by what stands behind `per`."""
    cleared = replace(sketch.pending, key_word="", functions=())
    column = divisor.value.reference.column if divisor.value and divisor.value.reference else None
    is_weak = any(m.column == column and m.score < MIN_BOUNDED_SCORE for m in divisor.item.columns)
    cost = DIVISOR_COST + (WEAK_DIVISOR_COST if is_weak else 0.0)
    ranking = sketch.ranking if sketch.last == "measure" and not sketch.measures else None
    if ranking is not None and ranking.measure is not None and ranking.measure.divisor is None:
        ranked = replace(ranking, measure=replace(ranking.measure, divisor=divisor))
        yield sketch.advance([sketch.place], cost, ranking=ranked, pending=cleared, last="measure")
    elif sketch.measures and sketch.measures[-1].divisor is None and sketch.last == "measure":
        last = replace(sketch.measures[-1], divisor=divisor)
        yield sketch.advance(
            [sketch.place], cost, measures=(*sketch.measures[:-1], last), pending=cleared, last="measure"
        )
    elif sketch.ranking is None and sketch.rows and sketch.last == "rows":
        rows = replace(sketch.rows[-1], divisor=divisor)
        yield sketch.advance(
            [sketch.place],
            cost,
            rows=sketch.rows[:-1],
            measures=(*sketch.measures, rows),
            counts=False,
            outer_function="",
            pending=cleared,
            last="measure",
        )


def fits_adjective(word: str, mention: Mention) -> bool:
    """Tell if an adjective can be said of a measure: days are not hot, temperatures are."""
    names = ADJECTIVES.get(word, "").split()
    reference = mention.value.reference if mention.value else None
    if not names or reference is None:
        return True
    parts = name_parts(reference.column.name)
    return any(word_strength(name, part) >= CONCEPT for name in names for part in parts)


def _may_group(sketch: Sketch, reference: Reference) -> bool:
    column = reference.column
    # Of a number with many values nearly every row would be a group.
    if is_measurable(column):
        return column.type == "integer" and column.distinct <= MAX_NUMBER_GROUPS
    return True


def _key_readings(
    sketch: Sketch, reading: QuestionReading, mention: Mention, reference: Reference
) -> Iterator[Sketch]:
    """A column as a group: behind `by`, or in a list that began behind it."""
    in_list = sketch.last == "key" and sketch.link in _LIST_LINKS
    if sketch.place and reading.text.items[sketch.place - 1].word in CLASSES["@agg"]:
        return  # `by total shipping cost` groups by no shipment
    if not (sketch.pending.key_word or in_list or (sketch.pending.orders and sketch.keys)):
        return
    if "each" in sketch.flags and flag_values(reference.column) is not None:
        return  # `how often does a failure happen` has no mean over yes and no
    display = display_reference(reading, reference)
    value = make_value(display)
    if reference.column.type == "datetime":
        # `per stop` of a column `stopped` names rows, not days.
        is_event = bool(mention.item.row_tables) or mention.item.word not in words(reference.column.name)
        if is_event and sketch.pending.key_word == "per" and sketch.measures and sketch.measures[-1].functions:
            # `mean scrap per stop`: each row is a stop
            pending = replace(sketch.pending, key_word="")
            yield sketch.advance([sketch.place], EVENT_ROWS_COST, pending=pending, last="rows")
        if reference.column.is_stored_as_text or mention.item.word in PERIODS or is_event:
            return
        value = make_period(reference, "day")
    # Behind `per` and `over` a number may divide, and behind `by` it may rank: only here its groups cost.
    is_open = is_measurable(reference.column) and (
        sketch.pending.key_word in ("over", "per", "over the")
        or (sketch.pending.key_word == "by" and bool(sketch.pending.superlative))
    )
    is_counted = sketch.counts and sketch.rows and not sketch.measures
    cost = (COUNTED_KEY_COST if is_counted else MEASURE_AS_KEY_COST) if is_open else 0.0
    if in_list and not sketch.pending.key_word:
        cost += 0.2 if sketch.link == "," else 0.05
    own = sketch.measures[-1] if sketch.measures else None
    if reference.column.unique and own is not None and own.functions and own.table == reference.table:
        cost += SINGLE_ROW_KEY_COST
    pending = replace(sketch.pending, key_word="", orders=False)
    key = replace(mention, value=value, table=display.table)
    yield sketch.advance([sketch.place], cost, keys=(*sketch.keys, key), pending=pending, last="key")
