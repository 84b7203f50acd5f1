"""Steps of a sketch over numbers: bounds of columns and of figures of groups, and counts of what follows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.sketch import NOTHING, CountBound, Mention, Sketch
from app.agents.questions.conditions.number_bounds import (
    NumberBound,
    bound_condition,
    find_bounds,
    meant_columns,
)
from app.agents.questions.grammar_words import ADJECTIVES
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.question_reading import (
    Condition,
    QuestionReading,
)
from app.agents.questions.tables.scope import Reference
from app.agents.questions.tables.years import holds_years
from app.plans import build
from app.plans.expressions import Expression

CODE_COST = 0.2
"""Cost of a bare number as a code that a column stores."""
MIN_CODE, MAX_CODES = 100, 30
"""Least number that is rather a code than a count, and different values of a column of codes."""
EQUAL_COST = 0.25
"""Cost of a number that equals a column without any word that says so: `3 bedrooms`."""
GROUPED_BOUND_COST = 0.1
"""Cost of a bound of a figure of groups, beside one of each row."""


def number_steps(sketch: Sketch, reading: QuestionReading, items: Sequence[QuestionItem]) -> Iterator[Sketch]:
    """Yield the sketches in which the number at the sketch's place bounds a column or counts what follows."""
    item, pending, place = items[sketch.place], sketch.pending, sketch.place
    if item.number is None or pending.bound is not None:
        return
    if (
        pending.superlative
        and pending.superlative_count is None
        and item.number == int(item.number)
        and not _measures_next_noun(items, place)
        and not _is_of_rows(items, place)
    ):
        yield sketch.advance([place], pending=replace(pending, superlative_count=int(item.number)))
        return
    bounds = [*find_bounds(items, place, pending.sign, pending.adjective, pending.is_negated)]
    for bound in bounds:
        yield from _attached(sketch, reading, items, bound)
    if not pending.sign and pending.number is None:
        yield from _stored_numbers(sketch, reading, item.number)
    if not pending.sign:
        yield replace(sketch.skip(0.0, False), pending=replace(pending, number=item.number, number_place=place))


_YEAR_BOUNDS: dict[str, build.ComparisonSign] = {"before": "<", "after": ">", "since": ">=", "until": "<="}


def year_steps(sketch: Sketch, items: Sequence[QuestionItem]) -> Iterator[Sketch]:
    """Yield the sketch in which a column of years is before or after one: `built before 1970`."""
    place = sketch.place
    sign, number = (
        _YEAR_BOUNDS.get(items[place].text),
        items[place + 1].number if place + 1 < len(items) else None,
    )
    last = sketch.measures[-1] if sketch.measures and sketch.last == "measure" else None
    reference = last.value.reference if last and last.value and not last.functions else None
    if last is None or sign is None or number is None or reference is None:
        return
    # `before 1970` of another number is no bound of it.
    if not holds_years(reference.column):
        return
    bound = NumberBound(sign, number, (place, place + 1))
    condition, cost = bound_condition(bound, reference, place)
    yield sketch.advance(
        [place, place + 1],
        cost - last.joining_cost,
        measures=sketch.measures[:-1],
        conditions=(*sketch.conditions, condition),
        last="value",
    )


def _stored_numbers(sketch: Sketch, reading: QuestionReading, number: float) -> Iterator[Sketch]:
    """A number that one column of codes stores: `404` of a `status`."""
    columns = [
        Reference(table.name, column)
        for table in reading.scope.tables
        for column in table.columns
        if column.type == "integer" and number >= MIN_CODE and column.distinct <= MAX_CODES
        if any(isinstance(value, int | float) and value == number for value in column.values)
    ]
    # A number that two columns store could be a code of either.
    if len(columns) != 1:
        return
    reference = columns[0]
    equal = build.compare("=", reference.expression, build.literal(int(number)))
    expression = build.negate(equal) if sketch.pending.is_negated else equal
    condition = Condition(expression, reference, (int(number),), place=sketch.place)
    # `status 404`: the noun before the code was read as a measure, and only named its column.
    measures = tuple(m for m in sketch.measures if m.value is None or m.value.reference != reference)
    yield sketch.advance(
        [sketch.place],
        CODE_COST,
        measures=measures,
        conditions=(*sketch.conditions, condition),
        pending=replace(sketch.pending, is_negated=False),
        last="value",
    ).with_note(f"The number {number:g} is taken for a `{reference.column.name}`.")


_BEFORE_VALUES = word_set("to from at in with for near of within under over than")
"""Prepositions before what rows have: no count of rows follows them."""


