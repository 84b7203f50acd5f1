"""Conditions on values of columns: named values, quoted texts and yes/no columns."""

from collections.abc import Sequence

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words
from app.agents.questions.grammar_words import NEGATIONS
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking.mark_items import bare_value
from app.agents.questions.matching.column_matching import ColumnMatch
from app.agents.questions.matching.value_matching import (
    ValueMatch,
    denies_flag,
    flag_spellings,
    flag_values,
)
from app.agents.questions.question_reading import (
    Condition,
    ImpossibleRequest,
    QuestionReading,
    add_condition,
    make_value,
)
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.build import ComparisonSign
from app.plans.expressions import Expression, Scalar

MIN_SCORE_BESIDE_COLUMN = 0.4
"""Score of a spelling that is a value beside its column's name, or in a list of the column's values: these say
that a value is meant."""
MIN_UNNOTED_SCORE = 0.9
"""Score below which a note says for what a spelling was taken."""
MIN_FLAG_SCORE = 0.7
"""Score of a yes/no column that is a condition by itself. Below, a word only has to do with it: `stay` of a
hotel has to do with `canceled`, and says nothing of it."""
MIN_SHARED_LETTERS = 5
"""Letters that two words of one family begin with: `conversion` and `converted`."""
MAX_SCORE_DIFFERENCE = 0.01
"""Difference of scores below which the tables that the question names decide between values."""
MAX_LISTED_VALUES = 12
"""Values of one list."""
MAX_NEGATION_DISTANCE = 3
"""Words from a negation to the yes/no column that it denies: `did not all survive`."""
_JOINERS = frozenset({",", "and", "or", "vs", "versus", "against", "than", "compared", "to", "/", "nor", "&"})
"""Words that join the values of a list."""
_LIST_FILLERS = frozenset({"the", "a", "in", "at", "for", "from", "with", "those", "that", "of", "on"})
"""Words before a further value of a list: `in Berlin or in the Hague`."""
_CONTRASTS = frozenset({"vs", "versus", "against", "than", "and", "compared", "to"})
"""Joiners that set values against each other; with `or` between them only `vs` and `than` do."""
_COLUMN_LINKS = frozenset({"is", "are", "=", "was", "of", "to", "the", "in", "called", "equals"})
"""Words between the name of a column and its value: `sex is female`."""
_NEGATION_LINKS = frozenset(
    {"from", "in", "of", "the", "a", "at", "with", "to", "be", "on", "for", "=", "is", "than"}
)
"""Words between a negation and what it denies: `not from Berlin`."""


def parse_values(reading: QuestionReading) -> None:
    """Parse values of columns: `in Berlin`, `sex is female`, `not in Torgersen`, `women vs men`."""
    place = 0
    items = reading.text.items
    while place < len(items):
        item = items[place]
        value = None if item.role else _value_at(reading, place)
        if value is None:
            place += 1
            continue
        places, values, is_compared = _value_list(reading, place, value)
        column_place = _column_beside(reading, places, value)
        negation = _negation_before(
            reading, column_place if column_place is not None and column_place < place else place
        )
        reference = Reference(value.table, value.column)
        used = [
            *places,
            *([column_place] if column_place is not None else []),
            *([negation] if negation is not None else []),
        ]
        expression = value_condition(reference, values)
        if negation is not None:
            expression = build.negate(expression)
        reading.text.use(used, "condition")
        spellings = tuple(spelling for match in values for spelling in match.values)
        reading.quality *= min(match.score for match in values)
        for match in values:
            if match.score < MIN_UNNOTED_SCORE:
                reading.note(f"`{value.column.name}` {match.values[0]!r} is taken for {item.text!r}.")
        reading.conditions.append(
            Condition(
                expression,
                reference,
                spellings,
                is_compared and len(values) > 1 and negation is None,
                place=place,
            )
        )
        place = max(used) + 1


def _value_at(reading: QuestionReading, place: int) -> ValueMatch | None:
    """Return the value that an item means: of the column beside it, else of a table that the question names."""
    item = reading.text.items[place]
    if not item.values:
        return None
    near = _near_columns(reading, place)
    beside = next((v for v in item.values if v.key in near), None)
    if beside is not None and beside.score >= MIN_SCORE_BESIDE_COLUMN:
        return beside
    bare = bare_value(item)
    if bare is None:
        return None
    candidates = [v for v in item.values if v.score >= bare.score - MAX_SCORE_DIFFERENCE]
    mentioned = [v for v in candidates if v.table in reading.main_tables] or candidates
    return mentioned[0]


def _near_columns(reading: QuestionReading, place: int) -> set[tuple[str, str]]:
    """Return the keys of columns that the three words before an item, or the one behind it, may name."""
    near: set[tuple[str, str]] = set()
    for step in (-3, -2, -1, 1):
        other = place + step
        if 0 <= other < len(reading.text.items) and not reading.text.items[other].role:
            near |= {match.key for match in reading.text.items[other].columns[:2]}
    return near


