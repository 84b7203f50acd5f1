"""Figures of columns and rows: the number that a noun means, its aggregate where none is named, and counts."""

from app.agents.goals.tables.profiles import Column
from app.agents.goals.tables.units import find_unit, unit_of
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.grammar_words import PERSON_NOUNS
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import name_parts, word_strength
from app.agents.questions.question_reading import (
    NotUnderstood,
    QuestionReading,
    Value,
    is_measurable,
    make_value,
)
from app.agents.questions.rows_plan import Figure
from app.agents.questions.tables.scope import Reference
from app.plans.plan import AggregateFunction

_IDENTIFIERS = frozenset({"id", "no", "number", "key", "nr", "code"})
NUMERIC: frozenset[AggregateFunction] = frozenset({"sum", "mean", "median", "stddev", "variance", "quantile"})
_ADDITIVE = word_set(
    """
    sales revenue amount cost total quantity qty units profit income spending expense expenses
    rainfall rain precipitation fare tip tips goals calories consumption usage kwh volume visits
    clicks orders count minutes hours km distance spend budget parts seats tax discount fee fees usd eur
    docks production output scrap deaths births donation value bytes kg tonnes copies downloads energy
    principal debt turnover sold population dues charge charges litre litres liter liters milk premium premiums
    attendance viewers visitors guests passengers
    """
)
"""Words of measures that are added up where no aggregate is named."""
_ADDITIVE_STEMS = frozenset(map(stem, _ADDITIVE))
_FLOWS = word_set("revenue revenues turnover takings proceeds earnings spending expenditure expenditures money")
"""Nouns that are totals by their meaning, whatever column stores their parts: revenue of a price."""
_INTENSIVE = word_set(
    """
    rate avg mean average median per unit price pct percent percentage ratio share score rating grade mark
    temp temperature humidity pressure speed age height index level bmi ph points rank alcohol latitude
    longitude length width depth moisture concentration density efficiency salary wage rent pulse
    wind gust gusts wave waves swell noise decibel uv visibility kmh kph mph knots hpa mbar place position
    satisfaction expectancy literacy year ppm mg degrees csat nps ces stars quality happiness likert gpa
    sentiment volatility
    """
)
"""Words of measures of which a sum says nothing."""
MIN_CLEAR_SCORE = 0.6
"""Score of a column that is meant by its name or a synonym, and not by a related word."""
QUARTILES = (0.25, 0.5, 0.75)


def measured(reading: QuestionReading, item: QuestionItem | None, function: str = "mean") -> Value:
    """The number that an item means; a product for what is made of two columns."""
    if item is None:
        raise NotUnderstood("It does not say which column is meant.")
    if function in NUMERIC and not any(is_measurable(m.column) for m in item.columns):
        names = item.columns[0].column
        kind = "text" if names.is_stored_as_text else names.type
        raise NotUnderstood(f"`{names.name}` holds {kind}, and there is no {function} of that.")
    return reading.value(item, True)


_ADDED_DIMENSIONS = frozenset({"area", "mass", "volume", "energy"})
"""Dimensions of units whose plural means the amount of all rows."""


def default_function(column: Column, word: str = "") -> AggregateFunction:
    """The aggregate that is meant where none is named: amounts are added, measurements averaged.

    `word`: the noun of the question for the column, which may itself mean a total.
    """
    # Before the column: `revenue` is a total even where a `price` stores its parts.
    if word in _FLOWS:
        return "sum"
    parts = {*name_parts(column.name), *words(column.name)}
    if parts & _INTENSIVE or word in _INTENSIVE:
        return "mean"
    # Only the plural means an amount of all rows: `hectares of barley`, but `the hectare price`.
    unit = find_unit(word) if word.endswith("s") else None
    if unit is not None and unit.dimension in _ADDED_DIMENSIONS:
        return "sum"  # `hectares of barley`
    is_additive = column.type == "integer" or any(stem(part) in _ADDITIVE_STEMS for part in parts)
    return "sum" if is_additive else "mean"


