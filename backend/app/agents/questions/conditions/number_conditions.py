"""Conditions on numbers: comparisons, ranges and equal numbers."""

from collections.abc import Mapping, Sequence

from app.agents.goals.lexicon.concept_matches import concepts_of_phrase, stored_concepts
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.units import find_unit, unit_of
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.questions.conditions.stored_numbers import PERCENT, stored_number
from app.agents.questions.grammar_words import (
    ADJECTIVES,
    COMPARATIVES,
    PACE_WORDS,
    SMALL,
    SUPERLATIVES,
)
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import name_parts, word_strength
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import (
    Condition,
    QuestionReading,
    add_condition,
    is_measurable,
)
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.build import ComparisonSign

# Longer phrases come first: `no more than 3` would else be `more than 3`, its opposite.
_SIGNS: tuple[tuple[str, ComparisonSign], ...] = tuple(
    (phrase, sign)  # type: ignore[misc]
    for phrase, sign in sorted(COMPARATIVES.items(), key=lambda entry: -len(entry[0].split()))
)
_OPPOSITE: dict[ComparisonSign, ComparisonSign] = {
    ">": "<=",
    ">=": "<",
    "<": ">=",
    "<=": ">",
    "=": "!=",
    "!=": "=",
}
VERBS = "is|are|was|were|of|that|which|has|have|had|be|for|at|stronger|higher|lower"


def parse_ranges(reading: QuestionReading) -> None:
    for phrase in (
        f"C=column {VERBS}? {VERBS}? between|from N=low @unit? and|to|- N=high @unit?",
        "between|from N=low @unit? and|to|- N=high @unit?=unit C?=column",
        "aged N=low and|to|- N=high",
    ):
        while match := reading.text.find(phrase):
            low, high = reading.text.item(match, "low"), reading.text.item(match, "high")
            item = reading.text.item(match, "column")
            if item is not None:
                reference = reading.column(item, True)
            else:
                meant = _meant_column(reading, match, "")
                if meant is None:
                    break
                reference = meant
            if reference.column.type == "datetime" or low is None or high is None:
                break
            # `between 50 and 20` is the same range; in this order no row would lie in it.
            bounds = sorted((_number(low), _number(high)))
            condition = build.every(
                [
                    build.compare(">=", reference.expression, build.literal(bounds[0])),
                    build.compare("<=", reference.expression, build.literal(bounds[1])),
                ]
            )
            add_condition(reading, match, Condition(condition, reference))


def _number(item: QuestionItem) -> int | float:
    number = item.number or 0.0
    return int(number) if number == int(number) else number


def parse_comparisons(reading: QuestionReading) -> None:
    """Parse `fare above 50`, `more than 3 bedrooms`, `older than 30`."""
    for phrase, sign in _SIGNS:
        pattern = " ".join(phrase.split())
        for form in (
            f"C=column {VERBS}? not?=negation {VERBS}? {pattern} N=number @unit?=unit",
            f"{pattern} N=number @unit?=unit of? C=column",
            f"{pattern} N=number @unit?=unit",
        ):
            start = 0
            while match := reading.text.find(form, start):
                start = match.places[0] + 1
                condition = _comparison(reading, match, phrase, sign)
                if condition is not None:
                    add_condition(reading, match, condition)
    for form, sign in (
        ("N=number @unit? or|and more|higher|older|above|over|longer C?=column", ">="),
        (("N=number @unit? or|and less|fewer|lower|younger|under C?=column"), "<="),
    ):
        while match := reading.text.find(form):
            condition = _comparison(reading, match, "", sign)
            if condition is None:
                break
            add_condition(reading, match, condition)


def _comparison(
    reading: QuestionReading, match: PhraseMatch, phrase: str, sign: ComparisonSign
) -> Condition | None:
    number, item = reading.text.required(match, "number"), reading.text.item(match, "column")
    adjective = phrase.split()[0] if phrase else ""
    if any(reading.text.items[place].text == "times" for place in match.places):
        return None  # `more than five times` counts rows.
    reference = _compared_column(reading, match, adjective)
    if reference is None or not is_measurable(reference.column):
        return None
    # Who is faster has the lower time: the sign turns for measures that count time.
    if adjective in ("faster", "slower") and PACE_WORDS & set(name_parts(reference.column.name)):
        sign = "<" if adjective == "faster" else ">"
    value = stored_number(_number(number), _unit_behind(reading, match), reference.column)
    if match.names.get("negation"):
        sign = _OPPOSITE[sign]
    low, high = reference.column.low, reference.column.high
    if isinstance(low, int | float) and isinstance(high, int | float) and not low <= value <= high:
        is_mentioned = item is not None and item.columns[0].score >= MIN_CLEAR_SCORE
        # A number that no row reaches tells that a guessed column is the wrong one; a named column is kept,
        # with no rows.
        if not is_mentioned:
            return None
        reading.quality *= OUTSIDE_QUALITY
    return Condition(
        build.compare(sign, reference.expression, build.literal(value)),
        reference,
        (value,),
        place=match.places[0],
    )


