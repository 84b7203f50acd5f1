"""Rankings: rows or groups with the most or the least of a measure, and the most frequent values."""

from app.agents.questions.column_matching import STEM, name_parts, word_strength
from app.agents.questions.figures import count_figure, default_function, measured
from app.agents.questions.frames.ranked import rank_groups, rank_rows
from app.agents.questions.grammar_words import (
    ADJECTIVES,
    AGGREGATE_WORDS,
    LOW,
    ORDINALS,
    PACE_WORDS,
    SMALL,
    SUPERLATIVES,
)
from app.agents.questions.grouping import display_reference, name_column, period_value
from app.agents.questions.items import QuestionItem
from app.agents.questions.number_conditions import find_measure
from app.agents.questions.ordering import as_count, is_descending
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import (
    NotUnderstood,
    QuestionReading,
    Value,
    is_measurable,
    make_value,
)
from app.agents.questions.rows_plan import Figure
from app.agents.questions.scope import Reference
from app.plans.plan import Plan

_FREQUENT = "common|frequent|often|frequently|popular|represented|commonly"


def most_frequent(reading: QuestionReading) -> Plan | None:
    """`most common species`, `which cause is the most frequent`, `at which hour do most rides begin`."""
    match = (
        reading.text.find(f"N?=count most|least=side {_FREQUENT} C|@period=key")
        or reading.text.find(f"which|what N?=count C|@period=key @is? the? most|least=side {_FREQUENT}")
        or reading.text.find(f"which|what N?=count C|@period=key W? W? W? most|least=side {_FREQUENT}")
        or reading.text.find("commonest|rarest=side N?=count C=key")
        or reading.text.find(
            "which|what N?=count C|@period=key do|did|does|has|have|had|with|saw|sees|W? the? most|"
            "fewest|least=side E=rows"
        )
    )
    if match is None:
        return None
    key_item, side = reading.text.item(match, "key"), reading.text.item(match, "side")
    if key_item is None or side is None:
        return None
    if "E=rows" and (rows := reading.text.item(match, "rows")) is not None and rows is key_item:
        return None
    key = _key(reading, key_item, match)
    if key is None:
        return None
    reading.text.use(match.places, "figure")
    reading.text.take_any(("E",), "figure")
    count = as_count(reading.text.item(match, "count")) or 1
    figure, base = count_figure(reading, rows) if rows is not None else (Figure("count", label="rows"), None)
    return rank_groups(reading, [key], figure, side.word not in LOW and side.word != "rarest", count, base)


def _key(reading: QuestionReading, item: QuestionItem, match: PhraseMatch) -> Value | None:
    if item.columns and (item.columns[0].score >= 0.6 or not item.word):
        reference = reading.column(item)
        return make_value(display_reference(reading, reference))
    return period_value(reading, item.word.rstrip("s"), match)


def superlative(reading: QuestionReading) -> Plan | None:
    """`which city has the highest average price`, `the 5 heaviest animals`, `oldest passenger`."""
    for attempt in (
        _ranked_by,
        _superlative_of_column,
        _adjective_superlative,
        _verb_superlative,
        _mentioned_most_rows,
    ):
        trial = reading.copy()
        plan = attempt(trial)
        if plan is not None:
            reading.text, reading.notes, reading.quality = trial.text, trial.notes, trial.quality
            return plan
    return None


def _ranked_by(reading: QuestionReading) -> Plan | None:
    """`top 5 customers by total sales`, `rank the mammals by weight`."""
    match = (
        reading.text.find(
            "top|bottom|best|worst|first|largest|biggest|highest|lowest=side N?=count E|C|"
            "@period=what by|in|for|on|with @agg?=function number? of? C|E=measure"
        )
        or reading.text.find(
            "N=count top|best|largest|biggest|highest|lowest|worst=side E|C|@period=what by|in|with "
            "@agg?=function number? of? C|E=measure"
        )
        or reading.text.find("rank|sort|order=side E|C=what by|according to? @agg?=function C|E=measure")
        or reading.text.find("N=count W=side E|C=what by @agg?=function C=measure")
    )
    if match is None:
        return None
    what, measure, side = (reading.text.item(match, name) for name in ("what", "measure", "side"))
    if what is None or measure is None or side is None:
        return None
    if side.kind == "word" and side.word not in SUPERLATIVES | {
        "rank",
        "sort",
        "order",
        "top",
        "bottom",
        "first",
    } | {"dangerous", "important"}:
        before = match.places[0]
        if before < 0 or "most" not in [i.text for i in reading.text.items[: match.places[1]]]:
            return None
    reading.text.use(match.places, "figure")
    extra = reading.text.take_any(("give|me? top N=count", "top N=count", "first N=count"), "figure")
    if measure.row_tables and not any(is_measurable(m.column) for m in measure.columns):
        figure, base = count_figure(reading, measure)
    else:
        function = reading.text.item(match, "function")
        value = measured(reading, measure)
        figure = _figure(reading, value, AGGREGATE_WORDS[function.word] if function else None)
        base = None
    count = as_count(reading.text.item(match, "count")) or (
        as_count(reading.text.item(extra, "count")) if extra else None
    )
    default = 1 if side.word not in ("rank", "sort", "order", "top", "bottom") else 100
    return _rank(reading, what, match, figure, side.word not in LOW, count or default, base)