def _is_of_rows(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a number says which rows are meant, and not how many: `the heaviest parcel to 20095`."""
    return place > 0 and items[place - 1].text in _BEFORE_VALUES


def _measures_next_noun(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a number belongs to a noun in the singular before another one: `the cheapest three room flat`."""
    if place + 2 >= len(items) or items[place].number == 1:
        return False
    noun, following, number = items[place + 1], items[place + 2], items[place].number
    column = noun.columns[0].column if noun.columns and not noun.word.endswith("s") else None
    is_measure = column is not None and column.type == "integer" and number is not None and column.spans(number)
    return is_measure and bool(following.row_tables or following.columns)


def _attached(
    sketch: Sketch, reading: QuestionReading, items: Sequence[QuestionItem], bound: NumberBound
) -> Iterator[Sketch]:
    """A bound of the column before it, of the one behind it, or of the one that its words mean."""
    cleared = replace(sketch.pending, sign=None, adjective="", is_negated=False, number=None, key_word="")
    following = items[bound.end + 1] if bound.end + 1 < len(items) else None
    if following is not None and following.text == "times":
        tables = reading.main_tables or tuple(table.name for table in reading.scope.tables[:1])
        rows = Mention(bound.end + 1, following, None, tables[0])
        yield sketch.advance(
            [*bound.places, bound.end + 1],
            bounds=(*sketch.bounds, CountBound(rows, bound)),
            pending=cleared,
            last="rows",
        )
        return
    yield from _bounds_last_measure(sketch, bound, cleared)
    # `older than 30` says what is bounded, so that no noun behind it is waited for.
    if bound.adjective not in ADJECTIVES:
        yield sketch.advance(bound.places, pending=replace(cleared, bound=bound))
    for reference, cost in meant_columns(bound, reading):
        condition, misfit = bound_condition(bound, reference, bound.places[0])
        yield sketch.advance(
            bound.places,
            cost + misfit,
            conditions=(*sketch.conditions, condition),
            pending=cleared,
            last="value",
        ).with_note(f"The number {bound.low:g} is compared with `{reference.column.name}`.")


def _bounds_last_measure(sketch: Sketch, bound: NumberBound, cleared: object) -> Iterator[Sketch]:
    if sketch.last != "measure" or not sketch.measures or sketch.link not in ("", "and", "or"):
        return
    last = sketch.measures[-1]
    reference = last.value.reference if last.value else None
    if last.value is None:
        return
    # A figure such as `average fare above 50` bounds groups, a plain column bounds rows.
    if last.functions:
        count_bound = CountBound(last, bound)
        yield sketch.advance(
            bound.places,
            measures=sketch.measures[:-1],
            bounds=(*sketch.bounds, count_bound),
            pending=cleared,
            last="rows",
        )
    # A measure that turns out to be a bound gives back what it cost beside others.
    elif reference is not None:
        condition, cost = bound_condition(bound, reference, bound.places[0])
        yield sketch.advance(
            bound.places,
            cost - last.joining_cost,
            measures=sketch.measures[:-1],
            conditions=(*sketch.conditions, condition),
            pending=cleared,
            last="value",
        )


def bounded_column(sketch: Sketch, mention: Mention) -> Iterator[Sketch]:
    """A column behind a number: `with 3 bedrooms`, `more than 3 bedrooms`, and a figure of it of each group."""
    pending, reference = sketch.pending, mention.value.reference if mention.value else None
    if reference is None or (pending.superlative and pending.number is None):
        return
    bound = pending.bound
    if bound is not None:
        condition, cost = bound_condition(bound, reference, sketch.place)
        yield sketch.advance(
            [sketch.place], cost, conditions=(*sketch.conditions, condition), pending=NOTHING, last="value"
        )
        yield sketch.advance(
            [sketch.place],
            GROUPED_BOUND_COST,
            bounds=(*sketch.bounds, CountBound(mention, bound)),
            pending=NOTHING,
            last="rows",
        )
        return
    number = pending.number
    # A number outside of a column's values counts the noun instead: `5 bedrooms` of a column that ends at 4.
    if number is None or reference.column.type != "integer" or not reference.column.spans(number):
        return
    equal = NumberBound("=", number, (pending.number_place,), is_negated=pending.is_negated)
    condition, cost = bound_condition(equal, reference, sketch.place)
    yield sketch.advance(
        [pending.number_place, sketch.place],
        EQUAL_COST + cost,
        conditions=(*sketch.conditions, condition),
        pending=replace(pending, number=None, number_place=-1, is_negated=False),
        last="value",
    )


def bounded_flag(sketch: Sketch, mention: Mention) -> Sketch | None:
    """A yes/no column behind a bound as the number of such rows of a group: `with at least one fraud`."""
    reference, bound = mention.value.reference if mention.value else None, sketch.pending.bound
    if reference is None or bound is None or flag_values(reference.column) is None:
        return None
    bounds = (*sketch.bounds, CountBound(mention, bound))
    return sketch.advance([sketch.place], GROUPED_BOUND_COST, bounds=bounds, pending=NOTHING, last="rows")


def bounded_expression(count_bound: CountBound, figure: str) -> Expression:
    """The condition on a figure of groups."""
    bound = count_bound.bound
    column, low = build.column(figure), _plain(bound.low)
    if bound.sign == "between":
        expression = build.every(
            [
                build.compare(">=", column, build.literal(low)),
                build.compare("<=", column, build.literal(_plain(bound.high or 0.0))),
            ]
        )
    else:
        expression = build.compare(bound.sign, column, build.literal(low))
    return build.negate(expression) if bound.is_negated else expression


def _plain(number: float) -> int | float:
    return int(number) if number == int(number) else number


def counted_rows_bound(sketch: Sketch, mention: Mention) -> Sketch | None:
    """Rows behind a bound: `more than 5 orders`."""
    bound = sketch.pending.bound
    if bound is None:
        return None
    return sketch.advance(
        [sketch.place], bounds=(*sketch.bounds, CountBound(mention, bound)), pending=NOTHING, last="rows"
    )
