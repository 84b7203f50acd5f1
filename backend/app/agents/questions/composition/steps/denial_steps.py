"""Steps of a sketch over denials: of what stands behind them, or of all rows of the things asked for."""

from collections.abc import Iterator
from dataclasses import replace

from app.agents.questions.composition.cues import Cue
from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.question_reading import QuestionReading

Places = list[int]
_DENIED_VERBS = frozenset(
    {"never", "do not", "did not", "does not", "didn t", "don t", "have not", "has not", "haven t"}
)
"""Negations of verbs: of things of several rows no row is such."""
_DENIED_ROWS = frozenset({"no", "without", "nobody"})
"""Negations of nouns: of things of several rows there is no such row."""
_WHOLE_DENIALS = frozenset({"nothing", "anything"})
"""Words that stand for the rows which a denial is about."""
_ASKING = frozenset({"which", "who", "what"})


def denial_steps(sketch: Sketch, cue: Cue, places: Places, reading: QuestionReading) -> Iterator[Sketch]:
    """Yield the sketches of a denial: of the next part, or of rows of the things asked for."""
    if cue.argument in _WHOLE_DENIALS:
        yield from _deny_rows(sketch, cue, places)
        if cue.argument == "anything":
            yield sketch.advance(places)  # `customers who never returned anything`
        return
    # Behind `neither` the denial goes on: a second one would cancel it.
    if cue.argument == "nor" and sketch.pending.is_negated:
        return
    pending = replace(sketch.pending, is_negated=not sketch.pending.is_negated)
    if cue.argument in _DENIED_VERBS:
        flags = sketch.flagged("never")
        yield sketch.advance(places, pending=pending, flags=flags, never_place=places[0])
        return
    yield sketch.advance(places, pending=pending)
    if cue.argument in _DENIED_ROWS and not sketch.pending.is_negated:
        yield from _deny_rows(sketch, cue, places)


def _deny_rows(sketch: Sketch, cue: Cue, places: Places) -> Iterator[Sketch]:
    """`wards that have no patient with I21`: what follows is said of rows that do not occur."""
    is_asked = sketch.interrogative in _ASKING or sketch.shows or bool(sketch.displayed and not sketch.measures)
    subjects = [noun for noun in (*sketch.heads, *sketch.displayed) if noun.comes_back]
    if len(subjects) != 1 or not is_asked or sketch.rows or sketch.measures or sketch.keys:
        return
    if cue.argument == "anything" and not ("never" in sketch.flags and sketch.pending.is_negated):
        return
    start = sketch.never_place if cue.argument == "anything" else places[0]
    # A state right before `no` is denied with its noun: `carriers that lost no parcel`.
    if sketch.conditions and sketch.conditions[-1].place == start - 1:
        start = sketch.conditions[-1].place - 1
    flags = sketch.flagged("never", "denied rows")
    pending = replace(sketch.pending, is_negated=False)
    yield sketch.advance(places, pending=pending, flags=flags, never_place=start)