def _figure(reading: QuestionReading, value: Value, function: str | None) -> Figure:
    if function is not None:
        return Figure(function, value)  # type: ignore[arg-type]
    column = value.reference.column if value.reference else None
    return Figure(default_function(column) if column else "sum", value)


def _rank(
    reading: QuestionReading,
    what: QuestionItem | None,
    match: PhraseMatch,
    figure: Figure,
    descending: bool,
    count: int,
    base: str | None = None,
    has_function: bool = False,
) -> Plan:
    """Rank rows if the item names them, else the groups that it names."""
    value = figure.value
    table = value.reference.table if value and value.reference else None
    if what is not None and (named_by := _repeated_name(reading, what, table)):
        reading.note(f"Each `{named_by.column.name}` is ranked.")
        return rank_groups(reading, [make_value(named_by)], figure, descending, count, base)
    is_rows = what is None or (
        bool(what.row_tables)
        and table in (None, what.row_tables[0])
        and value is not None
        and _names_rows(reading, what, table)
    )
    if is_rows and value is not None and not has_function:
        return rank_rows(reading, value, descending, count)
    key = _group_of(reading, what, match, table)
    if key is None:
        if value is None or has_function:
            raise NotUnderstood(f"It cannot be told what {what.text if what else ''!r} groups.")
        return rank_rows(reading, value, descending, count)
    if value is not None and not has_function and figure.function not in ("count", "count_distinct"):
        reading.note(
            f"The {'total' if figure.function == 'sum' else figure.function} of `{value.label}` is taken "
            f"for each `{key.label}`."
        )
    return rank_groups(reading, [key], figure, descending, count, base)


def _repeated_name(reading: QuestionReading, what: QuestionItem, table: str | None) -> Reference | None:
    """The column of names that repeat: `pizza_name` for the pizzas of a table of sales."""
    for column in reading.scope.stored_columns(table) if table else ():
        parts = name_parts(column.name)
        is_name = len(parts) == 2 and parts[1] == "name" and column.type == "text" and not column.unique
        if is_name and table and word_strength(what.word, parts[0]) >= STEM:
            return Reference(table, column)
    return None


def _names_rows(reading: QuestionReading, what: QuestionItem, table: str | None) -> bool:
    """Tell if an item names the rows themselves, and no column that groups them."""
    grouping = [m for m in what.columns if not m.column.unique and m.score >= 0.9 and m.table == table]
    return not grouping


def _group_of(
    reading: QuestionReading, what: QuestionItem | None, match: PhraseMatch, table: str | None
) -> Value | None:
    if what is None:
        return None
    candidates = [m for m in what.columns if m.score >= 0.6 and not is_measurable(m.column)]
    if candidates:
        reference = reading.column(what, False)
        return make_value(display_reference(reading, reference))
    if (
        what.row_tables
        and table
        and what.row_tables[0] != table
        and (link := reading.scope.link(table, what.row_tables[0]))
    ):
        single = reading.scope.table(link.single)
        name = name_column(single.columns, link.key) or single.column(link.key)
        return make_value(Reference(single.name, name)) if name else None
    return period_value(reading, what.word.rstrip("s"), match)


_SUP = "@sup|second|third|2nd|3rd=side"


def _superlative_of_column(reading: QuestionReading) -> Plan | None:
    """`which E has the highest C`, `highest C of a E`, `when was C at its peak`."""
    match = None
    for phrase in (
        (
            "which|what|whose N?=count C|E|@period=what W? W? W? N|@ordinal?=place @sup=side "
            "@agg?=function number? of? C|E=measure"
        ),
        "which|what C|E|@period=what W? W? C=measure was|is|were|are the? @sup=side",
        "who|where|when W? W? W? @ordinal?=place @sup=side @agg?=function C|E=measure",
        "when|where|who W? C=measure @is? at? peak|highest|lowest|maximum|minimum|largest|smallest=side",
        "C|E|@period=what with|having @ordinal?=place @sup=side @agg?=function number? of? C|E=measure",
        "N=count @sup=side C|E|@period=what by|in C=measure",
    ):
        match = reading.text.find(phrase)
        if match is not None and _has_measure(reading, match):
            break
        match = None
    if match is None:
        return None
    what, measure, side, function, place = (
        reading.text.item(match, n) for n in ("what", "measure", "side", "function", "place")
    )
    if measure is None or side is None or what is measure:
        return None
    if what is None and not any(is_measurable(m.column) for m in measure.columns):
        return None
    reading.text.use(match.places, "figure")
    count = as_count(reading.text.item(match, "count")) or 1
    descending = is_descending(side.word, measure.columns[0].column if measure.columns else None)
    if not any(is_measurable(m.column) for m in measure.columns):
        figure, base = count_figure(reading, measure)
        return _rank(reading, what, match, figure, descending, count, base)
    value = measured(reading, measure)
    if function is not None or reading.text.take_any(("on average", "in total"), "figure"):
        name = AGGREGATE_WORDS[function.word] if function else "mean"
        return _rank(reading, what, match, Figure(name, value), descending, count, has_function=True)  # type: ignore[arg-type]
    number = ORDINALS.get(place.word, 1) if place is not None else 1
    if number > 1 and (what is None or what.row_tables):
        return rank_rows(reading, value, descending, 1, number)
    first = reading.text.items[match.places[0]].text
    if first == "when":
        return rank_rows(reading, value, descending, count)
    return _rank(reading, what, match, _figure(reading, value, None), descending, count)