def _compared_column(reading: QuestionReading, match: PhraseMatch, adjective: str) -> Reference | None:
    """The column that a comparison names, or that its adjective or unit means."""
    item = reading.text.item(match, "column")
    if item is None or item.values or (item.row_tables and reading.text.item(match, "unit")):
        return _meant_column(reading, match, adjective)
    is_number = any(is_measurable(candidate.column) for candidate in item.columns)
    return reading.column(item, True) if is_number else None


def _unit_behind(reading: QuestionReading, match: PhraseMatch) -> str:
    """Return the unit behind the number of a comparison; empty without one."""
    behind = match.names["number"][-1] + 1
    text = reading.text.items[behind].text if behind < len(reading.text.items) else ""
    return text if text in PERCENT or find_unit(text) else ""


MIN_CLEAR_SCORE = 0.9
"""Score of a column that the question names."""
OUTSIDE_QUALITY = 0.75
"""Strength of a comparison with a number that no row reaches."""


def _meant_column(reading: QuestionReading, match: PhraseMatch, adjective: str) -> Reference | None:
    """The column that a comparison without one means: by its adjective or unit, or an age of persons."""
    unit = reading.text.item(match, "unit")
    names = ADJECTIVES.get(adjective, "").split()
    unit_word = unit.word if unit else ""
    if unit_word in ("years", "year", "old") and not names:
        names = ["age"]
    elif unit_word and not names:
        names = _UNIT_MEASURES.get(unit_word, unit_word).split()
    if not names and not unit_word:
        names = ["age"]  # of persons; a number outside of its range is refused
    if not names:
        return None
    return find_measure(reading, names, adjective or unit_word)


_UNIT_MEASURES = {
    "degrees": "temperature temp tmax",
    "degree": "temperature temp tmax",
    "celsius": "temperature temp",
    "kcal": "calories energy",
    **dict.fromkeys(
        ("hours", "hour", "minutes", "mins", "minute", "days", "seconds"), "duration minutes hours time days"
    ),
    **dict.fromkeys(
        ("dollars", "euro", "euros", "usd", "eur", "pounds", "$", "\u20ac"),
        "amount price cost total fare revenue salary",
    ),
    **dict.fromkeys(("km", "kilometres", "kilometers", "miles"), "distance km miles"),
    **dict.fromkeys(("kg", "kilos", "grams", "g"), "weight mass kg"),
    **dict.fromkeys(("cm", "metres", "meters", "m", "mm"), "height length width cm mm precipitation"),
}
"""Words of the columns that hold a unit."""


def _words_before_per(name: str) -> list[str]:
    """The words of a name that say what it holds: `cost` of `cost_per_hour`."""
    parts = words(name)
    return parts[: parts.index("per")] if "per" in parts[1:] else parts


def find_measure(reading: QuestionReading, names: Sequence[str], phrase: str) -> Reference | None:
    """The only number whose name has one of these words, the first of them first."""
    tables = [t for t in reading.scope.tables if t.name in reading.main_tables] or list(reading.scope.tables)
    # Named tables and equal words come first, so that a weaker match elsewhere makes no clear one ambiguous.
    for pool in (tables, [*reading.scope.tables]):
        for strength in (0.97, 0.78):
            for name in names:
                matches = [
                    Reference(table.name, column)
                    for table in pool
                    for column in table.columns
                    if is_measurable(column)
                    and any(
                        word_strength(name, part) >= strength
                        for part in (*name_parts(column.name), *_words_before_per(column.name))
                    )
                ]
                if len(matches) > 1:
                    # `price` is meant before `price_extra`; the `coldest` is the least of a `temp_min`, the
                    # `hottest` of a `temp_max`.
                    complete = [m for m in matches if len(name_parts(m.column.name)) == 1]
                    by_kind = [m for m in matches if phrase in SMALL and "min" in words(m.column.name)] or [
                        m for m in matches if phrase not in SMALL and "max" in words(m.column.name)
                    ]
                    matches = complete if len(complete) == 1 else by_kind or matches
                if len(matches) == 1:
                    reading.note(f"`{matches[0].column.name}` is taken for {phrase!r}.")
                    return matches[0]
    by_sense = _find_by_lexicon(reading, tables, phrase) or _find_by_dimension(reading, tables, names, phrase)
    return by_sense or find_asked(reading, phrase)


_OF_ANYTHING = frozenset({"best", "worst", "top", "bottom", "most", "least"})
"""Superlatives that say nothing of what is measured."""


def find_asked(reading: QuestionReading, phrase: str) -> Reference | None:
    """The number that the question as a whole is about, for an adjective that no name belongs to."""
    measure = reading.text.measure
    if measure is None or phrase in _OF_ANYTHING or phrase not in SUPERLATIVES:
        return None
    reading.assume(f"`{measure.column.name}` is taken for {phrase!r}.")
    return Reference(measure.table, measure.column)


