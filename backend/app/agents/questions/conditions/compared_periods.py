"""Two periods that a question sets side by side: `from 2022 to 2023`, `May versus June`, `in 2021 and 2022`."""

from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.conditions.date_columns import date_reference, part_column
from app.agents.questions.conditions.date_spans import as_year
from app.agents.questions.grammar_words import MONTH_NUMBERS
from app.agents.questions.items import QuestionItem
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import Condition, QuestionReading, Value
from app.plans import build

_LINKS = word_set("and or to than in vs versus with against compared the over of on during from for , v")
"""Words between two periods."""
MAX_LINKS = 5
"""Words between two periods: `2022 compared to those in 2023`."""
_RANGE_STARTS = frozenset({"between"})
_CHANGES = word_set(
    """
    change changes changed difference differ growth grew grow increase increased decrease decreased more fewer
    less higher lower compare compared versus vs than rise fell fall develop dropped rose gap
    risen fallen drop decline declined shrink shrank grown evolve
    """
)
"""Words that set two periods against each other."""


def parse_compared_periods(reading: QuestionReading) -> None:
    """Parse the years or months of one list as values that are compared."""
    items = reading.text.items
    is_change = any(item.text in _CHANGES for item in items)
    for place in range(len(items)):
        second = _second_place(items, place)
        if second is None:
            continue
        places = [place, second]
        while (following := _second_place(items, places[-1])) is not None:
            places.append(following)  # `2022, 2023 and 2024`
        links = {link.text for link in items[place + 1 : places[-1]]}
        before = items[place - 1].text if place else ""
        # Without a word of change `from 2010 to 2012` is a span and `in May or June` a set of rows, which later
        # rules read.
        is_range = before in _RANGE_STARTS and not is_change
        if is_range or (not is_change and links & {"to", "or"}):
            continue
        if _compare(reading, places):
            return


def _second_place(items: list[QuestionItem], place: int) -> int | None:
    if items[place].role or _period(items[place]) is None:
        return None
    for second in range(place + 2, min(place + MAX_LINKS + 2, len(items))):
        if items[second - 1].text not in _LINKS and second - 1 != place:
            return None
        own, other = _period(items[place]), _period(items[second])
        if own and other and own[0] == other[0] and not items[second].role:
            return second if own[1] != other[1] else None
    return None


def _period(item: QuestionItem) -> tuple[str, int] | None:
    if item.kind == "number":
        year = as_year(item)
        return ("year", year) if year is not None else None
    if item.kind == "word" and item.word in MONTH_NUMBERS and item.word != "may":
        return "month", MONTH_NUMBERS[item.word]
    if item.kind == "word" and item.text == "may":
        return "month", 5
    return None


def _compare(reading: QuestionReading, places: list[int]) -> bool:
    items = reading.text.items
    periods = [period for at in places if (period := _period(items[at]))]
    place, (unit, _) = places[0], periods[0]
    match = PhraseMatch(places)
    column, reference = part_column(reading, unit), date_reference(reading, match)
    target = column or reference
    if target is None:
        return False
    operand = column.expression if column else build.date_part(unit, target.expression)  # type: ignore[arg-type]
    values = tuple(dict.fromkeys(value for _, value in periods))
    condition = Condition(
        build.is_one_of(operand, values),
        target,
        values,
        is_compared=True,
        is_date=True,
        place=place,
        group=Value(operand, unit, "integer"),
    )
    start = place - 1 if place and items[place - 1].text in ("in", "from", "of", "during", "for") else place
    between = [at for at in range(start, places[-1] + 1) if at in places or items[at].text in _LINKS]
    reading.text.use([at for at in between if items[at].text not in _CHANGES], "condition")
    reading.conditions.append(condition)
    return True