def _has_measure(reading: QuestionReading, match: PhraseMatch) -> bool:
    measure, what = reading.text.item(match, "measure"), reading.text.item(match, "what")
    return (
        measure is not None
        and measure is not what
        and (bool(measure.row_tables) or any(is_measurable(m.column) for m in measure.columns))
    )


def _adjective_superlative(reading: QuestionReading) -> Plan | None:
    """`the 5 heaviest animals`, `oldest passenger`, `on which day was it hottest`, `most expensive product`."""
    adjectives = sorted(word for word in ADJECTIVES if word.endswith("est"))
    match = (
        reading.text.find(f"N?=count {'|'.join(adjectives)}=adjective N?=count E|C|@period?=what")
        or reading.text.find("N?=count most|least=side expensive|recent=adjective N?=count E|C|@period?=what")
        or reading.text.find("N?=count @sup=side E=what")
    )
    if match is None:
        return None
    adjective, what, side = (reading.text.item(match, n) for n in ("adjective", "what", "side"))
    word = adjective.word if adjective else ""
    subject = reading.text.find("which|what N? C|E|@period=what") if what is None else None
    names = ADJECTIVES.get(word, "").split()
    if not names:
        return None
    if names == ["date"]:
        return None
    if (
        what is not None
        and not what.row_tables
        and any(is_measurable(m.column) for m in what.columns)
        and what.columns[0].score >= 0.6
    ):
        value = measured(reading, what)
        reading.text.use(match.places, "figure")
    else:
        reference = find_measure(reading, names, word)
        if reference is None:
            return None
        value = make_value(reference)
        reading.text.use(match.places, "figure")
    if subject is not None:
        reading.text.use(subject.places, "figure")
        what = reading.text.item(subject, "what")
    descending = word not in SMALL and not (side is not None and side.word in LOW)
    if (
        word in ("fastest", "slowest")
        and value.reference
        and PACE_WORDS & set(name_parts(value.reference.column.name))
    ):
        descending = word == "slowest"
    count = as_count(reading.text.item(match, "count")) or 1
    return _rank(
        reading,
        what if what and not any(is_measurable(m.column) for m in what.columns) else None,
        match,
        _figure(reading, value, None),
        descending,
        count,
    )


def _verb_superlative(reading: QuestionReading) -> Plan | None:
    """`who earns the most`, `which animal sleeps the longest`, `which product sold the most units`."""
    match = reading.text.find(
        "which|what N?=count C|E=what W? C=measure the? most|least|longest|highest|lowest|best|"
        "fastest|shortest=side"
    ) or reading.text.find("who C=measure the? most|least|highest|lowest=side")
    if match is None:
        return None
    what, measure, side = (reading.text.item(match, n) for n in ("what", "measure", "side"))
    if (
        measure is None
        or side is None
        or measure is what
        or not any(is_measurable(m.column) for m in measure.columns)
    ):
        return None
    reading.text.use(match.places, "figure")
    value = measured(reading, measure)
    count = as_count(reading.text.item(match, "count")) or 1
    return _rank(
        reading,
        what,
        match,
        _figure(reading, value, None),
        is_descending(side.word, value.reference.column if value.reference else None),
        count,
    )


def _mentioned_most_rows(reading: QuestionReading) -> Plan | None:
    """`who made the most trips`, `which two stations do most trips start from`."""
    match = reading.text.find(
        "which|what|whose N?=count C|E|@period=what W? W? most|fewest|least=side E=rows"
    ) or reading.text.find("which|what N?=count C|@period=what W? W? W? most|least=side often")
    if match is None:
        return None
    what, rows, side = (reading.text.item(match, n) for n in ("what", "rows", "side"))
    if what is None or side is None or what is rows:
        return None
    reading.text.use(match.places, "figure")
    figure, base = count_figure(reading, rows)
    table = base or next(iter(reading.main_tables), None)
    key = _group_of(reading, what, match, table)
    if key is None:
        return None
    count = as_count(reading.text.item(match, "count")) or 1
    return rank_groups(reading, [key], figure, side.word not in LOW, count, base)
