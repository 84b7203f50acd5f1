"""Steps of a sketch over words that mean a measure without naming it: what sells best, what is free or late."""

from collections.abc import Iterator
from dataclasses import replace

from app.agents.goals.words.tokenizer import words
from app.agents.questions.composition.cues import Cue
from app.agents.questions.composition.sketch import Mention, Ranking, Sketch
from app.agents.questions.conditions.number_conditions import find_measure
from app.agents.questions.figures import QUANTITY_NAMES
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.question_reading import Condition, QuestionReading, is_measurable, make_value
from app.agents.questions.tables.derived_columns import REVENUES
from app.agents.questions.tables.scope import Reference
from app.plans import build

Places = list[int]
SELLING_COST = 0.05
"""Cost of the measure of what sells best, which the question does not name."""


def selling_steps(sketch: Sketch, cue: Cue, places: Places, reading: QuestionReading) -> Iterator[Sketch]:
    """`best selling product`: by the pieces that are sold, else by the revenue, else by the number of rows."""
    pending = sketch.pending
    if sketch.ranking is not None or pending.superlative not in ("", "top"):
        return
    word = "least" if cue.argument.split()[0] in ("worst", "least") else "most"
    count = int(pending.number) if pending.number is not None else pending.superlative_count
    used = places if pending.number is None else [pending.number_place, *places]
    cleared = replace(pending, number=None, number_place=-1, superlative="", superlative_count=None)
    measure = _sold_measure(reading, places[0])
    ranking = Ranking(word, places[0], measure, count)
    flags = sketch.flags if measure else sketch.flagged("frequency")
    step = sketch.advance(used, SELLING_COST, pending=cleared, ranking=ranking, flags=flags)
    label = measure.value.label if measure and measure.value else "number of rows"
    yield step.with_note(f"What sells best is told by the `{label}`.")


def _sold_measure(reading: QuestionReading, place: int) -> Mention | None:
    columns = [
        Reference(table.name, column)
        for table in reading.scope.tables
        for column in table.columns
        if is_measurable(column)
    ]
    # What sells best is sold in the greatest number; money tells it where no pieces are counted.
    for names in (QUANTITY_NAMES, REVENUES):
        fitting = [r for r in columns if names & set(words(r.column.name))]
        if len(fitting) == 1:
            value = make_value(fitting[0])
            return Mention(place, reading.text.items[place], value, fitting[0].table, ("sum",))
    return None


_FOR_THE_BETTER, _FOR_THE_WORSE = frozenset({"best", "strongest"}), frozenset({"worst", "weakest"})
_PERIODS = frozenset({"hour", "day", "weekday", "week", "month", "quarter", "season", "year"})


def takings_steps(sketch: Sketch, cue: Cue, places: Places, reading: QuestionReading) -> Iterator[Sketch]:
    """`our best month`: by the revenue, where a question names no measure and one table has revenue."""
    items, pending = reading.text.items, sketch.pending
    following = items[places[-1] + 1].text if places[-1] + 1 < len(items) else ""
    is_judged = cue.argument in _FOR_THE_BETTER | _FOR_THE_WORSE and following in _PERIODS
    if not is_judged or sketch.ranking is not None or sketch.measures or pending.superlative:
        return
    names_measure = any(is_measurable(match.column) for item in items for match in item.columns[:1])
    revenues = [
        Reference(table.name, column)
        for table in reading.scope.tables
        for column in table.columns
        if is_measurable(column) and REVENUES & set(words(column.name))
    ]
    # A named measure says by what the month is best, and of two revenues either could.
    if names_measure or len(revenues) != 1:
        return
    measure = Mention(places[0], items[places[0]], make_value(revenues[0]), revenues[0].table, ("sum",))
    word = "least" if cue.argument in _FOR_THE_WORSE else "most"
    count = int(pending.number) if pending.number is not None else None
    used = places if pending.number is None else [pending.number_place, *places]
    cleared = replace(pending, number=None, number_place=-1)
    ranking = Ranking(word, places[0], measure, count)
    step = sketch.advance(used, SELLING_COST, pending=cleared, ranking=ranking)
    yield step.with_note(f"The {cue.argument} {following} is told by the total of `{revenues[0].column.name}`.")


_PRICES = ("price", "fare", "cost", "fee", "amount")
"""Names of columns that are zero for what is free."""
_DELAYS = ("delay", "lateness")
_STATES_OF_ZERO: dict[str, tuple[tuple[str, ...], build.ComparisonSign]] = {
    "paid": (_PRICES, ">"),
    **dict.fromkeys(("late", "delayed"), (_DELAYS, ">")),
    "punctual": (_DELAYS, "<="),
}
"""Words that say of a number that it is zero or not, with the names of such numbers: `late` of a `delay`."""
FREE_COST = 0.05
"""Cost of a condition on a price that only `free` or `paid` tells."""


def free_steps(sketch: Sketch, cue: Cue, places: Places, reading: QuestionReading) -> Iterator[Sketch]:
    """`free` as a price of zero, and `paid` as one above, where some rows have no more than zero."""
    names, sign = _STATES_OF_ZERO.get(cue.argument, (_PRICES, "="))
    reference = find_measure(reading.copy(), names, cue.argument)
    low = reference.column.low if reference else None
    if reference is None or not isinstance(low, int | float):
        return
    if flag_values(reference.column) is not None:
        return  # a yes or no is no amount
    # Where no row is free, `free` means something else; a price below zero is no price.
    if low > 0 or (low < 0 and names is _PRICES):
        return
    expression = build.compare(sign, reference.expression, build.literal(0))
    if sketch.pending.is_negated:
        expression = build.negate(expression)
    condition = Condition(expression, reference, place=places[0])
    pending = replace(sketch.pending, is_negated=False)
    conditions = (*sketch.conditions, condition)
    step = sketch.advance(places, FREE_COST, conditions=conditions, pending=pending, last="value")
    yield step.with_note(f"`{cue.argument}` is read by `{reference.column.name}`.")
