"""Counts: of rows and different values, and of groups by their number of rows."""

import re
from collections.abc import Iterator

from app.agents.goals.tables.units import column_unit, find_unit
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.cues import ADVERBS
from app.agents.questions.composition.persons import person_column
from app.agents.questions.composition.plans.measure_figures import (
    UNUSED_COST,
    counted_figure,
    figures_of,
    is_added_up,
    is_countable,
    take_order,
)
from app.agents.questions.composition.sketch import Mention, Sketch
from app.agents.questions.composition.steps.number_steps import bounded_expression
from app.agents.questions.conditions.value_conditions import flag_condition
from app.agents.questions.figures import QUANTITY_NAMES, entity_key, entity_name, measures_things
from app.agents.questions.frames.group_figures import plan_figures, values_of
from app.agents.questions.grammar_words import AGGREGATE_WORDS
from app.agents.questions.grouping import display_reference, owner_reference
from app.agents.questions.marking.row_nouns import PEOPLE
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.question_reading import QuestionReading, Value, make_value
from app.agents.questions.rows_plan import Figure, start_plan
from app.agents.questions.tables.scope import Reference, tables_of
from app.plans import build
from app.plans.plan import Plan

MIN_COUNTED_SCORE, UNNAMED_COUNT_COST = 0.78, 0.6
"""Score of a measure whose total is a number of things, and the cost of one that the question hardly names."""
OTHER_ROWS_COST = 0.15
"""Cost of a second noun of rows, which only says where the first ones come from."""


