"""Aggregates of columns, per group, and averages of figures of groups."""

from app.agents.questions.figures import count_figure, default_function, measured, ratio_value, take_figures
from app.agents.questions.frames.counts import group_key
from app.agents.questions.frames.grouped import plan_figures
from app.agents.questions.frames.ranked import rank_rows
from app.agents.questions.frames.shares import plan_ratio
from app.agents.questions.grammar_words import AGGREGATE_WORDS, LOW
from app.agents.questions.ordering import as_count, take_order
from app.agents.questions.question_reading import QuestionReading, Value, is_measurable, make_value
from app.agents.questions.rows_plan import Figure, start_plan
from app.plans import build
from app.plans.plan import Plan


def aggregate(reading: QuestionReading) -> Plan | None:
    """`mean fare by class`, `average and median age of women`, `90th percentile of ozone`."""
    figures = take_figures(reading)
    if not figures:
        return None
    if reading.text.take_any(("number of E", "how many E", "count of E"), "figure"):
        figures.append(Figure("count", label="rows"))
    return plan_figures(reading, figures, take_order(reading))


def mean_of_counts(reading: QuestionReading) -> Plan | None:
    """`average number of orders per customer`, `average daily sales`."""
    match = reading.text.find(
        "mean|average|avg|median|maximum|max|minimum|min|most=function number|count of E|C=rows per|"
        "by|for|each|a? each? E|C=group"
    )
    if match is not None:
        rows, group, word = (reading.text.item(match, name) for name in ("rows", "group", "function"))
        if (
            rows is not None
            and group is not None
            and word is not None
            and (key := group_key(reading, group, rows))
        ):
            reading.text.use(match.places, "figure")
            figure, base = count_figure(reading, rows)
            return _plan_two_levels(reading, figure, make_value(key), AGGREGATE_WORDS[word.word], base)
    match = reading.text.find("mean|average|avg|median=function number|count of? E|C=rows")
    if match is not None and len(reading.keys) == 1:
        rows, word = reading.text.item(match, "rows"), reading.text.item(match, "function")
        is_measure = rows is not None and any(is_measurable(m.column) for m in rows.columns)
        if rows is not None and word is not None and not is_measure:
            reading.text.use(match.places, "figure")
            figure, base = count_figure(reading, rows)
            return _plan_two_levels(reading, figure, reading.keys.pop(), AGGREGATE_WORDS[word.word], base)
    return None


def _plan_two_levels(
    reading: QuestionReading, figure: Figure, key: Value, function: str, base: str | None
) -> Plan:
    values = [key, *([figure.value] if figure.value else [])]
    draft = start_plan(reading, values, base)
    outer = [*reading.keys]
    names = [draft.name_of(value) for value in outer]
    draft.group([*outer, key], [figure])
    label = f"{function} {figure.name} per {key.label}"
    draft.steps.append(build.group(names, [build.aggregation(label, function, figure.name)]))  # type: ignore[arg-type]
    return draft.plan()


def implied_aggregate(reading: QuestionReading) -> Plan | None:
    """`fare income by district`, `how much sugar`: a measure without an aggregate, for groups or all rows."""
    match = reading.text.find("how much|many E? C=column") or reading.text.find("C=column")
    if match is None:
        return None
    item = reading.text.item(match, "column")
    if item is None or not any(is_measurable(m.column) for m in item.columns):
        return None
    is_asked = any(reading.text.items[place].text in ("much", "many") for place in match.places)
    if not is_asked and not reading.keys and not any(c.is_compared for c in reading.conditions):
        return None
    reading.text.use(match.places, "figure")
    value = measured(reading, item)
    function = "sum" if is_asked or value.reference is None else default_function(value.reference.column)
    reading.note(f"The {'total' if function == 'sum' else function} of `{value.label}` is taken.")
    reading.quality *= 0.95
    return plan_figures(reading, [Figure(function, value)], take_order(reading))


def count_by_group(reading: QuestionReading) -> Plan | None:
    """`rides per weekday`: rows of each group."""
    if not reading.keys and not any(c.is_compared for c in reading.conditions):
        return None
    match = reading.text.find("E=rows")
    if match is None:
        return None
    reading.text.use(match.places, "figure")
    item = reading.text.item(match, "rows")
    figure, base = count_figure(reading, item)
    return plan_figures(reading, [figure], take_order(reading), base)


def ratio(reading: QuestionReading) -> Plan | None:
    """`protein per 100 calories`, `ratio of brain to body weight`: of two columns of a row."""
    match = (
        reading.text.find("ratio of|between? C=first to|and|over|by C=second")
        or reading.text.find("C=first to C=second ratio")
        or reading.text.find("C=first per N?=scale C=second")
    )
    if match is None:
        return None
    first, second, number = (reading.text.item(match, name) for name in ("first", "second", "scale"))
    if (
        first is None
        or second is None
        or not all(any(is_measurable(m.column) for m in i.columns) for i in (first, second))
    ):
        return None
    reading.text.use(match.places, "figure")
    scale = number.number or 1.0 if number else 1.0
    numerator, denominator = measured(reading, first), measured(reading, second)
    value = ratio_value(numerator, denominator, scale)
    if ranked := reading.text.take_any(
        ("top|best|first|highest N=count", "bottom|worst|lowest N=count", "most|highest|best"), "figure"
    ):
        count = as_count(reading.text.item(ranked, "count")) or 1
        reading.text.take_any(("rank", "E", "most|highest|best"), "figure")
        return rank_rows(reading, value, reading.text.items[ranked.places[0]].word not in LOW, count)
    if not reading.text.has("mean|average|avg|median|maximum|minimum"):
        return plan_ratio(reading, numerator, denominator, value.label, scale)
    function = next((w for w in ("median", "maximum", "minimum") if reading.text.take(w, "figure")), "mean")
    reading.text.take_any(("mean|average|avg",), "figure")
    reading.note("The ratio is taken for each row.")
    return plan_figures(reading, [Figure(AGGREGATE_WORDS[function], value)], take_order(reading))  # type: ignore[arg-type]
