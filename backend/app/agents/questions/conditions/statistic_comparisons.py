"""Comparisons of a column with a statistic of all rows: its mean, a quantile, or deviations from the mean."""

from app.agents.questions.conditions.number_conditions import VERBS, find_measure
from app.agents.questions.grammar_words import ADJECTIVES, AGGREGATE_WORDS, FILLERS, SMALL
from app.agents.questions.items import QuestionItem
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import QuestionReading, StatisticBound, is_measurable
from app.agents.questions.tables.scope import Reference
from app.plans.build import ComparisonSign

_PACES = frozenset({"faster", "slower", "quicker"})
"""Adjectives of which it depends on their measure whether more is more of it."""
_COMPARATIVES = "|".join(sorted(word for word in ADJECTIVES if word.endswith("er") and word not in _PACES))
_MORE = "|".join(word for word in _COMPARATIVES.split("|") if word not in SMALL)
_LESS = "|".join(word for word in _COMPARATIVES.split("|") if word in SMALL)
_SIGNS: tuple[tuple[str, str, ComparisonSign], ...] = (
    ("at least", "", ">="),
    ("at most", "", "<="),
    ("above|over|exceeds|exceed|exceeding|higher|greater|more", _MORE, ">"),
    ("below|under|lower|less|smaller|fewer", _LESS, "<"),
)
"""Words of comparisons, and adjectives that say the same of the measure before them: `a wait longer than`."""
_STATISTICS = frozenset({"mean", "median"})
"""Aggregates of all rows that rows are compared with: no row is above the maximum."""
_FACTORS = {"double": 2.0, "twice": 2.0, "triple": 3.0, "thrice": 3.0, "half": 0.5}
_FACTOR = f"{'|'.join(_FACTORS)}|N?=factor times?"


def parse_adjective_comparisons(reading: QuestionReading) -> None:
    """Parse a comparison with a statistic of what an adjective means: `longer than the average trip`."""
    match = reading.text.find(f"{_COMPARATIVES}=word than {_FACTOR} of? @agg=function E|C?=noun")
    if match is None:
        return
    word = reading.text.required(match, "word").word
    noun = reading.text.item(match, "noun")
    is_measure = noun is not None and any(is_measurable(m.column) for m in noun.columns[:1])
    reference = None if is_measure else find_measure(reading, ADJECTIVES[word].split(), word)
    if reference is not None:
        _add_bound(reading, match, reference, "<" if word in SMALL else ">")


def parse_relative(reading: QuestionReading) -> None:
    """Parse `above the mean`, `a price below the median`, `more than twice the average fare`."""
    for word, adjectives, sign in _SIGNS:
        comparison = f"{word}|{adjectives}" if adjectives else word
        for phrase in (
            f"C=column {_LEVELS}? {VERBS}? {comparison} than? {_FACTOR} of? @agg=function C?=again",
            f"{word} C=column than {_FACTOR} of? @agg=function C?=again",
            f"{word} than? {_FACTOR} of? @agg=function C=column",
        ):
            match = reading.text.find(phrase)
            item = reading.text.item(match, "column") if match else None
            if match is None or item is None or not _names_measure(item):
                continue
            if _add_bound(reading, match, item, sign):
                return


_LEVELS = "rate|rates|level|levels|value|values"
"""Words behind a measure that add nothing to it: `whose assault rate is above the mean`."""
MIN_NAMED_SCORE = 0.5
"""Score of a measure that a word names: words of grammar resemble names by a few letters only."""


def _names_measure(item: QuestionItem) -> bool:
    is_near = item.columns[0].score >= MIN_NAMED_SCORE and item.text not in FILLERS
    return is_near and any(is_measurable(m.column) for m in item.columns)


def _add_bound(
    reading: QuestionReading, match: PhraseMatch, measure: QuestionItem | Reference, sign: ComparisonSign
) -> bool:
    """Add the comparison of a measure with the statistic of a match, and tell if there is one."""
    function = AGGREGATE_WORDS[reading.text.required(match, "function").word]
    again = reading.text.item(match, "again")
    # Beside other statistics than these, and with those of another column, the question is asked back.
    if function not in _STATISTICS:
        return False
    reference = measure if isinstance(measure, Reference) else reading.column(measure, True)
    if again is not None and not any(m.column == reference.column for m in again.columns):
        return False
    factor = 1.0
    for place in match.places:
        factor *= _FACTORS.get(reading.text.items[place].text, 1.0)
    number = reading.text.item(match, "factor")
    factor *= number.number or 1.0 if number is not None else 1.0
    reading.text.use(match.places, "condition")
    share = 0.5 if function == "median" else None
    reading.means.append(StatisticBound(reference, sign, share=share, factor=factor))
    return True


