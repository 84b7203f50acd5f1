"""Steps of a sketch over periods of time: groups, courses in time, and changes from one to the next."""

from collections.abc import Iterator
from dataclasses import replace

from app.agents.goals.words.tokenizer import words
from app.agents.questions.composition.cues import ADVERBS, Cue
from app.agents.questions.composition.sketch import Mention, Sketch
from app.agents.questions.composition.time_phrases import PACED_UNITS
from app.agents.questions.grouping import period_value
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import NotUnderstood, QuestionReading

Places = list[int]
STORED_PERIOD_COST, MIN_STORED_SCORE = 0.4, 0.9
"""Cost of a period for a word that a column stores, and the score of such a value: `monthly` of `billing`."""


def period_steps(sketch: Sketch, cue: Cue, places: Places, reading: QuestionReading) -> Iterator[Sketch]:
    """A period of time, which costs more where a column stores the word."""
    stored = reading.text.items[sketch.place].values
    is_value = cue.size == 1 and bool(stored) and stored[0].score >= MIN_STORED_SCORE
    for step in _readings_of_period(sketch, cue, places, reading):
        yield replace(step, cost=step.cost + STORED_PERIOD_COST * is_value)


TREND_COST = 0.15
"""Cost of the period of a course in time, which the question does not say."""


def trend_steps(sketch: Sketch, cue: Cue, places: Places, reading: QuestionReading) -> Iterator[Sketch]:
    """`over time`: the figure of each period, a month unless one is units; a running total has days."""
    if "cumulative" in sketch.flags:
        yield sketch.advance(places)
        return
    units = {"over the years": "year", "over the weeks": "week"}
    try:
        value = period_value(reading, units.get(cue.argument, "month"), PhraseMatch(places))
    except NotUnderstood:
        return
    if value is None:
        return
    mention = Mention(
        places[0], reading.text.items[places[0]], value, value.reference.table if value.reference else ""
    )
    step = sketch.advance(places, TREND_COST, keys=(*sketch.keys, mention), last="key")
    yield step.with_note(f"The course in time is shown by {value.label}.")


def paced_steps(sketch: Sketch, cue: Cue, places: Places, reading: QuestionReading) -> Iterator[Sketch]:
    """`month over month`: the change of each period from the one before."""
    unit = next(unit for unit in PACED_UNITS if unit in cue.argument.split())
    try:
        value = period_value(reading, unit, PhraseMatch(places))
    except NotUnderstood:
        return
    if value is None:
        return
    table = value.reference.table if value.reference else ""
    mention = Mention(places[0], reading.text.items[places[0]], value, table)
    if any(head.value == value for head in sketch.heads):
        # `which year had the largest increase over the year before`: the years that are asked for
        yield sketch.advance(places, flags=sketch.flagged("change"))
        return
    if any(key.value == value for key in sketch.keys):
        # `monthly revenue, with the change from month to month`: the first month has a figure too
        yield sketch.advance(places, flags=sketch.flagged("change", "whole_series"))
        return
    yield sketch.advance(places, keys=(*sketch.keys, mention), flags=sketch.flagged("change"), last="key")


_NESTING_FUNCTIONS = frozenset({"mean", "median", "max", "min"})
"""Aggregates of the totals of periods: `average daily revenue`."""


def _readings_of_period(sketch: Sketch, cue: Cue, places: Places, reading: QuestionReading) -> Iterator[Sketch]:
    """A period groups behind `per` and as `monthly`, and is asked for behind `which` and `busiest`."""
    item = reading.text.items[places[0]]
    is_adverb = item.word in ADVERBS
    is_key = bool(sketch.pending.key_word) or is_adverb or (sketch.last == "key" and bool(sketch.link))
    is_head = (
        bool(sketch.pending.superlative or sketch.interrogative or "frequency" in sketch.flags)
        and not sketch.heads
    )
    if not is_key and not is_head:
        return
    try:
        value = period_value(reading, cue.argument, PhraseMatch(places))
    except NotUnderstood:
        return
    if value is None:
        return
    table = value.reference.table if value.reference else ""
    mention = Mention(places[0], item, value, table)
    if is_adverb and sketch.pending.functions:
        # `daily` of a column `day` says how far the rows are apart, and makes no groups of them.
        is_spacing = any(cue.argument in words(column.name) for column in reading.scope.tables[0].dates)
        if is_spacing:
            yield sketch.advance(places)
            return
    if is_key and any(key.value == value for key in sketch.keys) and "change" in sketch.flags:
        # `from one year to the next, the change of the yearly totals`: the same years again
        yield sketch.advance(places, pending=replace(sketch.pending, key_word=""))
    elif is_key:
        pending = replace(sketch.pending, key_word="")
        # `average daily revenue` is the mean of the totals of days, `average revenue per day` that of the rows
        # of each.
        is_nested = is_adverb and bool({*sketch.pending.functions} & _NESTING_FUNCTIONS)
        flags = sketch.flagged("nested") if is_nested else sketch.flags
        yield sketch.advance(places, keys=(*sketch.keys, mention), pending=pending, flags=flags, last="key")
    elif is_head:
        yield sketch.advance(places, 0.02, heads=(*sketch.heads, mention), last="head")
