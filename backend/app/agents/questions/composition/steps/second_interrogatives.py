"""Steps of a sketch over second interrogatives: further facts of a ranked row."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.cues import Cue
from app.agents.questions.composition.sketch import Mention, Sketch
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking.origin_and_destination import is_own_end
from app.agents.questions.marking.row_nouns import PERSONS
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.question_reading import QuestionReading, make_value
from app.agents.questions.tables.scope import Reference

FURTHER_COST, SECOND_ASK_COST = 0.05, 1.3
"""Cost of a further fact that a second interrogative asks for (`and where did it go`), and of one that no
column is known for: the question is not answered then."""
MAX_VERB_DISTANCE = 4
"""Words from an interrogative to its verb: `where did the longest one go`."""
_FURTHER = frozenset({"where", "when", "who", "whose", "whom", "why"})
_JOINING = frozenset({"and", ",", "&"})
_PLACES = word_set(
    """
    place places city town country region district area site venue station stop location destination island
    address zone ground stadium port airport branch shop store office hall room street wood county state
    """
)
"""Nouns of columns that say where something is."""
_REASONS = word_set("reason reasons cause causes purpose motive")
"""Nouns of columns that say why something is."""


def asks_further(sketch: Sketch, cue: Cue) -> bool:
    """Tell if an interrogative asks for a second fact, beside a superlative or another interrogative."""
    word = "why" if cue.argument == "what for" else cue.argument.split()[-1]
    is_second = bool(sketch.interrogative) and word != sketch.interrogative
    return word in _FURTHER and (is_second or bool(sketch.ranking or sketch.pending.superlative))


def joins_question(sketch: Sketch, items: Sequence[QuestionItem]) -> bool:
    """Tell if the interrogative at a sketch's place joins a second question to the first: `and where`."""
    place = sketch.place
    beside = {item.text for item in (*items[max(place - 1, 0) : place], *items[place + 1 : place + 2])}
    is_second = place > 0 and bool(sketch.interrogative or sketch.ranking)
    return is_second and items[place].text in _FURTHER and bool(beside & _JOINING)


def further_steps(
    sketch: Sketch, cue: Cue, places: Sequence[int], reading: QuestionReading
) -> Iterator[Sketch]:
    """`the longest ride and where it went`: the place, time or person of the row is shown too."""
    word = "why" if cue.argument == "what for" else cue.argument.split()[-1]
    following = [item.text for item in reading.text.items[places[-1] + 1 : places[-1] + 1 + MAX_VERB_DISTANCE]]
    reference = _further_reference(word, sketch, reading, following)
    # A second question that no column answers makes the whole reading dear, so that it is asked back.
    if reference is None:
        yield replace(sketch.skip(SECOND_ASK_COST, True), place=places[-1] + 1)
        return
    noun = Mention(places[0], reading.text.items[places[0]], make_value(reference), reference.table)
    yield sketch.advance(places, FURTHER_COST, displayed=(*sketch.displayed, noun))


def _further_reference(
    word: str, sketch: Sketch, reading: QuestionReading, following: Sequence[str]
) -> Reference | None:
    """The only column that an interrogative can ask for, in the table of the measure that is ranked."""
    measure = sketch.ranking.measure if sketch.ranking else None
    mentions = [m for m in (measure, *sketch.heads, *sketch.rows) if m and m.table]
    table = reading.scope.table(mentions[0].table if mentions else reading.scope.tables[0].name)
    columns = reading.scope.stored_columns(table.name)
    if word == "when":
        fitting = [c for c in columns if c.type == "datetime" and not c.is_stored_as_text]
    else:
        nouns = {"where": _PLACES, "why": _REASONS}.get(word, PERSONS)
        fitting = [c for c in columns if c.type == "text" and nouns & {*name_parts(c.name), *words(c.name)}]
    # Of an origin and a destination the verb says which: `where did it go`.
    ends = [column for column in fitting if any(is_own_end(column.name, text) for text in following)]
    fitting = ends if len(fitting) > 1 else fitting
    return Reference(table.name, fitting[0]) if len(fitting) == 1 else None
