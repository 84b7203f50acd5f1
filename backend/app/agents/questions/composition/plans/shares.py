"""Shares: of rows that meet a condition, of each group, and of the total of a measure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.plans.measure_figures import UNUSED_COST, figures_of, take_order
from app.agents.questions.composition.sketch import Mention, Sketch
from app.agents.questions.figures import SHARE_WORDS, key_of_things
from app.agents.questions.frames.group_figures import finish_groups, plan_figures
from app.agents.questions.frames.shares import group_shares, share_of_total
from app.agents.questions.grouping import group_compared
from app.agents.questions.matching.column_matching import STEM, name_parts, word_strength
from app.agents.questions.question_reading import (
    Condition,
    QuestionReading,
    Value,
    is_measurable,
    make_value,
)
from app.agents.questions.rows_plan import Figure, PlanDraft, compare_with_statistic, start_plan
from app.agents.questions.tables.scope import Reference
from app.agents.questions.unexplained_words import is_action
from app.plans import build
from app.plans.expressions import Expression
from app.plans.plan import Plan

OPEN_PARTS_COST = 0.35
"""Cost of a share of two conditions of which neither is said to be the rest's."""
RATE_COST = 0.1
"""Cost of a rate of the rows that meet a condition behind it, which may be one of two that are compared."""
WHOLE_COST = 0.2
"""Cost of the whole that a rate is taken of without being named."""
_WHOLES = word_set(
    """
    capacity impressions attempts total population units produced visits sessions enrolled seats portions
    entries applicants requests sent shots
    """
)
"""Words of numbers of which another one is a part."""
_OWNERS = frozenset({"of", "for", "in", "from"})
_PRONOUNS = frozenset({"that", "which", "who"})
_COPULAS = frozenset({"is", "are", "was", "were", "be", "been"})
"""Words between the whole and its part: `what share of the fractures were in Harbour`."""