_DIMENSIONS = {"weight": "mass", "height": "length", "distance": "length", "price": "money", "duration": "time"}
"""Dimensions of the units of what adjectives are said of, by the first name of each."""


def _find_by_dimension(
    reading: QuestionReading, tables: Sequence[TableProfile], names: Sequence[str], phrase: str
) -> Reference | None:
    """The only number in a unit of what an adjective is said of: `load_t` of the `heaviest`."""
    dimension = _DIMENSIONS.get(names[0]) if names else None
    references = [
        Reference(table.name, column)
        for table in tables
        for column in table.columns
        if is_measurable(column) and (unit := unit_of(column)) and unit.dimension == dimension
    ]
    if dimension is None or len(references) != 1:
        return None
    # Days of illness are no time that somebody has been there: a number of days is taken, but never for sure.
    counts_days = dimension == "time" and references[0].column.type == "integer"
    tell = reading.assume if counts_days else reading.note
    tell(f"`{references[0].column.name}` is taken for {phrase!r}.")
    return references[0]


MIN_LEXICON_STRENGTH, MIN_LEXICON_LEAD = 0.3, 0.05
"""Strength of a column that stores what an adjective is said of, and its lead over the next one."""


def _find_by_lexicon(reading: QuestionReading, tables: Sequence[TableProfile], phrase: str) -> Reference | None:
    """The number that an adjective is said of by the lexicon of goals: of the `oldest` a column `built`."""
    base = _base_form(phrase)
    concepts = concepts_of_phrase((stem(base),)) if base else {}
    strengths = [
        (strength, Reference(table.name, column))
        for table in tables
        for column in table.columns
        if is_measurable(column) and (strength := _shared_strength(concepts, column)) >= MIN_LEXICON_STRENGTH
    ]
    strengths.sort(key=lambda entry: -entry[0])
    if not strengths or (len(strengths) > 1 and strengths[0][0] - strengths[1][0] < MIN_LEXICON_LEAD):
        return None
    reference = strengths[0][1]
    reading.note(f"`{reference.column.name}` is taken for {phrase!r}.")
    return reference


def _shared_strength(concepts: Mapping[int, float], column: Column) -> float:
    stored = stored_concepts(tuple(map(stem, words(column.name))))
    return max((concepts[concept] * stored[concept] for concept in concepts if concept in stored), default=0.0)


def _base_form(adjective: str) -> str:
    """The adjective of a superlative or comparative: `old` of `oldest`."""
    for ending in ("iest", "ier"):
        if adjective.endswith(ending):
            return f"{adjective.removesuffix(ending)}y"
    for ending in ("est", "er"):
        if adjective.endswith(ending) and len(adjective) > len(ending) + 2:
            base = adjective.removesuffix(ending)
            return base[:-1] if base[-1] == base[-2] and base[-1] not in "ls" else base
    return adjective


def parse_pairs(reading: QuestionReading) -> None:
    """Parse comparisons of two columns of a row: `cost above price`, `same start and end`."""
    for phrase, sign in _SIGNS:
        form = f"whose|where|when|with|which|that C=left {VERBS}? {phrase} C=right"
        match = reading.text.find(form)
        if match is None:
            continue
        first_item, second_item = reading.text.item(match, "left"), reading.text.item(match, "right")
        if first_item is None or second_item is None or not (first_item.columns and second_item.columns):
            continue
        first, second = reading.column(first_item, True), reading.column(second_item, True)
        if is_measurable(first.column) and is_measurable(second.column) and first != second:
            add_condition(reading, match, Condition(build.compare(sign, first.expression, second.expression)))


def parse_equal_numbers(reading: QuestionReading) -> None:
    """Parse `class 3`, `with 3 bedrooms`, `pclass = 1`."""
    for phrase in (
        "C=column =|is|equals|equal N=number",
        ("with|have|has|having|had exactly? N=number C=column"),
        "C=column N=number",
    ):
        start = 0
        while match := reading.text.find(phrase, start):
            start = match.places[0] + 1
            item, number = reading.text.item(match, "column"), reading.text.item(match, "number")
            if item is None or number is None or item.values or item.columns[0].score < 0.6:
                continue
            candidates = [c for c in item.columns if c.column.is_number]
            # The first number of `rooms 2 to 4` or `rooms 2 or more` is half of a bound.
            if not candidates or _starts_range(reading, match):
                continue
            reference = Reference(candidates[0].table, candidates[0].column)
            value = _number(number)
            add_condition(
                reading,
                match,
                Condition(build.compare("=", reference.expression, build.literal(value)), reference, (value,)),
            )


def _starts_range(reading: QuestionReading, match: PhraseMatch) -> bool:
    following = match.places[-1] + 1
    return following < len(reading.text.items) and reading.text.items[following].text in (
        "or",
        "and",
        "to",
        "-",
    )
