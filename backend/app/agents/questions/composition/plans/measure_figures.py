"""Figures of measures: aggregates of all rows or of each group, and measures of groups that are compared."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.agents.goals.tables.units import find_unit, unit_of
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.sketch import Mention, Sketch
from app.agents.questions.conditions.number_conditions import find_measure
from app.agents.questions.figures import count_figure, default_function, measures_things, tells_kinds
from app.agents.questions.frames.group_figures import plan_figures
from app.agents.questions.grammar_words import ADJECTIVES, PACE_WORDS
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.ordering import Order
from app.agents.questions.question_reading import (
    QuestionReading,
    Value,
    is_measurable,
    make_value,
)
from app.agents.questions.rows_plan import Figure, flatten
from app.agents.questions.tables.years import holds_years
from app.plans.plan import Plan

IMPLIED_COST = 0.08
"""Cost of an aggregate that the question does not name."""
UNUSED_COST = 2.0
"""Cost of a part of the sketch that a plan leaves out."""
_ORDERED_FUNCTIONS = frozenset({"min", "max", "count_distinct", "count"})


def take_order(sketch: Sketch) -> Order:
    descending = {"down": True, "up": False, "slow": False, "fast": True}.get(sketch.order)
    if descending is None and sketch.ordered_by is not None:
        descending = True  # figures of groups: the largest is what one looks for
    # The slowest first has the longest time on top, but the lowest speed.
    if sketch.order in ("slow", "fast") and any(map(is_pace, sketch.measures)):
        descending = not descending
    return Order(descending, sketch.limit)


def is_pace(measure: Mention) -> bool:
    """Tell if less of a measure is faster: a time, and no speed."""
    reference = measure.value.reference if measure.value else None
    return reference is not None and bool(PACE_WORDS & {*name_parts(reference.column.name)})


def figures_of(sketch: Sketch, measure: Mention, is_compared: bool = False) -> list[Figure]:
    """The aggregates of a measure: the named ones, else the usual one of its kind."""
    value = measure.value
    if measure.divisor is not None:
        return [_ratio_figure(measure, measure.divisor)]
    if value is None:
        return [Figure("count", label="rows")]
    functions = measure.functions
    if not functions and sketch.pending.functions:
        functions = sketch.pending.functions
    if not functions and sketch.default_function:
        functions = (sketch.default_function,)
    if not functions and "amount" in sketch.flags:
        functions = ("sum",)
    if not functions:
        column = value.reference.column if value.reference else None
        # A total grows with the rows of a group, so that compared groups are told apart by their means.
        is_mean = column is None or (is_compared and measure.item.word not in TOTAL_NOUNS)
        functions = ("mean" if is_mean or column is None else default_function(column, measure.item.word),)
    return [figure for function in functions for figure in figures_by_name(function, value)]


TOTAL_NOUNS = word_set(
    "revenue revenues sales turnover takings income earnings spend spending expenses donations output money"
)
"""Nouns of amounts of which a question without an aggregate means the total."""


def names_rows_only(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if a noun means the number of some rows and not their amounts, as `donations` may."""
    rows = sketch.rows[0]
    if sketch.counts or rows.item.word not in TOTAL_NOUNS:
        return True
    tables = dict.fromkeys((rows.table, *rows.item.row_tables))
    columns = [column for table in tables for column in reading.scope.stored_columns(table)]
    return not any(is_measurable(c) and default_function(c) == "sum" for c in columns)


QUANTILES = {"quartiles": (0.25, 0.5, 0.75), "deciles": tuple(n / 10 for n in range(1, 10))}
"""Shares of the quantiles that a word names together."""


def figures_by_name(function: str, value: Value) -> list[Figure]:
    """The figures of an aggregate's name: of `range` the highest value less the lowest one."""
    if shares := QUANTILES.get(function):
        return [Figure("quantile", value, share=share) for share in shares]
    if function.startswith("quantile "):
        return [Figure("quantile", value, share=float(function.split()[1]))]
    if function == "range":
        parts = Figure("max", value), Figure("min", value)
        return [Figure("max", label=f"range of {value.label}", parts=parts, sign="-")]
    if function == "interquartile":
        upper, lower = Figure("quantile", value, share=0.75), Figure("quantile", value, share=0.25)
        return [Figure("max", label=f"interquartile range of {value.label}", parts=(upper, lower), sign="-")]
    if function == "variation":
        parts = Figure("stddev", value), Figure("mean", value)
        return [Figure("mean", label=f"coefficient of variation of {value.label}", parts=parts)]
    return [Figure(function, value)]  # type: ignore[arg-type]