_AMOUNTS_OF_THINGS = frozenset({"mass", "length", "area", "volume", "time", "money"})
"""Dimensions of what is measured of things, and is no number of them."""


def measures_things(column: Column, word: str) -> bool:
    """Tell if a noun names things of which a column holds an amount in a unit: `parcels` of `parcel_kg`."""
    unit = unit_of(column)
    return find_unit(word) is None and unit is not None and unit.dimension in _AMOUNTS_OF_THINGS


def count_figure(reading: QuestionReading, item: QuestionItem | None) -> tuple[Figure, str | None]:
    """The count of what an item names, and the table whose rows are counted.

    Rows of a table are counted, unless a column numbers what is asked for and repeats its numbers: an order of
    several lines counts once.
    """
    if item is None:
        return Figure("count"), None
    if item.row_tables:
        table = item.row_tables[0]
        if key := entity_key(reading, item.word, table) or entity_name(reading, item.word, table):
            reading.note(f"Each `{key.column.name}` is counted once.")
            return Figure("count_distinct", make_value(key), label=f"{item.word}"), table
        # A row of `tickets` with a quantity of 3 is three tickets.
        if quantity := _quantity_of(reading, item.word, table):
            reading.note(f"The total of `{quantity.column.name}` is taken for the number of {item.word}.")
            return Figure("sum", make_value(quantity), label=f"number of {item.word}"), table
        return Figure("count", label=f"number of {item.word}"), table
    if key := _entity_anywhere(reading, item.word):
        reading.note(f"Each `{key.column.name}` is counted once.")
        return Figure("count_distinct", make_value(key), label=item.word), key.table
    if not item.columns and item.word in PERSON_NOUNS and len(reading.scope.tables) == 1:
        table = reading.scope.tables[0].name
        reading.note(f"A row of `{table}` is taken for {item.word!r}.")
        return Figure("count", label=f"number of {item.word}"), table
    if not item.columns or measures_things(item.columns[0].column, item.word):
        raise NotUnderstood(f"It cannot be told what {item.word!r} counts.")
    reference = reading.column(item)
    column = reference.column
    if is_measurable(column):
        if column.type == "integer" or default_function(column) == "sum":
            reading.note(f"The total of `{column.name}` is taken for their number.")
            return Figure("sum", make_value(reference)), reference.table
        # Either is a number of something, and no word settles which: the question offers both.
        raise NotUnderstood(
            f"It could mean the total of `{column.name}`, or its different values.",
            f"number of {item.text}",
            (f"total `{column.name}`", f"number of different `{column.name}`"),
        )
    return Figure("count_distinct", make_value(reference)), reference.table


PIECE_PRICES = frozenset({"price", "unit", "per", "rate", "each"})
"""Words of names of the price of one piece."""
QUANTITY_NAMES = word_set("quantity qty units copies pieces portions")
"""Words of columns that hold how many things a row is about."""
_COUNT_NAMES = word_set("count counts n freq frequency cases number_of_cases case_count")
"""Names of the column of a table whose rows are groups: how many things each has."""
_RECORD_NOUNS = word_set(
    """
    order orders sale sales line lines transaction transactions purchase purchases receipt receipts row rows
    record records booking bookings invoice invoices entry entries item items movement movements
    transfer transfers delivery deliveries shipment shipments return returns adjustment adjustments
    payment payments
    """
)
"""Nouns of rows whose number is not that of the things sold in them."""
_OCCASIONS = frozenset({"times", "time", "occasions"})
"""Nouns for how often something happened, each in a row of its own: `ordered more than 20 times`."""