def _value_list(
    reading: QuestionReading, place: int, value: ValueMatch
) -> tuple[list[int], list[ValueMatch], bool]:
    """Values of the same column that follow, with what joins them; and if they are set against each other."""
    places, values, is_compared = [place], [value], False
    items = reading.text.items
    position = place + 1
    joiners: list[int] = []
    while position < len(items) and len(values) < MAX_LISTED_VALUES:
        text = items[position].text
        if text in _JOINERS | _LIST_FILLERS:
            joiners.append(position)
            position += 1
            continue
        other = next(
            (
                v
                for v in items[position].values
                if v.key == value.key and not items[position].role and v.score >= MIN_SCORE_BESIDE_COLUMN
            ),
            None,
        )
        if other is None or not joiners or other.values == values[-1].values:
            break
        links = {items[joiner].text for joiner in joiners}
        is_compared |= bool(links & _CONTRASTS)
        is_compared &= "or" not in links or bool(links & {"vs", "than"})
        places += [*joiners, position]
        values.append(other)
        joiners = []
        position += 1
    return places, values, is_compared


def _column_beside(reading: QuestionReading, places: Sequence[int], value: ValueMatch) -> int | None:
    """The place of the column's own name before or after a value."""
    items = reading.text.items
    following = places[-1] + 1
    if (
        following < len(items)
        and not items[following].role
        and any(m.key == value.key for m in items[following].columns[:2])
    ):
        return following
    before = places[0] - 1
    while before >= 0 and (items[before].text in _COLUMN_LINKS or items[before].word in NEGATIONS):
        before -= 1
    if before >= 0 and not items[before].role and any(m.key == value.key for m in items[before].columns[:1]):
        return before
    return None


def _negation_before(reading: QuestionReading, place: int) -> int | None:
    """Return the place of a negation before an item, with only linking words between."""
    items = reading.text.items
    position = place - 1
    while position >= 0 and items[position].text in _NEGATION_LINKS:
        position -= 1
    if position >= 0 and not items[position].role and items[position].word in NEGATIONS:
        return position
    return None


def value_condition(reference: Reference, values: Sequence[ValueMatch]) -> Expression:
    """Make the condition that a column has one of some values, in any of their stored spellings."""
    spellings = [spelling for match in values for spelling in match.values]
    if len(spellings) == 1:
        return build.compare("=", reference.expression, build.literal(spellings[0]))
    return build.is_one_of(reference.expression, spellings)


def parse_literals(reading: QuestionReading) -> None:
    """Parse quoted texts as values of the column beside them."""
    while match := reading.text.find("C=column =|is|was|are? not?=negation L=text"):
        item, text = reading.text.item(match, "column"), reading.text.item(match, "text")
        if item is None or text is None:
            return
        reference = reading.column(item)
        column: Column = reference.column
        if column.is_number or column.type == "datetime":
            raise ImpossibleRequest(f"`{column.name}` has no value {text.text!r}.")
        if column.values and len(column.values) >= column.distinct:
            raise ImpossibleRequest(f"`{column.name}` has no value {text.text!r}.")
        sign: ComparisonSign = "!=" if match.names.get("negation") else "="
        add_condition(
            reading,
            match,
            Condition(
                build.compare(sign, reference.expression, build.literal(text.text)), reference, (text.text,)
            ),
        )


def names_flag(item: QuestionItem, match: ColumnMatch) -> bool:
    """Tell if a word names a yes/no column, and has not only to do with it."""
    beginning = item.word[:MIN_SHARED_LETTERS]
    is_of_family = len(beginning) == MIN_SHARED_LETTERS and any(
        part.startswith(beginning) for part in words(match.column.name)
    )
    return match.score >= MIN_FLAG_SCORE or is_of_family


def flag_condition(reference: Reference, value: Scalar) -> Expression:
    """The condition that a yes/no column is its no, or its yes, in any spelling."""
    spellings = flag_spellings(reference.column, value)
    if len(spellings) > 1:
        return build.is_one_of(reference.expression, spellings)
    return build.compare("=", reference.expression, build.literal(value))


def parse_flags(reading: QuestionReading) -> None:
    """Parse yes/no columns as conditions: `survivors`, `who did not survive`."""
    for place, item in enumerate(reading.text.items):
        if item.role:
            continue
        before = reading.text.items[place - 1].word if place else ""
        after = reading.text.items[place + 1].word if place + 1 < len(reading.text.items) else ""
        flags = [m for m in item.columns if flag_values(m.column) and names_flag(item, m)]
        if not flags or before in ("by", "per", "each") or after in ("rate", "rates") or item.kind == "name":
            continue
        reference = Reference(flags[0].table, flags[0].column)
        no, yes = flag_values(flags[0].column) or (False, True)
        negation = next(
            (
                p
                for p in range(place - 1, max(place - 1 - MAX_NEGATION_DISTANCE, -1), -1)
                if reading.text.items[p].word in NEGATIONS and not reading.text.items[p].role
            ),
            None,
        )
        value = yes if (negation is None) != denies_flag(item.text, reference.column) else no
        opposite = next(
            (
                c
                for c in reading.conditions
                if c.column == reference and c.values == (no if value == yes else yes,)
            ),
            None,
        )
        if opposite is not None:  # both sides of one column are asked for: they are groups
            reading.text.use([place], "group")
            reading.conditions.remove(opposite)
            reading.keys.append(make_value(reference))
            continue
        reading.note(f"Those for which `{reference.column.name}` is {value} are meant.")
        reading.text.use([place] + ([negation] if negation is not None else []), "condition")
        reading.conditions.append(Condition(flag_condition(reference, value), reference, (value,), place=place))