def _ratio_figure(measure: Mention, divisor: Mention) -> Figure:
    """The total of a measure by that of another one, or by the number of rows or of different things."""
    # Totals are divided, and not each row's ratio averaged: every unit of the divisor weighs the same.
    if measure.value is None:
        top = Figure("count", label="rows")
    elif is_countable(measure.value):
        top = Figure("sum", measure.value)
    else:
        top = Figure("count_distinct", measure.value)
    if divisor.value is None:
        bottom = Figure("count", label="rows")
    elif is_countable(divisor.value):
        bottom = Figure("sum", divisor.value)
    else:
        bottom = Figure("count_distinct", divisor.value)
    label = f"{measure.value.label if measure.value else measure.item.text} per {divisor.item.text}"
    return Figure("mean", label=label, parts=(top, bottom))


def is_countable(value: Value) -> bool:
    """Tell if a value is a number whose total says something."""
    if value.reference is None:
        return value.type in ("integer", "number")
    return is_measurable(value.reference.column)


def is_added_up(measure: Mention) -> bool:
    """Tell if the amounts of a measure are added up where no aggregate is named."""
    reference = measure.value.reference if measure.value else None
    return reference is not None and default_function(reference.column, measure.item.word) == "sum"


def names_function(sketch: Sketch, measure: Mention) -> bool:
    return bool(
        measure.functions or sketch.pending.functions or sketch.default_function or "amount" in sketch.flags
    )


def fits_types(figures: Sequence[Figure]) -> bool:
    return all(
        figure.function in _ORDERED_FUNCTIONS
        or (figure.value is not None and figure.value.type in ("integer", "number"))
        for figure in flatten(figures)
    )


def _is_ratio(measure: Mention) -> bool:
    """Tell if a measure is divided by an amount: years are no amounts."""
    value = measure.divisor.value if measure.divisor else None
    is_year = value is not None and value.reference is not None and holds_years(value.reference.column)
    return measure.divisor is not None and not is_year


