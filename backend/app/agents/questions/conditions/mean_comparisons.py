"""Comparisons with the mean of all rows that only an adjective tells: `longer than the average trip`."""

from app.agents.questions.conditions.number_conditions import find_measure
from app.agents.questions.grammar_words import ADJECTIVES, AGGREGATE_WORDS, SMALL
from app.agents.questions.question_reading import MeanBound, QuestionReading, is_measurable

_PACES = frozenset({"faster", "slower", "quicker"})
"""Adjectives of which it depends on their measure whether more is more of it."""
_COMPARATIVES = "|".join(sorted(word for word in ADJECTIVES if word.endswith("er") and word not in _PACES))


def parse_mean_comparisons(reading: QuestionReading) -> None:
    """Parse a comparison with the mean of what an adjective means."""
    match = reading.text.find(f"{_COMPARATIVES}=word than @agg=function E|C?=noun")
    if match is None:
        return
    word = reading.text.required(match, "word").word
    function = reading.text.required(match, "function").word
    noun = reading.text.item(match, "noun")
    is_measure = noun is not None and any(is_measurable(m.column) for m in noun.columns[:1])
    reference = None if is_measure else find_measure(reading, ADJECTIVES[word].split(), word)
    if reference is None or AGGREGATE_WORDS[function] != "mean":
        return
    reading.text.use(match.places, "condition")
    reading.means.append(MeanBound(reference, "<" if word in SMALL else ">"))
