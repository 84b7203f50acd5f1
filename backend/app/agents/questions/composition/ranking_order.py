"""The order of rankings: what is first by a superlative of a measure."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import takewhile

from app.agents.goals.tables.profiles import Column
from app.agents.goals.tables.units import column_unit
from app.agents.goals.words.tokenizer import words
from app.agents.questions.composition.sketch import Mention, Ranking
from app.agents.questions.grammar_words import PACE_WORDS, SMALL
from app.agents.questions.grammatical_number import names_several
from app.agents.questions.grouping import make_period
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.ordering import is_descending
from app.agents.questions.question_reading import (
    Value,
)
from app.agents.questions.tables.place_columns import holds_places
from app.agents.questions.tables.years import holds_years
from app.agents.questions.unexplained_words import is_filler


def is_ranked_down(ranking: Ranking, value: Value | None) -> bool:
    """Tell if the most of a measure comes first: of the slowest the time, of the cheapest no price."""
    column = value.reference.column if value and value.reference else None
    if ranking.word in ("top", "bottom", "best", "worst"):
        # The best time is the shortest, while `top times` are the longest.
        is_pace = column is not None and (bool(PACE_WORDS & {*name_parts(column.name)}) or holds_places(column))
        return (ranking.word in ("top", "best")) != (is_pace and ranking.word in ("best", "worst"))
    if column is not None and (column.type == "datetime" or holds_years(column)):
        if ranking.word in ("oldest", "earliest"):
            return False
        if ranking.word in ("youngest", "newest", "latest"):
            return True
    if ranking.word in SMALL or ranking.word in ("fastest", "slowest", "quickest"):
        is_pace = column is not None and is_time(column)
        if ranking.word in ("fastest", "quickest"):
            return not is_pace
        if ranking.word == "slowest":
            return is_pace
        return False
    return is_descending(ranking.word, column)


OPEN_RANK_COUNT = 100
"""Rows of `top products` without a number."""


def count_ranked(
    ranking: Ranking,
    noun: QuestionItem | None,
    subject: QuestionItem | None = None,
    names: Collection[str] = (),
) -> int:
    """The number of things that are asked for: all of `top products`, one `top scorer`.

    `noun`: what stands behind the superlative. `subject`: the noun of what is ranked. `names`: their columns.
    """
    is_open = ranking.word in ("top", "bottom") and (noun is None or noun.text.endswith("s"))
    is_open = is_open or (ranking.ordinal == 1 and subject is not None and names_several(subject, names))
    return ranking.count or (OPEN_RANK_COUNT if is_open else 1)


def noun_behind(ranking: Ranking, items: Sequence[QuestionItem]) -> QuestionItem | None:
    """The noun behind a superlative, the last one of a compound: the things that are ranked."""
    # `priciest` stands for `most expensive`.
    texts = {ranking.word} if any(item.text == ranking.word for item in items) else {"most", "least"}
    place = next((number for number, item in enumerate(items) if item.text in texts), len(items))
    return noun_from(items, place + 1)


def noun_from(items: Sequence[QuestionItem], start: int) -> QuestionItem | None:
    """The last noun of the compound that begins at a place, else the item there."""
    compound = [*takewhile(lambda item: item.kind == "word" and not is_filler(item.word), items[start:])]
    return compound[-1] if compound else next(iter(items[start : start + 1]), None)


_TIME_UNITS = frozenset({"seconds", "minutes", "hours", "days", "secs", "mins", "hrs"})


LASTING = frozenset({"longest", "shortest", "slowest", "fastest", "quickest"})
"""Superlatives of times, of which groups have a mean and no total."""


OF_MEANS = LASTING | frozenset(
    {
        *(
            "windiest",
            "calmest",
            "hottest",
            "warmest",
            "coldest",
            "coolest",
            "loudest",
            "quietest",
            "brightest",
        ),
        *("deepest", "shallowest", "steepest", "strongest", "weakest", "sweetest", "hardest", "happiest"),
    }
)
"""Superlatives of times and of qualities that things have all the time: of groups they are said of the mean."""


def is_time(column: Column) -> bool:
    """Tell if a number is how long something takes."""
    unit = column_unit(column.name)
    is_pace = bool(PACE_WORDS & {*name_parts(column.name)}) or (unit is not None and unit.dimension == "time")
    return is_pace or bool(_TIME_UNITS & {*words(column.name)})


def in_days(mention: Mention) -> Mention:
    """A column of times as the days that it holds."""
    reference = mention.value.reference if mention.value else None
    if reference is None or reference.column.type != "datetime" or reference.column.is_stored_as_text:
        return mention
    return replace(mention, value=make_period(reference, "day"))