def plan_aggregates(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`mean fare by class`, `average and median age of women`, `sales per month`."""
    # Of amounts the totals of periods are meant: `average daily revenue`.
    is_nested = "nested" in sketch.flags and any(map(is_added_up, sketch.measures))
    if not sketch.measures or sketch.ranking or sketch.counts or is_nested:
        return
    is_grouped = bool(reading.keys) or any(c.is_compared for c in reading.conditions)
    # `cost per click`: a ratio is a figure of its own
    are_named = [_is_ratio(m) or names_function(sketch, m) for m in sketch.measures]
    is_compared = "compared" in sketch.flags
    cost = 0.0 if all(are_named) else IMPLIED_COST
    if not any(are_named) and not is_grouped:
        if not _is_figure_of_rows(sketch, reading):
            return
        has_total = is_collected(sketch.measures[0], reading)
        cost = COLLECTED_COST if has_total else LONE_MEASURE_COST
    # A comparison without two sides is not understood: the figure of all rows would be no answer.
    if is_compared and not is_grouped:
        return
    if sketch.heads and not is_grouped:
        cost += UNUSED_COST
    cost += UNUSED_COST * len(sketch.displayed) + _sum_cost(sketch)
    cost += THINGS_COST * any(map(_names_things, sketch.measures)) * (not all(are_named))
    figures = [figure for m in sketch.measures for figure in figures_of(sketch, m, is_compared)]
    if not fits_types(figures):
        return
    if not all(are_named):
        for measure, is_named in zip(sketch.measures, are_named, strict=True):
            figure = figures_of(sketch, measure, is_compared)[0]
            if not is_named and figure.value:
                word = "total" if figure.function == "sum" else figure.function
                is_amount = bool(TOTAL_NOUNS & {*measure.item.text.split()}) or is_collected(measure, reading)
                # A total of amounts is what anyone means; other aggregates that were not named count as
                # assumptions.
                is_total = figure.function == "sum" and is_amount
                # Two groups are told apart by their means: `is the wait shorter for men than for women`.
                is_natural = is_total or (is_compared and is_grouped and figure.function == "mean")
                note = reading.note if is_natural else reading.assume
                note(f"The {word} of `{figure.value.label}` is taken.")
    yield plan_figures(reading, figures, take_order(sketch)), cost


THINGS_COST = 0.5
"""Cost of an amount without an aggregate for a plural of what it is measured of: `parcels by site` of kilos."""


def _names_things(measure: Mention) -> bool:
    reference, word = measure.value.reference if measure.value else None, measure.item.word
    if reference is None or not word.endswith("s") or word in words(reference.column.name):
        return False
    unit = unit_of(reference.column)
    is_amount = unit is not None and unit.dimension in ("money", "time")  # `fees` and `delays` are amounts
    return not is_amount and measures_things(reference.column, word)


LONE_MEASURE_COST = 0.3
"""Cost of the figure of some rows for a measure of which nothing says that a figure is asked for."""


COLLECTED_COST = 0.1
"""The same of amounts that somebody collects, of which only the total counts: `fees collected by Ana`."""
_COLLECTED = word_set(
    """
    collected paid raised earned received donated given charged brought caught produced landed harvested lost
    won spent
    """
)
"""Participles behind amounts of which the total is meant."""


def is_collected(measure: Mention, reading: QuestionReading) -> bool:
    """Tell if a plural is of amounts that are added up, and a participle behind it says who had them."""
    items, place = reading.text.items, measure.place
    following = items[place + 1].text if place + 1 < len(items) else ""
    is_plural = measure.item.word.endswith("s") and not measure.item.row_tables
    is_unit = following == "of" and find_unit(measure.item.word) is not None  # `litres of milk`
    return is_plural and (following in _COLLECTED or is_unit) and is_added_up(measure)


def _is_figure_of_rows(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if a question names one measure and the rows that it is of: `revenue in May`."""
    is_plain = len(sketch.measures) == 1 and not (
        sketch.heads or sketch.displayed or sketch.rows or sketch.shows
    )
    measure = sketch.measures[0]
    is_named = measure.divisor is None and bool(measure.item.columns) and not sketch.pending.adjective
    is_first = all(condition.place > measure.place for condition in sketch.conditions)
    is_plain = is_plain and not (sketch.order or sketch.ordered_by or sketch.limit)
    return is_plain and is_named and bool(reading.conditions) and is_first and not sketch.interrogative


UNFIT_SUM_COST = 0.6
"""Cost of a total of prices of one piece, for a word that is not their name: `total revenue` of prices."""
_OF_ONE = frozenset({"price", "per", "rate", "unit"})


def _sum_cost(sketch: Sketch) -> float:
    """The cost of totals that add amounts of one piece each."""
    unfit = [
        measure
        for measure in sketch.measures
        if "sum" in (measure.functions or sketch.pending.functions)
        and measure.value
        and measure.value.reference
        and _OF_ONE & set(words(measure.value.reference.column.name))
        and not set(measure.item.text.split()) & _OF_ONE
    ]
    return UNFIT_SUM_COST * len(unfit)


def plan_comparison(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`are women older than men`: the measure that an adjective means, for the values that are compared."""
    names = ADJECTIVES.get(sketch.pending.adjective, "").split()
    is_grouped = bool(reading.keys) or any(c.is_compared for c in reading.conditions)
    if not names or sketch.measures or not is_grouped or sketch.counts:
        return
    reference = find_measure(reading, names, sketch.pending.adjective)
    if reference is None or not is_measurable(reference.column):
        return
    measure = Mention(0, reading.text.items[0], make_value(reference), reference.table)
    figures = figures_of(sketch, measure, True)
    yield plan_figures(reading, figures, take_order(sketch)), IMPLIED_COST


def counted_figure(reading: QuestionReading, mention: Mention) -> tuple[Figure, str | None]:
    """The count of what a mention names; a figure of different values for a column."""
    if mention.value is not None and mention.value.reference is not None:
        reference = mention.value.reference
        if is_measurable(reference.column):
            return count_figure(reading, mention.item)
        if tells_kinds(reference.column):
            return Figure("count", label=f"number of {mention.item.word}"), reference.table
        return Figure("count_distinct", mention.value), reference.table
    item = replace(mention.item, columns=()) if mention.table else mention.item
    return count_figure(reading, replace(item, row_tables=(mention.table,)) if mention.table else item)