def plan_counts(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`how many orders per customer`, `number of different cities`, `how many are older than 30`."""
    if not _asks_for_count(sketch, reading):
        return
    subject = None if _asks_how_often(reading) else _subject(sketch)
    if subject is None and sketch.measures:
        yield from _count_of_measure(sketch, reading)
        return
    if subject is None and (pieces := _pieces_of_value(sketch, reading)):
        reading.note(f"The total of `{pieces.column.name}` is taken for their number.")
        yield plan_figures(reading, [Figure("sum", make_value(pieces))], take_order(sketch), pieces.table), 0.0
        pieces_cost = ROWS_OF_PIECES_COST
    else:
        pieces_cost = 0.0
    functions = sketch.pending.functions if not sketch.measures else ()
    # A count has no mean without groups to take it over.
    if functions and (len(functions) > 1 or not reading.keys or functions == ("sum",)):
        return
    outer = functions[0] if functions else sketch.outer_function
    if not outer and reading.keys and ("each" in sketch.flags or sketch.default_function == "mean"):
        outer = "mean"  # `how many orders per customer on average`
    cost = _unused_cost(sketch, reading) + pieces_cost
    figure, base = counted_figure(reading, subject) if subject else (Figure("count", label="rows"), None)
    if "distinct" in sketch.flags and subject and subject.value and subject.value.reference:
        # Numbers that are counted as different name things, and are not added up.
        figure, base = Figure("count_distinct", subject.value), subject.value.reference.table
    if outer and reading.keys:
        # `average gift` is an amount of each gift and no number of gifts.
        if subject and not _is_counted(sketch, reading, subject):
            return
        key = _inner_key(sketch, reading)
        reading.keys.remove(key)
        yield plan_two_levels(reading, figure, key, outer, base), cost
        return
    cost += UNUSED_COST * bool(outer)
    figure, base = _each_once(reading, figure, base)
    figures = [figure, *(own for measure in sketch.measures for own in figures_of(sketch, measure))]
    if _counts_rows_too(sketch, reading):
        figures, cost = [Figure("count", label="rows"), *figures], cost - OTHER_ROWS_COST
    yield plan_figures(reading, figures, take_order(sketch), base), cost


def _asks_for_count(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if a question asks for one number of things, or for that of each group."""
    if sketch.ranking or _counts_others_second(sketch, reading):
        return False
    is_grouped_count = not sketch.measures and sketch.rows and reading.keys and not sketch.heads
    return bool(sketch.counts or is_grouped_count) or _compares_counts(sketch, reading)


def _counts_others_second(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if a second `how many` has conditions of its own, which do not hold for the first one."""
    later = [c for c in reading.conditions if c.place > sketch.second_count_place >= 0]
    return any(not condition.is_compared for condition in later)


_HOW_OFTEN = re.compile(r"\bhow (?:often|frequently|many times)\b")


def _asks_how_often(reading: QuestionReading) -> bool:
    """Tell if occasions are counted, and not the things that have them: `how often do machines fail`."""
    is_told = any(not condition.is_date for condition in reading.conditions)
    return is_told and bool(_HOW_OFTEN.search(" ".join(item.text for item in reading.text.items)))


def _counts_rows_too(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if rows and different things of theirs are counted: `how many rows and how many different users`."""
    if "distinct" not in sketch.flags or len(sketch.rows) != 1 or len(sketch.heads) != 1:
        return False
    first, second = sorted((sketch.rows[0].place, sketch.heads[0].place))
    between = [item.text for item in reading.text.items[first + 1 : second]]
    is_of_table = sketch.heads[0].table == sketch.rows[0].table
    return is_of_table and between[:1] == ["and"] and ("number" in between or "many" in between)


_MORE = frozenset({"more", "fewer"})


def _compares_counts(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if numbers of rows are compared: `did Ana have more visits than Ben`, `more women than men`."""
    pairs = [condition for condition in reading.conditions if condition.is_compared]
    is_pair = len(pairs) == 1 and len(pairs[0].values) == 2 and not pairs[0].is_date
    if "compared" not in sketch.flags or sketch.measures or sketch.pending.adjective or not is_pair:
        return False
    nouns = [pairs[0].place, *(noun.place for noun in (*sketch.rows, *sketch.heads))]
    return any(place > 0 and reading.text.items[place - 1].text in _MORE for place in nouns)


def _each_once(reading: QuestionReading, figure: Figure, base: str | None) -> tuple[Figure, str | None]:
    """A count of rows of a table by groups of another one whose rows belong to them: each counts once."""
    scope = reading.scope
    others = [name for name in tables_of([key.expression for key in reading.keys]) if base != name]
    unreached = [name for name in others if base and not scope.reaches(base, name)]
    # Joined to many rows of the other table, a row would be counted once for each of them.
    if base is None or figure.function != "count" or len(unreached) != 1:
        return figure, base
    link = scope.link(unreached[0], base)
    column = scope.table(link.many).column(link.foreign_key) if link else None
    if link is None or column is None:
        return figure, base
    reading.note(f"Each row of `{base}` counts once.")
    return Figure("count_distinct", make_value(Reference(link.many, column)), label=figure.name), link.many


ROWS_OF_PIECES_COST = 0.2
"""Cost of a number of rows where pieces are asked for: `how many croissants did we sell`."""


def _pieces_of_value(sketch: Sketch, reading: QuestionReading) -> Reference | None:
    """The quantity of the things that a counted value names: `how many croissants did we sell`."""
    items = reading.text.items
    for condition in sketch.conditions:
        reference, place = condition.column, condition.place
        before = [item.text for item in items[max(place - 2, 0) : place]]
        is_counted = before[-1:] == ["many"] or before[-2:] == ["number", "of"]
        if reference is None or not is_counted or not items[place].word.endswith("s"):
            continue
        columns = reading.scope.stored_columns(reference.table)
        pieces = [c for c in columns if c.is_number and QUANTITY_NAMES & set(words(c.name))]
        # Without a verb of sales `how many croissants` counts the rows that name them.
        if len(pieces) == 1 and _SELLING & {item.text for item in items}:
            return Reference(reference.table, pieces[0])
    return None


_SELLING = word_set("sell sold buy bought order ordered ship shipped deliver delivered rent rented")
"""Verbs of which one says that pieces are counted and not rows."""


def _is_counted(sketch: Sketch, reading: QuestionReading, subject: Mention) -> bool:
    """Tell if the number of some things is averaged: `average orders per customer`, not `average gift`."""
    before = reading.text.items[subject.place - 1].text if subject.place > 0 else ""
    return sketch.counts or (subject.item.word.endswith("s") and before in AGGREGATE_WORDS)


UNTOLD_ROWS_COST = 0.3
"""Cost of a count of all rows that the question does not name."""


def _unused_cost(sketch: Sketch, reading: QuestionReading) -> float:
    """The cost of parts of a sketch that a count leaves out, and of rows that nothing names."""
    unused = len(sketch.displayed) + len([m for m in sketch.measures if not m.functions])
    if "compared" in sketch.flags and not any(c.is_compared for c in reading.conditions):
        unused += 1
    nouns = len(sketch.rows) + len(sketch.heads)
    is_untold = not nouns and not (reading.conditions or reading.keys or reading.means)
    return UNUSED_COST * unused + OTHER_ROWS_COST * max(0, nouns - 1) + UNTOLD_ROWS_COST * is_untold


def _subject(sketch: Sketch) -> Mention | None:
    nouns = sorted([*sketch.heads, *sketch.rows], key=lambda mention: mention.place)
    if "distinct" in sketch.flags and sketch.heads:
        return sketch.heads[0]
    return nouns[0] if nouns else None


_EACH_WORDS = frozenset({"per", "each", "every"})


def _inner_key(sketch: Sketch, reading: QuestionReading) -> Value:
    """The group of which each has a figure: the customers of `average orders per customer by tier`."""
    items = reading.text.items
    inner = [
        key.value
        for key in sketch.keys
        if key.place > 0 and items[key.place - 1].text in _EACH_WORDS and key.value in reading.keys
    ]
    return inner[0] if len(inner) == 1 and inner[0] else reading.keys[-1]


def _count_of_measure(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`how many seats per country`: the sum of a number of things, or the different ones of a label."""
    if len(sketch.measures) > 1 or sketch.measures[0].functions:
        return
    measure = sketch.measures[0]
    reference = measure.value.reference if measure.value else None
    if reference is None or measure.value is None or measures_things(reference.column, measure.item.word):
        return
    if is_label(reference, measure.item.word):
        figure = Figure("count_distinct", measure.value)
    elif "each" in sketch.flags and reading.keys:
        figure = Figure("sum", measure.value)  # `how many litres does a cow give on average`
        yield plan_two_levels(reading, figure, reading.keys.pop(), "mean", reference.table), 0.05
        return
    elif sketch.outer_function and not sketch.keys:
        figure = Figure(sketch.outer_function, measure.value)  # type: ignore[arg-type]
    else:
        figure = Figure("sum", measure.value)
        reading.note(f"The total of `{reference.column.name}` is taken for their number.")
    matches = measure.item.columns
    unit, own_unit = find_unit(measure.item.word), column_unit(reference.column.name)
    is_unit = unit is not None and own_unit == unit  # `how many km did Ana run`
    is_named = is_unit or (bool(matches) and matches[0].score >= MIN_COUNTED_SCORE)
    is_named = is_named or measure.item.word in PEOPLE  # these are no rows where a column counts them
    cost = 0.1 if is_named else UNNAMED_COUNT_COST
    yield plan_figures(reading, [figure], take_order(sketch), reference.table), cost


def is_label(reference: Reference, word: str) -> bool:
    """Tell if a whole number names things: `subjects` of a column `Subject`, which holds their numbers."""
    column = reference.column
    is_singular = not column.name.casefold().endswith("s")
    return (
        column.type == "integer"
        and is_singular
        and word == f"{column.name.casefold()}s"
        and isinstance(column.low, int | float)
        and column.low > 0
    )


def plan_means_of_totals(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`how much does a customer spend on average`: the mean of the totals of each customer."""
    functions = {sketch.default_function, *sketch.pending.functions} - {"", "mean"}
    if "each" not in sketch.flags or len(sketch.measures) != 1 or len(reading.keys) != 1 or functions:
        return
    measure = sketch.measures[0]
    if measure.value is None or measure.divisor or measure.functions or not is_countable(measure.value):
        return
    figure = Figure("sum", measure.value)
    yield plan_two_levels(reading, figure, reading.keys.pop(), "mean", None), 0.0


def plan_period_totals(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`average daily revenue`: an aggregate of the totals of periods."""
    if "nested" not in sketch.flags or len(sketch.measures) != 1:
        return
    measure = sketch.measures[0]
    is_single = len(measure.functions) == 1 and not sketch.pending.functions and measure.divisor is None
    if measure.value is None or not is_single or not is_added_up(measure):
        return
    period = next((k.value for k in sketch.keys if k.item.word in ADVERBS and k.value in reading.keys), None)
    if period is None:
        return
    reading.keys.remove(period)
    yield plan_two_levels(reading, Figure("sum", measure.value), period, measure.functions[0], None), 0.0


def plan_two_levels(
    reading: QuestionReading, figure: Figure, key: Value, function: str, base: str | None
) -> Plan:
    """An aggregate over groups of a figure of each: `average number of orders per customer`."""
    draft = start_plan(reading, [key, *([figure.value] if figure.value else [])], base)
    outer = [*reading.keys]
    names = [draft.name_of(value) for value in outer]
    draft.group([*outer, key], [figure])
    label = f"{function} {figure.name} per {key.label}"
    draft.steps.append(build.group(names, [build.aggregation(label, function, figure.name)]))  # type: ignore[arg-type]
    if names:
        draft.steps.append(build.sort(*((name, False) for name in names)))
    return draft.plan()


def plan_bounds(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`customers with more than three orders`, how many or what share of them."""
    if len(sketch.bounds) != 1:
        return
    bound = sketch.bounds[0]
    nouns = [m for m in (*sketch.heads, *sketch.displayed, *sketch.rows) if m.place != bound.mention.place]
    owner = min(nouns, key=lambda mention: mention.place, default=None)
    if owner is None and sketch.interrogative == "who":
        owner = person_column(reading, bound.mention.table)
    key = group_of(reading, owner, bound.mention.table) if owner else None
    if (
        owner is None
        or key is None
        or (key.reference and key.reference.column.unique and not bound.mention.is_rows)
    ):
        return
    cost = UNUSED_COST * (len(sketch.measures) + max(len(nouns) - 1, 0))
    figure, base = bounded_figure(sketch, reading, bound.mention)
    draft = start_plan(reading, [key, *values_of([figure])], base or bound.mention.table)
    draft.present([figure])
    draft.group([key], [figure])
    bounded = bounded_expression(bound, figure.name)
    if "share" in sketch.flags:
        # `share of customers with more than ten orders`: of all things, and not of their rows
        meets, label = "meets the condition", f"number of {owner.item.word}"
        draft.steps.append(build.derive(meets, bounded))
        share = build.aggregation("share", "share_true", meets)
        draft.steps.append(build.group([], [share, build.aggregation(label, "count")]))
        yield draft.plan(), cost
        return
    draft.keep(bounded)
    if sketch.counts:
        label = f"number of {owner.item.word}"
        draft.steps.append(build.group([], [build.aggregation(label, "count")]))
    else:
        draft.steps.append(build.sort((figure.name, True), (draft.name_of(key), False)))
    yield draft.plan(), cost


def bounded_figure(sketch: Sketch, reading: QuestionReading, mention: Mention) -> tuple[Figure, str | None]:
    """The figure of each group that a bound compares: its rows, its different things, or a measure of it."""
    reference = mention.value.reference if mention.value else None
    flags = flag_values(reference.column) if reference else None
    if flags is not None and reference is not None and mention.value is not None:
        is_said = flag_condition(reference, flags[1])
        label = f"number with {mention.value.label}"
        return Figure("count", mention.value, where=is_said, label=label), mention.table
    if mention.value is None or not is_countable(mention.value):
        return counted_figure(reading, mention)
    return figures_of(sketch, mention)[0], mention.table


def group_of(reading: QuestionReading, owner: Mention, table: str) -> Value | None:
    """The value of a table's rows that says to which of the owner's things a row belongs."""
    if owner.value is not None:
        return owner.value
    word = owner.item.word
    if entity := entity_key(reading, word, table) or entity_name(reading, word, table):
        return make_value(display_reference(reading, entity))
    if owner.table != table and (link := reading.scope.link(table, owner.table)):
        reference = owner_reference(reading, link)
        return make_value(reference) if reference else None
    return None


def plan_any(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`are there any orders above 500`: yes or no, with their number."""
    if "any" not in sketch.flags or not reading.conditions or sketch.measures:
        return
    base = sketch.rows[0].table if sketch.rows else None
    draft = start_plan(reading, [], base)
    draft.group([], [Figure("count", label="rows")])
    draft.steps.append(build.derive("any", build.compare(">", build.column("rows"), build.literal(0))))
    draft.select(["any", "rows"])
    yield draft.plan(), UNUSED_COST * (len(sketch.heads) + len(sketch.displayed))
