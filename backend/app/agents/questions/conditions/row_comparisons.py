"""Comparisons of two columns in each row: `less than planned`, `ended where they started`."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.units import unit_of
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import ColumnMatch, name_parts
from app.agents.questions.question_reading import Condition, QuestionReading, is_measurable
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.build import ComparisonSign

MIN_SCORE, MIN_LEFT_SCORE = 0.7, 0.5
"""Scores of the column behind a comparative and of the one before it, whose verb may only resemble its name."""
MAX_LEFT_DISTANCE = 4
"""Words from the first column to the comparative: `harvest was much lower than`."""
MAX_NEAR = 6
"""Words before and behind `same` among which its columns stand."""
MIN_OVERLAP = 0.5
"""Part of the values of a column of texts that another one has too, so that rows may have the same in both."""
_ABOVE = word_set(
    """
    more greater larger bigger higher longer above over exceeding exceeds exceed exceeded later after older
    heavier
    """
)
_BELOW = word_set("less fewer smaller lower shorter below under earlier before cheaper lighter younger")
_BARE = word_set("above over below under exceeding exceeds exceed exceeded after before")
"""Comparatives without a `than`."""
_TOTALS = word_set("total sum overall combined")
"""Words of figures of groups before the first column."""
_TIME_ORDER = word_set("after before later earlier")
_PASSED = word_set("the a an its their his her what it was is were they expected")
"""Words between `than` and the column behind it."""
_ASKS_WHETHER = word_set("is are was were do does did has have")
"""First words of questions that want yes or no of a figure, where no row is compared."""
_LIST_LINKS = word_set(", and or")
_PRONOUNS = word_set("they it he she we")


def parse_row_comparisons(reading: QuestionReading) -> None:
    """Parse comparisons of two columns of a table as conditions on its rows."""
    items = reading.text.items
    if not items or items[0].text in _ASKS_WHETHER or any(i.word in _FIGURES and not i.role for i in items):
        return
    for place, item in enumerate(items):
        if item.role or item.kind != "word":
            continue
        if item.text in _ABOVE | _BELOW:
            _parse_order(reading, place)
        elif item.text in ("same", "equals", "equal"):
            _parse_equality(reading, place)
            if items[place].text == "same" and not reading.text.items[place].role:
                _parse_same_place(reading, place)
        elif item.text == "where":
            _parse_same_end(reading, place)


_FIGURES = word_set("correlation correlated average mean median")
"""Words of figures, which compare groups and no single rows."""


def _parse_order(reading: QuestionReading, place: int) -> None:
    items = reading.text.items
    right_place, between = _behind(items, place)
    if right_place is None:
        return
    sign: ComparisonSign = ">" if items[place].text in _ABOVE else "<"
    is_time = items[place].text in _TIME_ORDER
    for right in _meant(items[right_place], MIN_SCORE):
        # Numbers are `more` and dates `later`: another pair of word and column is no comparison.
        if (right.column.type == "datetime") != is_time:
            continue
        first_match = _left_of(reading, place, between, right)
        if first_match is not None:
            own, left_place = first_match
            places = [*range(place, right_place + 1), *([left_place] if left_place is not None else [])]
            _add(reading, sorted(set(places)), own, right, sign)
        return


def _behind(items: Sequence[QuestionItem], place: int) -> tuple[int | None, Sequence[int]]:
    """The place of the column that a comparative compares with, and the places between it and its `than`."""
    at = place + 1
    between: list[int] = []
    if items[place].text not in _BARE or (at < len(items) and items[at].text == "than"):
        while at < len(items) and items[at].text != "than" and at - place <= 2:
            between.append(at)
            at += 1
        if at >= len(items) or items[at].text != "than":
            return None, ()
        at += 1
    while at < len(items) and items[at].text in _PASSED and not items[at].columns:
        at += 1
    if at >= len(items) or items[at].role or items[at].kind not in ("word", "name"):
        return None, ()
    is_value = bool(items[at].values) and items[at].values[0].score >= MIN_SCORE
    return (None if is_value else at), between


def _meant(item: QuestionItem, min_score: float) -> list[ColumnMatch]:
    """Numbers and times that a word may mean; those that it means best."""
    fitting = [m for m in item.columns if m.score >= min_score and _is_comparable(m.column)]
    return [m for m in fitting if m.score > fitting[0].score - 0.05] if fitting else []


def _is_comparable(column: Column) -> bool:
    return is_measurable(column) or (column.type == "datetime" and not column.is_stored_as_text)


def _left_of(
    reading: QuestionReading, place: int, between: Sequence[int], right: ColumnMatch
) -> tuple[ColumnMatch, int | None] | None:
    """The column that is compared: behind the comparative, before it, or the only one of the same kind."""
    items = reading.text.items
    before = range(place - 1, max(place - 1 - MAX_LEFT_DISTANCE, -1), -1)
    for near in (*between, *before):
        if items[near].role or items[near].row_tables or items[near].kind not in ("word", "name"):
            continue
        fitting = [m for m in items[near].columns if m.score >= MIN_LEFT_SCORE and _are_alike(m, right)]
        if near and items[near - 1].text in _TOTALS:
            return None  # of groups
        if fitting and (len(fitting) == 1 or fitting[0].score > fitting[1].score + 0.05):
            return fitting[0], near
    # `more tickets than planned` says what is compared: another column would be a guess.
    if between:
        return None
    table = reading.scope.table(right.table)
    partners = [c for c in table.columns if _is_partner(c, right.column)]
    return (ColumnMatch(right.table, partners[0], MIN_SCORE, 1.0), None) if len(partners) == 1 else None


def _are_alike(match: ColumnMatch, other: ColumnMatch) -> bool:
    column, right = match.column, other.column
    if match.table != other.table or column.name == right.name or not _is_comparable(column):
        return False
    if (column.type == "datetime") != (right.type == "datetime"):
        return False
    # Hours are never compared with euros; a column without a known unit may be of any.
    own, unit = unit_of(column), unit_of(right)
    return own is None or unit is None or own == unit


def _is_partner(column: Column, right: Column) -> bool:
    """Tell if a column is of the same kind as another one by its name: `actual_days` of `planned_days`."""
    is_same = _is_comparable(column) and (column.type == "datetime") == (right.type == "datetime")
    if column.name == right.name or not is_same:
        return False
    own, unit = unit_of(column), unit_of(right)
    if own is not None and unit is not None:
        return own == unit
    return bool({*name_parts(column.name), *words(column.name)} & {*name_parts(right.name), *words(right.name)})


def _add(
    reading: QuestionReading,
    places: Sequence[int],
    first: ColumnMatch,
    second: ColumnMatch,
    sign: ComparisonSign,
) -> None:
    own, other = Reference(first.table, first.column), Reference(second.table, second.column)
    reading.text.use([*places], "condition")
    expression = build.compare(sign, own.expression, other.expression)
    reading.conditions.append(Condition(expression, own, place=places[0]))
    reading.note(f"`{first.column.name}` is compared with `{second.column.name}` in each row.")


def _parse_equality(reading: QuestionReading, place: int) -> None:
    """`the same entry and exit`, `entry equals exit`, `entry and exit are the same`."""
    items = reading.text.items
    window = [
        at for at in range(max(place - MAX_NEAR, 0), min(place + MAX_NEAR, len(items))) if not items[at].role
    ]
    is_same = items[place].text == "same"
    behind, before = [at for at in window if at > place], [at for at in window if at < place]
    # `the same entry and exit` has its columns behind, `entry and exit are the same` before.
    sides = [behind, before] if is_same else [[*before, *behind]]
    for side in sides:
        nouns = [at for at in side if _is_column(items[at])]
        if len(nouns) < 2:
            continue
        first, second = (nouns[0], nouns[1]) if side is behind else (nouns[-2], nouns[-1])
        pair = _equal_pair(items[first], items[second])
        if pair is None:
            continue
        links = range(min(first, place), max(second, place) + 1)
        if any(items[at].kind == "number" or items[at].role for at in links):
            return
        is_negated = any(items[at].text in ("not", "never") for at in window)
        negations = [at for at in window if items[at].text in ("not", "never")]
        _add(reading, sorted({*links, *negations}), *pair, "!=" if is_negated else "=")
        return


def _is_column(item: QuestionItem) -> bool:
    """Tell if a word names a column and no rows."""
    return bool(item.columns) and (not item.row_tables or item.columns[0].score >= MIN_CLEAR_NAME)


MIN_CLEAR_NAME = 0.95
"""Score of a column whose name a word is, though it names rows elsewhere: `entry`."""


def _equal_pair(first: QuestionItem, second: QuestionItem) -> tuple[ColumnMatch, ColumnMatch] | None:
    own, other = first.columns[0], second.columns[0]
    if own.score < MIN_SCORE or other.score < MIN_SCORE or own.column.name == other.column.name:
        return None
    is_alike = _are_alike(own, other) or (own.table == other.table and _overlap(own.column, other.column))
    return (own, other) if is_alike else None


def _overlap(first: Column, second: Column) -> bool:
    """Tell if two columns of texts store the same things."""
    own, other = ({str(v).casefold() for v in (*c.values, *c.top)} for c in (first, second))
    are_texts = first.type == second.type == "text" and len(own) > 1
    return are_texts and len(own & other) >= MIN_OVERLAP * max(len(own), len(other))


def _parse_same_end(reading: QuestionReading, place: int) -> None:
    """`ended where they started`: the only two columns of places of a table are the same."""
    items = reading.text.items
    is_said = 0 < place < len(items) - 2 and items[place + 1].text in _PRONOUNS
    before = items[place - 1].text if place else ""
    # Behind a comma or `and`, `where they` begins a clause of its own.
    if not is_said or before in _LIST_LINKS:
        return
    pairs = [pair for table in reading.scope.tables for pair in _pairs_of_places(table)]
    if len(pairs) != 1:
        return
    negations = [at for at in range(max(place - 4, 0), place) if items[at].text in ("not", "never")]
    places = [*negations, place - 1, place, place + 1, place + 2]
    if any(items[at].role for at in places):
        return
    _add(reading, places, *pairs[0], "!=" if negations else "=")


_PLACES = word_set("place spot location station stop port airport city town point site address dock")
"""Nouns behind `same` of what a way begins and ends at."""
_WAY_WORDS = word_set(
    """
    began begin begins start started starts left departed ended end ends finish finished stop stopped arrived
    and at in from the both had have has with where that which
    """
)
"""Words before `the same place` that say that both ends of a way are meant."""


def _parse_same_place(reading: QuestionReading, place: int) -> None:
    """`began and ended at the same place`: the only two columns of places of a table are the same."""
    items = reading.text.items
    following = items[place + 1] if place + 1 < len(items) else None
    pairs = [pair for table in reading.scope.tables for pair in _pairs_of_places(table)]
    if following is None or following.word.removesuffix("s") not in _PLACES or len(pairs) != 1:
        return
    start = place
    while start > 0 and items[start - 1].text in _WAY_WORDS and not items[start - 1].role:
        start -= 1
    _add(reading, [*range(start, place + 2)], *pairs[0], "=")


_LEAVING, _REACHING = (
    word_set("from origin start departure source pickup"),
    word_set("to destination end arrival target dropoff"),
)
"""Words of names of the two ends of a way."""


def _are_ends(first: Column, second: Column) -> bool:
    """Tell if two columns are the ends of a way by their names: `from_station` and `to_station`."""
    own, other = {*words(first.name)}, {*words(second.name)}
    is_label = first.type == second.type and not (is_measurable(first) and first.type == "number")
    is_pair = bool(own & _LEAVING and other & _REACHING) or bool(own & _REACHING and other & _LEAVING)
    return is_label and is_pair and own - _LEAVING - _REACHING == other - _LEAVING - _REACHING


def _pairs_of_places(table: TableProfile) -> Iterator[tuple[ColumnMatch, ColumnMatch]]:
    labels = [column for column in table.columns if column.type in ("text", "integer") and not column.unique]
    for first, second in combinations(labels, 2):
        if _overlap(first, second) or _are_ends(first, second):
            yield ColumnMatch(table.name, first, 1.0, 1.0), ColumnMatch(table.name, second, 1.0, 1.0)
