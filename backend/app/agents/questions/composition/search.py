"""Search for the best sketches of a question, from its first to its last item."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.agents.questions.composition.sketch import NOTHING, Sketch
from app.agents.questions.composition.steps.cue_steps import cue_steps
from app.agents.questions.composition.steps.noun_steps import column_steps
from app.agents.questions.composition.steps.number_steps import number_steps, year_steps
from app.agents.questions.composition.steps.row_noun_steps import row_steps
from app.agents.questions.composition.steps.skipping import is_participle, skip_word
from app.agents.questions.composition.steps.unit_steps import unit_steps
from app.agents.questions.composition.steps.value_steps import value_steps
from app.agents.questions.conditions.number_bounds import unit_number
from app.agents.questions.items import QuestionItem
from app.agents.questions.question_reading import QuestionReading
from app.agents.questions.unexplained_words import is_action

BEAM_WIDTH = 48
"""Sketches that are kept at each place: twice as many changed no reading of the tuned questions."""
MAX_ITEMS = 80
"""Items of a question that are composed: longer ones are texts, not questions."""


def find_sketches(reading: QuestionReading) -> list[Sketch]:
    """Return complete sketches of the unused items of a reading, the cheapest first."""
    items = reading.text.items
    if len(items) > MAX_ITEMS:
        return []
    beams: list[list[Sketch]] = [[] for _ in range(len(items) + 1)]
    beams[0].append(Sketch())
    for place in range(len(items)):
        for sketch in _cheapest(beams[place]):
            for step in _steps(sketch, reading, items):
                beams[step.place].append(step)
    return _cheapest(beams[-1])


def _cheapest(sketches: list[Sketch]) -> list[Sketch]:
    return sorted(sketches, key=lambda sketch: sketch.cost)[:BEAM_WIDTH]


def _steps(sketch: Sketch, reading: QuestionReading, items: Sequence[QuestionItem]) -> Iterator[Sketch]:
    item = items[sketch.place]
    if item.role:
        link = "" if item.role != "condition" else sketch.link
        # Groups that fixed phrases read may begin a list of groups: `by age group and plan`.
        last = "key" if item.role == "group" else sketch.last
        yield replace(sketch, place=sketch.place + 1, link=link, last=last)
        return
    yield from cue_steps(sketch, reading, items)
    yield from unit_steps(sketch, items)
    yield from year_steps(sketch, items)
    if item.kind in ("word", "name", "literal"):
        if item.columns:
            yield from column_steps(sketch, reading, items)
        if item.values:
            yield from value_steps(sketch, reading, items)
        if item.row_tables:
            yield from row_steps(sketch, reading, items)
    if sketch.pending.sign and (single := _single_number(items, sketch.place)):
        yield from number_steps(sketch, reading, single)
    # A number is never skipped: it would restrict the rows.
    if item.kind == "number":
        yield from number_steps(sketch, reading, items)
        return
    yield from _absent_steps(sketch, reading, item)
    yield skip_word(sketch, items)


NEVER_COST = 0.1
"""Cost of rows of another table that a negated verb leaves out: `members who never came`."""


def _absent_steps(sketch: Sketch, reading: QuestionReading, item: QuestionItem) -> Iterator[Sketch]:
    """Yield the sketch in which a negated verb says that no row of another table belongs to some rows."""
    pending = sketch.pending
    owner = sketch.rows[-1].table if sketch.rows else ""
    owners = [mention.table for mention in (*sketch.heads, *sketch.displayed) if mention.table]
    owner = owner or (owners[-1] if owners else "")
    is_verb = is_action(item.text) or is_participle(item.text)
    if not pending.is_negated or not is_verb or not owner or item.values or sketch.absent:
        return
    many = {link.many for link in reading.scope.links if link.single == owner}
    # With two tables of events it is not told which of them has no row.
    if len(many) == 1:
        denied = sketch.never_place if sketch.never_place >= 0 else sketch.place
        yield sketch.advance(
            [sketch.place], NEVER_COST, absent=tuple(many), pending=NOTHING, never_place=denied, last="rows"
        )


def _single_number(items: Sequence[QuestionItem], place: int) -> list[QuestionItem] | None:
    """The items with `one`, `an` and `half an` as a number, which elsewhere are no numbers."""
    number = unit_number(items, place)
    if number is None and items[place].text != "one":
        return None
    single = replace(items[place], kind="number", number=1.0 if number is None else number)
    return [*items[:place], single, *items[place + 1 :]]
