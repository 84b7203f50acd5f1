"""Steps of a sketch over units: figures that are asked for in another unit than that of their column."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.agents.goals.tables.units import find_unit, unit_of
from app.agents.questions.composition.sketch import Mention, Sketch
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.question_reading import Value, make_value
from app.agents.questions.tables.scope import Reference
from app.plans import build

UNKNOWN_UNIT_COST = 0.15
"""Cost of a unit behind `in` where nothing says the unit of the column: it is taken to be the same."""
_MEASURED = frozenset({"time", "mass", "length", "area", "volume", "power", "energy", "money"})
"""Dimensions of units in which figures are asked for."""


def value_in_unit(reference: Reference, phrase: str) -> Value:
    """The value of a column in the unit of a phrase: `hours worked` of `minutes`; as stored without one."""
    word = next((word for word in phrase.split() if find_unit(word)), phrase)
    value, unit, own = make_value(reference), find_unit(word), unit_of(reference.column)
    is_named = word in name_parts(reference.column.name)
    if unit is None or own is None or is_named or unit.dimension != own.dimension or unit.size == own.size:
        return value
    if unit.dimension == "money":
        return value  # no rate of exchange is known
    factor = build.literal(own.size / unit.size)
    scaled = build.arithmetic("*", value.expression, factor)
    return replace(value, expression=scaled, label=f"{value.label} in {word}", type="number")


def unit_steps(sketch: Sketch, items: Sequence[QuestionItem]) -> Iterator[Sketch]:
    """Yield the sketch in which the figure before `in` is asked for in a unit: `mean length in metres`."""
    place = sketch.place
    unit = find_unit(items[place].word)
    if unit is None or unit.dimension not in _MEASURED or not place or items[place - 1].text != "in":
        return
    measure = sketch.measures[-1] if sketch.measures else sketch.ranking.measure if sketch.ranking else None
    reference = measure.value.reference if measure and measure.value else None
    if measure is None or reference is None:
        return
    own = unit_of(reference.column)
    # `mean price in hours` has no answer; where nothing says the unit of a column, it may be the one that is
    # asked for.
    if own is None or own.dimension != unit.dimension:
        if own is None:
            yield sketch.advance([place], UNKNOWN_UNIT_COST)
        return
    converted = replace(measure, value=value_in_unit(reference, items[place].word))
    yield _with_measure(sketch, converted).advance([place])


def _with_measure(sketch: Sketch, measure: Mention) -> Sketch:
    if sketch.measures:
        return replace(sketch, measures=(*sketch.measures[:-1], measure))
    return replace(sketch, ranking=replace(sketch.ranking, measure=measure)) if sketch.ranking else sketch