def plan_shares(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`share of women who survived`, `survival rate by sex`, `percentage of sales from each region`."""
    if "share" not in sketch.flags or sketch.flags & {"change", "cumulative"} or sketch.bounds:
        return
    # The mean of a share needs groups to average over, which this plan does not make.
    averages = sketch.pending.functions and sketch.pending.functions != ("sum",) and not sketch.measures
    if sketch.ranking or sketch.absent or averages:
        return
    is_set_against = "others" in sketch.flags or any(c.is_compared for c in reading.conditions)
    if "compared" in sketch.flags and not is_set_against:
        return
    is_beyond = bool(reading.means) and not reading.conditions and "rate" not in sketch.flags
    if is_beyond and not sketch.measures and not sketch.displayed:
        yield _share_beyond_statistic(sketch, reading), 0.0
        return
    odd = [m for m in sketch.measures if m.functions and m.functions != ("sum",)]
    cost = UNUSED_COST * (len(odd) + len(sketch.displayed))
    values = [measure.value for measure in sketch.measures if measure.value]
    if len(values) == 2 and values[0] == values[1]:
        yield from _share_of_measure(sketch, reading, values[0], cost)
    elif len(values) == 2 and not sketch.heads:
        yield _part_of_whole(sketch, reading), cost + PART_COST
    elif len(values) == 1:
        group_compared(reading)
        yield from _share_of_measure(sketch, reading, values[0], cost)
    elif not values:
        group_compared(reading)
        yield from _share_of_groups(sketch, reading, cost)


PART_COST = 0.1
"""Cost of a share of two measures, of which the words say only by their order which one is the whole."""


def _share_beyond_statistic(sketch: Sketch, reading: QuestionReading) -> Plan:
    """`share of visits with a wait above the median`: of all rows, with which the statistic is computed."""
    bounds, reading.means = reading.means, []
    measures = [make_value(bound.reference) for bound in bounds]
    draft = start_plan(reading, measures, sketch.rows[0].table if sketch.rows else None)
    draft.present([Figure("mean", measure) for measure in measures])
    tested = build.every([compare_with_statistic(draft, bound) for bound in bounds])
    figures = [Figure("share_true", Value(tested, "condition met", "boolean"), label="share")]
    figures.append(Figure("count", label="rows"))
    if reading.keys:
        finish_groups(draft, reading.keys, figures, take_order(sketch))
    else:
        draft.group([], figures)
    return draft.plan()


def _part_of_whole(sketch: Sketch, reading: QuestionReading) -> Plan:
    """`tips as a percentage of fares`, `what share of the calories comes from fat`."""
    first, second = sketch.measures
    # `tips as a percentage of fares`: the word of the share stands between the part and its whole.
    if first.place < sketch.share_place < second.place:
        part, total = first, second
    else:
        part, total = second, first
    part = _in_unit_of_whole(part, total, reading)
    figure = figures_of(sketch, replace(part, functions=(), divisor=replace(total, functions=())))[0]
    return plan_figures(reading, [replace(figure, label="share")], take_order(sketch))


def _in_unit_of_whole(part: Mention, total: Mention, reading: QuestionReading) -> Mention:
    """The part as the only column that both nouns name: of calories from fat `cal_fat`, not `total_fat`."""
    own, total_reference = (m.value.reference if m.value else None for m in (part, total))
    if own is None or total_reference is None or own.table != total_reference.table:
        return part
    both = [
        column
        for column in reading.scope.stored_columns(own.table)
        if is_measurable(column)
        and column not in (own.column, total_reference.column)
        and _is_named(column, part.item.word)
        and any(_is_named(column, name) for name in name_parts(total_reference.column.name))
    ]
    if len(both) != 1 or any(_is_named(own.column, name) for name in name_parts(total_reference.column.name)):
        return part
    reading.note(
        f"`{both[0].name}` is taken for {part.item.text!r}, as a part of `{total_reference.column.name}`."
    )
    return replace(part, value=make_value(Reference(own.table, both[0])))


MIN_ABBREVIATION_LETTERS = 3
"""Letters of a name that begins a word: `cal` of `calories`."""


def _is_named(column: Column, word: str) -> bool:
    """Tell if a part of the name of a column means a word, or begins it."""
    parts = name_parts(column.name)
    return any(
        word_strength(word, part) >= STEM or (len(part) >= MIN_ABBREVIATION_LETTERS and word.startswith(part))
        for part in parts
    )


def _share_of_measure(
    sketch: Sketch, reading: QuestionReading, value: Value, cost: float
) -> Iterator[tuple[Plan, float]]:
    if "rate" in sketch.flags:
        yield from _rate_of_whole(sketch, reading, value, cost)
    elif reading.keys or reading.conditions:
        yield share_of_total(reading, value), cost


def _share_of_groups(sketch: Sketch, reading: QuestionReading, cost: float) -> Iterator[tuple[Plan, float]]:
    """The share of rows that meet a condition, or of each group in all rows."""
    if sketch.heads and sketch.heads[0].value and not reading.conditions:
        reading.keys.append(sketch.heads[0].value)
    if any(not c.is_compared for c in reading.conditions):
        yield from _share_of_rows(sketch, reading, cost)
    elif reading.keys and "rate" not in sketch.flags:
        yield group_shares(reading), cost


def _rate_of_whole(
    sketch: Sketch, reading: QuestionReading, part: Value, cost: float
) -> Iterator[tuple[Plan, float]]:
    """`click rate by channel`: a number in the only one that it can be a part of."""
    total = _whole_of(part, reading)
    if total is None:
        return
    reading.note(f"The total of `{part.label}` by that of `{total.label}` is taken for the rate.")
    figure = Figure("mean", label=f"{part.label} rate", parts=(Figure("sum", part), Figure("sum", total)))
    yield plan_figures(reading, [figure], take_order(sketch)), cost + WHOLE_COST


def _whole_of(part: Value, reading: QuestionReading) -> Value | None:
    """The only number of the same table that a number is a part of: of `clicks` the `impressions`."""
    if part.reference is None:
        return None
    wholes = [
        Reference(part.reference.table, column)
        for column in reading.scope.stored_columns(part.reference.table)
        if column != part.reference.column
        and column.type == "integer"
        and is_measurable(column)
        and _WHOLES & set(words(column.name))
        # What a number is a part of cannot stay below it.
        and not is_below(column, part.reference.column)
    ]
    return make_value(wholes[0]) if len(wholes) == 1 else None


def is_below(column: Column, other: Column) -> bool:
    """Tell if the highest value of a column is below that of another one."""
    return (
        isinstance(column.high, int | float)
        and isinstance(other.high, int | float)
        and column.high < other.high
    )


def _share_of_rows(sketch: Sketch, reading: QuestionReading, cost: float) -> Iterator[tuple[Plan, float]]:
    conditions = sorted((c for c in reading.conditions if not c.is_compared), key=lambda c: c.place)
    for part, extra in _parts(sketch, reading, conditions):
        # Each way to split the conditions starts from all of them.
        trial = reading.copy()
        trial.conditions = [c for c in reading.conditions if c not in part]
        yield _plan_share(sketch, trial, part), cost + extra


def _parts(
    sketch: Sketch, reading: QuestionReading, conditions: Sequence[Condition]
) -> Iterator[tuple[list[Condition], float]]:
    """Conditions whose share is asked for, among the rows that meet the others."""
    if len(conditions) == 1:
        yield [*conditions], 0.0
        return
    if sketch.among_place >= 0:
        before = [c for c in conditions if c.place < sketch.among_place]
        if before and len(before) < len(conditions):
            yield before, 0.0
            return
    # A date restricts the rows and is seldom the part: `share of late orders in May`.
    values = [c for c in conditions if not c.is_date]
    if len(values) == 1:
        yield values, 0.0
        return
    before = [c for c in values if c.place < sketch.share_place]
    if before and "rate" in sketch.flags:
        yield before, RATE_COST  # `survival rate of women`
        return
    following = [c for c in values if c.place > sketch.share_place]
    if len(following) >= 2 and len(following) == len(values):
        if _is_said_of_rows(sketch, reading, following[0]):
            yield following, 0.0  # `what share of visits were by women over 50`
            return
        yield _part_of_values(reading, following)
    elif before:
        yield following or before[-1:], OPEN_PARTS_COST


def _is_said_of_rows(sketch: Sketch, reading: QuestionReading, first: Condition) -> bool:
    """Tell if a share is one of all rows, of which a verb behind their noun says the conditions."""
    items = reading.text.items
    rows = [place for place in range(sketch.share_place + 1, first.place) if items[place].row_tables]
    behind = [item.text for item in items[rows[-1] + 1 : first.place]] if rows else []
    return next((text for text in behind if text not in _PRONOUNS), "") in _COPULAS


def _part_of_values(reading: QuestionReading, following: Sequence[Condition]) -> tuple[list[Condition], float]:
    """The part among conditions behind the word of a share, and its cost.

    `share of women who survived`, `what share of women survived`: the first noun is the whole. Of three or more
    the last one is the part.
    """
    if len(following) > 2:
        return [following[-1]], 0.0
    texts = [item.text for item in reading.text.items[following[0].place + 1 : following[1].place]]
    # A verb between makes the second noun the part; `share of women in first class` may be of either.
    if not _OWNERS & set(texts) or _COPULAS & set(texts) or any(map(is_action, texts)):
        return [following[1]], 0.0
    return [following[0]], OPEN_PARTS_COST if "in" in texts else 0.1


def _key_of_things(sketch: Sketch, reading: QuestionReading) -> Reference | None:
    """The column that tells the things apart of which a share is taken, where several rows are about one."""
    for mention in sketch.rows:
        if mention.is_rows and (key := key_of_things(reading, mention.item)):
            return key
    items = reading.text.items
    place = sketch.share_place + 1
    while place < len(items) and items[place].text in SHARE_WORDS:
        place += 1
    return key_of_things(reading, items[place]) if place < len(items) else None


def _plan_share_of_things(
    draft: PlanDraft, sketch: Sketch, reading: QuestionReading, key: Reference, tested: Expression
) -> Plan:
    """The share of things of which some row meets a condition: an order of several lines counts once."""
    part = Figure("count_distinct", make_value(key), where=tested, label=f"{key.column.name} that meet it")
    total = Figure("count_distinct", make_value(key), label=f"distinct values of {key.column.name}")
    figures = [Figure("mean", label="share", parts=(part, total)), part, total]
    reading.note(f"Each `{key.column.name}` is counted once.")
    if reading.keys:
        finish_groups(draft, reading.keys, figures, take_order(sketch))
    else:
        draft.group([], figures)
        draft.select([figure.name for figure in figures])
    return draft.plan()


def _plan_share(sketch: Sketch, reading: QuestionReading, part: Sequence[Condition]) -> Plan:
    tested = build.every([c.expression for c in part])
    # Rows without a value are neither part nor rest: as false they would lower the share.
    presence = [
        build.is_present(c.column.expression)
        for c in part
        if c.column and c.column.column.missing > 0 and "is_null" not in c.expression.model_dump_json()
    ]
    figure = Figure("share_true", Value(tested, "condition met", "boolean"), label="share")
    base = sketch.rows[0].table if sketch.rows else None
    draft = start_plan(reading, [Value(tested, "", "boolean")], base)
    for condition in presence:
        draft.keep(condition)
    key = _key_of_things(sketch, reading)
    if key is not None and key.table == draft.source.base and key not in [c.column for c in part]:
        return _plan_share_of_things(draft, sketch, reading, key, tested)
    if reading.keys:
        count = Figure("count", label="rows")
        figures = [figure] if "rate" in sketch.flags else [figure, count]
        finish_groups(draft, reading.keys, figures, take_order(sketch))
    else:
        count = Figure("count", Value(tested, "met", "boolean"), where=tested, label="rows that meet it")
        draft.group([], [figure, count])
    return draft.plan()
