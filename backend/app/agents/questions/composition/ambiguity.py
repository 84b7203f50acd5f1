"""The words by which several readings of one question differ."""

from collections.abc import Sequence

from app.agents.questions.composition.completion import Composed
from app.agents.questions.items import QuestionItem
from app.agents.questions.question_reading import Condition


def describe_ambiguity(readings: Sequence[Composed]) -> str:
    """Return the words that mean different columns in some readings: `'bill' could be ...`; empty if none."""
    names = [_column_names(composed) for composed in readings]
    for place, item in enumerate(readings[0].reading.text.items if readings else ()):
        meanings = [*dict.fromkeys(own[place] for own in names if place in own)]
        if len(meanings) > 1:
            return f"{item.text!r} could be {', '.join(meanings)}."
    return ""


def _column_names(composed: Composed) -> dict[int, str]:
    """The columns of a reading in backticks, by the places of the words that mean them."""
    sketch, items = composed.sketch, composed.reading.text.items
    names: dict[int, str] = {}
    for mention in (*sketch.measures, *sketch.keys, *sketch.heads, *sketch.displayed):
        for own in (mention, mention.divisor):
            if own and own.value and own.value.reference and own.place >= 0 and own.item.columns:
                names[own.place] = f"`{own.value.reference.column.name}`"
    ranked = sketch.ranking.measure if sketch.ranking else None
    if ranked and ranked.value and ranked.value.reference and ranked.place >= 0:
        names[ranked.place] = f"`{ranked.value.reference.column.name}`"
    for condition in sketch.conditions:
        # A value says which column it belongs to; only the name of a yes/no column may mean several.
        if condition.place in names or not _names_flag(condition, items):
            continue
        if condition.column:
            names[condition.place] = f"`{condition.column.column.name}`"
    return names


def _names_flag(condition: Condition, items: list[QuestionItem]) -> bool:
    place = condition.place
    return 0 <= place < len(items) and bool(items[place].columns) and not items[place].values
