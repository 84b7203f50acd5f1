"""Steps of a sketch over times of events: rows that have such a time, and the ends of a span."""

from collections.abc import Iterator, Sequence

from app.agents.goals.tables.profiles import Column
from app.agents.questions.composition.sketch import NOTHING, Mention, Ranking, Sketch
from app.agents.questions.items import QuestionItem
from app.agents.questions.question_reading import (
    Condition,
    QuestionReading,
)
from app.agents.questions.tables.scope import Reference
from app.plans import build

END_OF_SPAN_COST = 0.02
"""Cost of a date behind the time between two: `how long does it take to fix a job` of a column `fixed`."""
HAPPENED_COST = 0.08
"""Cost of a participle that says that a time is known: `jobs that are fixed` of a column `fixed`."""
_PERFECT_WORDS = frozenset({"is", "are", "was", "were", "been", "already", "be", "got", "all", "yet", "ever"})


def happened_step(sketch: Sketch, reading: QuestionReading, reference: Reference) -> Sketch | None:
    """A participle of a time that some rows lack, as the rows that have it: `orders that were shipped`."""
    place, column, pending = sketch.place, reference.column, sketch.pending
    if not _may_lack(column) or not says_happened(reading.text.items, place, "all" in sketch.flags):
        return None
    is_plain = not (pending.key_word or pending.superlative or pending.functions or pending.is_missing)
    has_subject = bool(sketch.rows or sketch.heads) or sketch.interrogative == "who"
    # With a group, an order or a figure before it the time itself is asked for.
    if not is_plain or pending.is_negated or not has_subject:
        return None
    condition = Condition(build.is_present(reference.expression), reference, place=place)
    step = sketch.advance([place], HAPPENED_COST, conditions=(*sketch.conditions, condition), last="value")
    return step.with_note(f"Those with a `{column.name}` are meant.")


def time_steps(sketch: Sketch, reading: QuestionReading, mention: Mention) -> Iterator[Sketch]:
    """Yield the sketches in which a time ends a span, or ranks: `the five most recently sown fields`."""
    pending, place = sketch.pending, sketch.place
    reference = mention.value.reference if mention.value else None
    if reference is None or reference.column.type != "datetime":
        return
    if any(map(is_duration, sketch.measures)):
        yield sketch.advance([place], END_OF_SPAN_COST)
    is_adverb = place > 0 and reading.text.items[place - 1].text in _ADVERBS_OF_TIME
    if is_adverb and pending.superlative in ("latest", "earliest") and sketch.ranking is None:
        ranking = Ranking(pending.superlative, place, mention, pending.superlative_count, pending.ordinal)
        yield sketch.advance([place], ranking=ranking, pending=NOTHING, last="measure")


_ADVERBS_OF_TIME = frozenset({"recently", "lately"})


def is_duration(measure: Mention) -> bool:
    """Tell if a measure is the time between two dates of a row."""
    reference = measure.value.reference if measure.value else None
    return reference is not None and reference.column.name.startswith("duration ")


def says_happened(items: Sequence[QuestionItem], place: int, asks_all: bool) -> bool:
    """Tell if a participle names a time that some rows lack, behind `been` or of all rows."""
    item = items[place]
    is_participle = item.word.endswith("ed") or item.word in ("paid", "sold", "sent", "done", "won", "made")
    # `orders that were shipped` have the time; `orders shipped by month` only name the event.
    is_perfect = asks_all or (place > 0 and items[place - 1].text in _PERFECT_WORDS | {"who"})
    best = item.columns[0] if item.columns else None
    return (
        is_participle
        and is_perfect
        and best is not None
        and best.score >= MIN_TIME_SCORE
        and _may_lack(best.column)
    )


MIN_TIME_SCORE = 0.55
"""Score of a time that a participle means: below it is the verb of another event (`treated`, `discharged`)."""


def _may_lack(column: Column) -> bool:
    return column.type == "datetime" and column.missing > 0