_SIGMA = "standard? deviation|deviations|sd|sds|sigma|sigmas|stds|std"
_CENTRE = "mean|average|avg"
_SCORE = "z|standard score|scores|value|values"
_SIDES: tuple[tuple[str, ComparisonSign], ...] = (
    ("above|over|greater|more|exceeding|beyond", ">"),
    ("below|under|less", "<"),
)


def parse_deviations(reading: QuestionReading) -> None:
    """Parse `more than 2 standard deviations from the mean` and `a z-score above 2`."""
    far = f"N=number {_SIGMA} away? from|of|around? {_CENTRE}?"
    forms: tuple[tuple[str, ComparisonSign | None], ...] = (
        (f"N=number {_SIGMA} above|over {_CENTRE}", ">"),
        (f"N=number {_SIGMA} below|under {_CENTRE}", "<"),
        (f"more|greater|further|farther|beyond|outside|over|above|exceeding than? {far}", None),
        *((f"{_SCORE} {above} than? N=number", sign) for above, sign in _SIDES),
        *((f"{_SCORE} of|for C=column {VERBS}? {above} than? N=number", sign) for above, sign in _SIDES),
    )
    for form, sign in forms:
        match = reading.text.find(form)
        number = reading.text.item(match, "number") if match else None
        if match is None or number is None or not number.number:
            continue
        measure_places = match.names.get("column") or _nearest_measure(reading, match)
        if not measure_places:
            return
        item = reading.text.items[measure_places[0]]
        # `more than 2 deviations above`: the sign is that of the side
        start = match.places[0]
        more = [p for p in (start - 2, start - 1) if p >= 0 and reading.text.items[p].text in ("more", "than")]
        reference = reading.column(item, True)
        places = [*measure_places, *more, *match.places, *_standardised(reading)]
        reading.text.use(places, "condition")
        reading.means.append(
            StatisticBound(reference, sign or ">", deviations=number.number, is_either_way=sign is None)
        )
        return


def _standardised(reading: QuestionReading) -> list[int]:
    """The places of words for standard scores and for rows that are far off, which the comparison tells."""
    words = ("standardise|standardize|standardised|standardized", "outlier|outliers")
    matches = [match for word in words if (match := reading.text.find(word))]
    return [place for match in matches for place in match.places]


def _nearest_measure(reading: QuestionReading, match: PhraseMatch) -> list[int]:
    """The place of the measure that stands nearest to a phrase, one before it rather than one behind it."""
    items, first, last = reading.text.items, match.places[0], match.places[-1]
    for place in (*range(first - 1, -1, -1), *range(last + 1, len(items))):
        if not items[place].role and any(is_measurable(m.column) for m in items[place].columns[:1]):
            return [place]
    return []


def parse_top_shares(reading: QuestionReading) -> None:
    """Parse rows that a measure ranks highest or lowest: `a price in the top 10 percent`."""
    for word, sign in (("top|highest|upper", ">="), ("bottom|lowest|lower", "<=")):
        for phrase in (
            f"C=column in|among|of {word} N=number %|percent|pct",
            f"{word} N=number %|percent|pct by|in|of C=column",
        ):
            match = reading.text.find(phrase)
            item, number = (
                (reading.text.item(match, name) for name in ("column", "number")) if match else (None, None)
            )
            if match is None or item is None or number is None or not 0 < (number.number or 0) < 100:
                continue
            if not any(is_measurable(m.column) for m in item.columns[:1]):
                continue
            share = (number.number or 0) / 100
            reference = reading.column(item, True)
            reading.text.use(match.places, "condition")
            quantile = 1 - share if sign == ">=" else share
            reading.means.append(StatisticBound(reference, sign, share=round(quantile, 6)))  # type: ignore[arg-type]
            return