def _quantity_of(reading: QuestionReading, noun: str, table: str) -> Reference | None:
    """The number of things that a row is about, where its table is named by them."""
    columns = reading.scope.stored_columns(table)
    quantities = [c for c in columns if c.is_number and QUANTITY_NAMES & set(words(c.name))]
    quantities = quantities or [c for c in columns if c.is_number and c.name.casefold() in _COUNT_NAMES]
    rows = reading.scope.table(table).rows
    # Rows that are numbered by the noun are such things themselves, whatever quantity each has.
    is_numbered = any(
        bool(_IDENTIFIERS & {*words(c.name)} or c.unique)
        and stem(noun) in map(stem, name_parts(c.name))
        and not _comes_back(c, rows)
        for c in columns
    )
    if len(quantities) != 1 or noun in _RECORD_NOUNS | _OCCASIONS or is_numbered:
        return None
    return Reference(table, quantities[0])


MIN_NUMBERED_THINGS = 3
"""Distinct numbers of a column that numbers things."""
MIN_ROWS_OF_NUMBER = 1.02
"""Mean rows of a number from which it numbers things that come back: where fewer repeat, each row is a thing of
its own, and the repeated numbers are slips."""


_TIMETABLED = word_set(
    "flight flights train trains bus buses ferry ferries sailing sailings voyage voyages tram trams"
)
"""Things that go by a timetable, whose number comes back every day: each row is one of them."""


def tells_kinds(column: Column) -> bool:
    """Tell if a number of things has too few values to number them: two kinds of tests in `test_id`."""
    return bool(_IDENTIFIERS & {*words(column.name)}) and column.distinct < MIN_NUMBERED_THINGS


def entity_key(reading: QuestionReading, word: str, table: str) -> Reference | None:
    """The column of a table that numbers what a noun names, if it repeats numbers."""
    profile = reading.scope.table(table)
    for column in profile.columns:
        parts = words(column.name)
        nouns = [part for part in name_parts(column.name) if part not in _IDENTIFIERS]
        is_key = (
            bool(_IDENTIFIERS & set(parts)) and _comes_back(column, profile.rows) and not tells_kinds(column)
        )
        if word in _TIMETABLED and not {*parts} & {"id", "key"}:
            continue
        if is_key and nouns and word_strength(word, nouns[-1]) >= 0.97:
            return Reference(table, column)
    return None


def _comes_back(column: Column, rows: int) -> bool:
    """Tell if the numbers of a column repeat in more than a few of a table's rows."""
    return not column.unique and column.distinct * MIN_ROWS_OF_NUMBER <= rows * (1 - column.missing)


MIN_ROWS_OF_NAME = 1.5
"""Mean rows of a name from which it names things that come back: of unique things a few share a name."""


def entity_name(reading: QuestionReading, word: str, table: str) -> Reference | None:
    """The column that names what a noun means (`patient_name`), if its names come back."""
    profile = reading.scope.table(table)
    for column in profile.columns:
        nouns = name_parts(column.name)
        is_name = len(nouns) > 1 and nouns[-1] == "name" and word_strength(word, nouns[-2]) >= 0.97
        if is_name and not column.unique and column.distinct * MIN_ROWS_OF_NAME <= profile.rows:
            return Reference(table, column)
    return None


SHARE_WORDS = word_set("share percentage proportion fraction percent % rate of the all our their my these")
"""Words of a share up to the noun of the things that it is of."""
MIN_PERSON_SCORE = 0.95
"""Score of a column that holds the names or codes of the persons that a noun means."""


def key_of_things(reading: QuestionReading, item: QuestionItem) -> Reference | None:
    """The column that tells the things of a noun apart, where several rows are about one of them."""
    if key := _entity_anywhere(reading, item.word):
        return key
    best = item.columns[0] if item.columns and item.word in PERSON_NOUNS else None
    if best is None or best.coverage < 1 or best.score < MIN_PERSON_SCORE:
        return None
    is_name = best.column.type == "text" and not best.column.unique
    return Reference(best.table, best.column) if is_name else None


def _entity_anywhere(reading: QuestionReading, word: str) -> Reference | None:
    for table in reading.scope.tables:
        if key := entity_key(reading, word, table.name):
            return key
    return None
