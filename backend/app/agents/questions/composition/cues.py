"""Words that say how the nouns of a question belong together: aggregates, groups, order, negation."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from app.agents.questions.composition.cue_phrases import CUE_PHRASES
from app.agents.questions.grammar_words import (
    AGGREGATE_WORDS,
    CLASSES,
    COMPARATIVES,
    LOW,
    ORDINALS,
    SUPERLATIVES,
)
from app.agents.questions.items import QuestionItem


class Cue(NamedTuple):
    """The effect of a phrase of `size` items. `argument`: its function, sign, direction or word."""

    kind: str
    argument: str = ""
    size: int = 1


_POSTFIX = {
    "on average": "mean",
    "in average": "mean",
    "in total": "sum",
    "altogether": "sum",
    "combined": "sum",
}
_ORDERS = {
    **dict.fromkeys(
        (
            *("in descending order", "descending", "desc", "ranked", "sorted", "most to least"),
            *("from high to low", "from most to least", "from highest to lowest", "from rich to poor"),
        ),
        "down",
    ),
    **dict.fromkeys(
        (
            *("in ascending order", "ascending", "asc", "least to most"),
            *("from low to high", "from least to most", "from lowest to highest", "from poor to rich"),
        ),
        "up",
    ),
}
PERIODS = {
    **dict.fromkeys(("day", "days", "daily", "date", "dates"), "day"),
    **dict.fromkeys(("week", "weeks", "weekly"), "week"),
    **dict.fromkeys(("month", "months", "monthly"), "month"),
    **dict.fromkeys(("quarter", "quarters", "quarterly"), "quarter"),
    **dict.fromkeys(("year", "years", "yearly", "annual", "annually"), "year"),
    **dict.fromkeys(("decade", "decades"), "decade"),
    **dict.fromkeys(("half year", "half years", "semester", "half yearly"), "half year"),
    **dict.fromkeys(("hour", "hours", "hourly", "hour of day", "hour of the day", "time of day"), "hour"),
    **dict.fromkeys(("weekday", "weekdays", "day of week", "day of the week", "days of the week"), "weekday"),
}
ADVERBS = frozenset({"daily", "weekly", "monthly", "quarterly", "yearly", "annual", "annually", "hourly"})
MAX_CUE_ITEMS = 6
"""Words of the longest cue (`from one year to the next`)."""


def _phrase_cues() -> Iterator[tuple[str, str, str]]:
    """Yield the phrase, kind and argument of the cues of the tables above."""
    yield from ((text, kind, text) for kind, phrases in CUE_PHRASES.items() for text in phrases)
    yield from ((text, "postfix", function) for text, function in _POSTFIX.items())
    yield from ((text, "order", direction) for text, direction in _ORDERS.items())
    yield from ((text, "period", unit) for text, unit in PERIODS.items())
    yield from ((word, "ordinal", word) for word in ORDINALS)
    yield from ((text, "superlative", "latest") for text in ("most recent", "most recently"))
    yield from ((text, "superlative", "earliest") for text in ("least recent", "least recently"))
    yield from ((text, "sign", f"{sign} {text.split()[0]}") for text, sign in COMPARATIVES.items())
    yield from ((text, "sign", "between between") for text in ("between", "from", "ranging from", "aged"))


_PACES = {"slowest": "slow", "fastest": "fast", "quickest": "fast"}
"""Superlatives whose order depends on their measure: the slowest has the most time and the least speed."""


def _word_cues() -> Iterator[tuple[str, str, str]]:
    """Yield the phrase, kind and argument of aggregates, superlatives and adjectives."""
    yield from (
        (word, "aggregate", function)
        for word, function in AGGREGATE_WORDS.items()
        if word not in SUPERLATIVES or word in _EXTREMES
    )
    yield from ((text, "aggregate", function) for text, function in _AGGREGATE_PHRASES.items())
    for word in (SUPERLATIVES | {"top", "bottom"}) - _EXTREMES:
        yield word, "superlative", word
        # The worst is said of much damage or delay as well as of a low mark: it begins with the most.
        direction = _PACES.get(word) or ("up" if word in LOW and word != "worst" else "down")
        yield from ((text, "order", direction) for text in (f"{word} first", f"{word} on top"))
    yield from ((text, "superlative", "top") for text in ("rank", "rank the", "rank all", "ranking of"))
    adjectives = [word for word in CLASSES["@adj"] if not word.endswith("est")]
    yield from ((text, "adjective", word) for word in adjectives for text in (word, f"{word} than"))


_AGGREGATE_PHRASES = {
    **dict.fromkeys(("standard deviation", "std dev", "std deviation", "st dev", "stand dev"), "stddev"),
    "quartiles": "quartiles",
    "deciles": "deciles",
    "first quartile": "quantile 0.25",
    "lower quartile": "quantile 0.25",
    "1st quartile": "quantile 0.25",
    "third quartile": "quantile 0.75",
    "upper quartile": "quantile 0.75",
    "3rd quartile": "quantile 0.75",
    "range": "range",
    "spread": "range",
    "interquartile range": "interquartile",
    "iqr": "interquartile",
    "coefficient of variation": "variation",
    "cv": "variation",
    **dict.fromkeys(("lowest and highest", "smallest and largest", "least and most"), "min max"),
    **dict.fromkeys(("highest and lowest", "largest and smallest", "most and least"), "max min"),
    **dict.fromkeys(("first and last", "earliest and latest", "earliest and last"), "min max"),
    **dict.fromkeys(("last and first", "latest and earliest"), "max min"),
    "minimum and maximum": "min max",
    "maximum and minimum": "max min",
    "min and max": "min max",
    "max and min": "max min",
    "mean and standard deviation": "mean stddev",
    "average and standard deviation": "mean stddev",
}
_PERCENTILE_WORDS = frozenset({"percentile", "quantile", "percentiles"})


def _percentile(items: Sequence[QuestionItem], place: int) -> Cue | None:
    """`90th percentile`, `the 95 % quantile`, `p95`."""
    digits = items[place].text.removesuffix("th").removesuffix("st").removesuffix("nd").removesuffix("rd")
    size = 2
    if place + 1 < len(items) and items[place + 1].text in ("%", "percent"):
        size = 3
    has_word = place + size - 1 < len(items) and items[place + size - 1].text in _PERCENTILE_WORDS
    if not has_word and digits[:1] == "p" and digits[1:].isdigit():
        digits, size = digits[1:], 1
    elif not has_word:
        return None
    try:
        percent = float(digits)
    except ValueError:
        return None
    # The quantile may be written as a share: `the 0.9 quantile`.
    share = percent if 0 < percent < 1 else percent / 100
    return Cue("aggregate", f"quantile {share:g}", size) if 0 < share < 1 else None


_EXTREMES = frozenset({"maximum", "minimum", "max", "min"})
"""Superlatives that name an aggregate."""


@cache
def _cues() -> dict[str, list[Cue]]:
    cues: dict[str, list[Cue]] = {}
    for text, kind, argument in (*_phrase_cues(), *_word_cues()):
        cues.setdefault(text, []).append(Cue(kind, argument, len(text.split())))
    return cues


def is_cue(word: str) -> bool:
    """Tell if a word alone says how nouns belong together: `more`, `dropped`."""
    return word in _cues()


def find_cues(items: Sequence[QuestionItem], place: int) -> list[Cue]:
    """The cues of the longest phrase that begins at a place, over unused words only."""
    if percentile := _percentile(items, place):
        return [percentile]
    cues = _cues()
    texts: list[str] = []
    for item in items[place : place + MAX_CUE_ITEMS]:
        # A phrase that is an item already, such as a column's name, is no part of a cue.
        if item.role or item.kind not in ("word", "sign") or " " in item.text:
            break
        texts.append(item.text)
    # The longest phrase decides: `more than` is a bound, `more` alone a comparison.
    for size in range(len(texts), 0, -1):
        if longest := cues.get(" ".join(texts[:size])):
            return [*longest, *_listed_extremes(items, place)] if size == 1 else longest
    return []


_LIST_SIGNS = frozenset({",", "and", "&", "/"})


def _listed_extremes(items: Sequence[QuestionItem], place: int) -> list[Cue]:
    """A superlative among aggregates or beside its opposite as the extreme value: `best, worst and average`."""
    word = items[place].text
    if word not in SUPERLATIVES or word in _EXTREMES:
        return []
    others = {_beyond_list_signs(items, place, step) for step in (1, -1)}
    opposites = (SUPERLATIVES & LOW) if word not in LOW else SUPERLATIVES - LOW
    is_listed = bool(others & (opposites | (set(AGGREGATE_WORDS) - {"most", "least"})))
    return [Cue("aggregate", "min" if word in LOW else "max")] if is_listed else []


def _beyond_list_signs(items: Sequence[QuestionItem], place: int, step: int) -> str:
    """The word before or behind at least one sign of a list; empty where there is none."""
    at = place + step
    while 0 <= at < len(items) and items[at].text in _LIST_SIGNS:
        at += step
    return items[at].text if 0 <= at < len(items) and abs(at - place) > 1 else ""
