"""Groups of equally many rows by the order of a number: `by quartile of distance`."""

from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import QuestionReading, Value, is_measurable
from app.agents.questions.tables.scope import Reference

_CLASSES = {"tercile": 3, "tertile": 3, "quartile": 4, "quintile": 5, "decile": 10}
_NAMES = {parts: name for name, parts in _CLASSES.items()}
_WORDS = "|".join(f"{name}|{name}s" for name in _CLASSES)
MAX_CLASSES = 20
"""Groups of equally many rows."""
_SPLIT = "split|divide|cut|bin|group|break|put|sort"
_PARTS = "groups|parts|classes|bins|buckets|portions"
_PHRASES = (
    f"by|per|in|for|across|within each|every? C=column {_WORDS}=word",
    f"by|per|in|for|across|within each|every? {_WORDS}=word of|by? C=column",
    f"{_SPLIT} C=column into|in|by {_WORDS}=word",
    f"{_SPLIT} E|C? into|in {_WORDS}=word of|by C=column",
    f"{_SPLIT} C=column into|in N=parts equal|equally large|big|sized? {_PARTS}",
    f"{_SPLIT} E|C? into|in N=parts equal|equally large|big|sized? {_PARTS} by|of C=column",
    f"C=column into|in {_WORDS}=word",
)
"""Phrases of groups. Without a word such as `by` or `into` quartiles are numbers of their own."""
_AGAIN = "in|for|of|within|per each {noun}?"


def parse_quantile_groups(reading: QuestionReading) -> None:
    """Parse groups of equally many rows as a key."""
    for phrase in _PHRASES:
        match = reading.text.find(phrase)
        item = reading.text.item(match, "column") if match else None
        if match is None or item is None or not any(is_measurable(m.column) for m in item.columns[:1]):
            continue
        classes = _number_of_classes(reading, match)
        if not 2 <= classes <= MAX_CLASSES:
            continue
        reference = reading.column(item, True)
        again = reading.text.find(_AGAIN.format(noun=f"{_WORDS}|{_PARTS}"), match.places[-1] + 1)
        is_last = again is not None and again.places[-1] == len(reading.text.items) - 1
        reading.text.use([*match.places, *(again.places if again is not None and is_last else [])], "group")
        reading.keys.append(make_classes(reference, classes))
        reading.note(f"1 is the group of the lowest `{reference.column.name}`.")
        return


def make_classes(reference: Reference, classes: int) -> Value:
    """The number of the group, from 1, of equally many rows in which a number lies."""
    label = f"{_NAMES.get(classes, 'group')} of {reference.column.name}"
    return Value(reference.expression, label, "integer", reference, classes=classes)


def _number_of_classes(reading: QuestionReading, match: PhraseMatch) -> int:
    word, number = reading.text.item(match, "word"), reading.text.item(match, "parts")
    if word is not None:
        return _CLASSES[word.word.removesuffix("s")]
    return int(number.number) if number is not None and number.number == int(number.number or 0) else 0
